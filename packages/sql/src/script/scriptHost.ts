/**
 * Scripts of the process, on the main thread's side: opens them in the thread, gives it calls in turns of users, and ends
 * it when it says nothing any more.
 *
 * It has no WebAssembly itself, and starts its thread with the first script that is opened.
 */
import type { ScriptConfig, ScriptUse } from "@gateway/contract/config/script.ts";
import { scriptAnswer, scriptAnswerText, type ScriptAnswers } from "@gateway/contract/script.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type {
  ScriptCall,
  ScriptFailure,
  ScriptFault,
  Scripts,
  ScriptSandboxes,
} from "@gateway/core/script/scripts.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { CutCalls } from "./cuts.ts";
import { waitingMax, waitMsMax } from "./limits.ts";
import { ScriptThread, type ThreadCall } from "./threadCalls.ts";

type ScriptMap = Readonly<Record<string, ScriptConfig>>;

/** Opens scripts for generations, and for whoever tries one. They share one thread, which ends with the last of them. */
export class ScriptHost implements ScriptSandboxes {
  readonly #host: Pick<Host, "threads" | "clock">;
  readonly #cuts = new CutCalls();
  #thread: ScriptThread | undefined;
  #scripts = 0;

  constructor(host: Pick<Host, "threads" | "clock">) {
    this.#host = host;
  }

  async open(scripts: ScriptMap): Promise<Result<Scripts, readonly ScriptFault[]>> {
    const thread = (this.#thread ??= new ScriptThread(this.#host));
    const opened = new Map<string, number>();
    const close = async (): Promise<void> => {
      for (const script of opened.values()) thread.close(script);
      opened.clear();
      if (thread.size > 0) return;
      if (this.#thread === thread) this.#thread = undefined;
      await thread[Symbol.asyncDispose]();
    };
    const faults: ScriptFault[] = [];
    const opening = Object.entries(scripts).map(async ([name, { use, source }]) => {
      const script = (this.#scripts += 1);
      opened.set(name, script);
      const failure = await thread.open(script, use, source);
      if (failure !== undefined) faults.push({ name, reason: reasonOf(failure), ...failure });
    });
    await Promise.all(opening);
    if (faults.length > 0) {
      await close();
      return err(faults);
    }
    return ok({
      ask: (use, name, call) => this.#ask(thread, { use, script: opened.get(name) }, call),
      [Symbol.asyncDispose]: close,
    });
  }

  async #ask<Use extends ScriptUse>(
    thread: ScriptThread,
    { use, script }: { readonly use: Use; readonly script: number | undefined },
    { query, beside }: ScriptCall,
  ): Promise<Result<ScriptAnswers[Use], ScriptFailure>> {
    if (script === undefined) return err({ code: "lost", detail: "the script is closed" });
    const { clock } = this.#host;
    const { user } = query;
    if (this.#cuts.paused(script, user, clock.nowMs())) {
      return err({ code: "busy", detail: "the script was cut again and again for this user" });
    }
    if (thread.waiting >= waitingMax) {
      return err({ code: "busy", detail: `${waitingMax} calls wait` });
    }
    const args = JSON.stringify(beside === undefined ? [query] : [query, beside]);
    const answer = await new Promise<Result<string, ScriptFailure>>((resolve) => {
      const call: ThreadCall = { script, args, user, resolve, untilMs: clock.nowMs() + waitMsMax };
      thread.call(call);
    });
    const cut = !answer.ok && (answer.error.code === "time" || answer.error.code === "memory");
    this.#cuts.ended(script, user, cut, clock.nowMs());
    return answer.ok ? readAnswer(use, answer.value) : answer;
  }
}

function readAnswer<Use extends ScriptUse>(
  use: Use,
  json: string,
): Result<ScriptAnswers[Use], ScriptFailure> {
  const answer = scriptAnswer(use, JSON.parse(json));
  if (answer !== undefined) return ok(answer.value);
  return err({ code: "answer", detail: `it has to answer ${scriptAnswerText(use)}` });
}

function reasonOf({ detail, line }: ScriptFailure): string {
  return line === undefined ? detail : `line ${line}: ${detail}`;
}
