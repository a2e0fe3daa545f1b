/** Compiles the scripts of what is to be written, so that a source that does not run never becomes a revision. */
import { scriptSchema, type ScriptConfig } from "@gateway/contract/config/script.ts";
import type { ScriptSandboxes } from "@gateway/core/script/scripts.ts";
import type { DocumentName } from "../../store/store.ts";
import type { ConfigFault } from "../configuration.ts";

/** The scripts of one object, or of a file where `object` is undefined. Whatever has another shape is the schema's to refuse. */
export function scriptsIn(
  object: DocumentName | undefined,
  body: unknown,
): Readonly<Record<string, ScriptConfig>> {
  if (object !== undefined) return object.kind === "script" ? readable([[object.name, body]]) : {};
  const scripts = isMap(body) ? body["scripts"] : undefined;
  return readable(isMap(scripts) ? Object.entries(scripts) : []);
}

/** A fault for each script that does not compile, with its line. */
export async function scriptFaults(
  sandboxes: ScriptSandboxes | undefined,
  scripts: Readonly<Record<string, ScriptConfig>>,
): Promise<readonly ConfigFault[]> {
  if (sandboxes === undefined || Object.keys(scripts).length === 0) return [];
  const opened = await sandboxes.open(scripts);
  if (!opened.ok) {
    return opened.error.map(({ name, reason }) => ({ path: `scripts.${name}.source`, reason }));
  }
  await opened.value[Symbol.asyncDispose]();
  return [];
}

function readable(
  entries: readonly (readonly [string, unknown])[],
): Readonly<Record<string, ScriptConfig>> {
  return Object.fromEntries(
    entries.flatMap(([name, body]) => {
      const parsed = scriptSchema.safeParse(body);
      return parsed.success ? [[name, parsed.data] as const] : [];
    }),
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
