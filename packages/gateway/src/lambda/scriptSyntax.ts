/**
 * Scripts in a function: only whether their text is JavaScript. The sandbox is not loaded here; workers compile in theirs
 * before they activate, and refuse a source that lacks its function.
 */
import { Script } from "node:vm";
import type { ScriptSandboxes } from "@gateway/core/script/scripts.ts";
import { err, ok } from "@gateway/core/result.ts";

const file = "script";

export const syntaxOnly: ScriptSandboxes = {
  open: async (scripts) => {
    const faults = Object.entries(scripts).flatMap(([name, { source }]) => {
      const reason = faultOf(source);
      return reason === undefined ? [] : [{ name, reason, detail: reason }];
    });
    if (faults.length > 0) return err(faults);
    return ok({
      ask: () => Promise.resolve(err({ code: "lost", detail: "scripts do not run in a function" })),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  },
};

/** The text is compiled and never run. */
function faultOf(source: string): string | undefined {
  try {
    void new Script(`(() => { "use strict"; ${source}\n; })`, { filename: file });
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const [, line] = /^script:(\d+)/.exec(error.stack ?? "") ?? [];
    return line === undefined ? error.message : `line ${line}: ${error.message}`;
  }
}
