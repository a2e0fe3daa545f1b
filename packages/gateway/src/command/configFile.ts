/** How every command that needs a config gets it: read, checked, secrets in place, checked again. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { checkConfig, loadFile } from "../config/load.ts";
import { lineOf, type ConfigProblem } from "@gateway/control/config/check/report.ts";
import type { RootConfig } from "../config/schema.ts";
import { resolveSecrets } from "../config/secrets.ts";
import type { Terminal } from "./terminal.ts";

export interface ReadConfig {
  /** As parsed, secrets resolved. */
  readonly config: RootConfig;
  /** As written: references are references, and no default is filled in. */
  readonly document: unknown;
}

/** The config of a file, or every problem it has. */
export function readConfig(
  file: string,
  { environment }: Pick<Terminal, "environment">,
): Result<ReadConfig, readonly ConfigProblem[]> {
  const loaded = loadFile(file);
  if (!loaded.ok) return loaded;
  const { document, placed } = loaded.value;
  // Checked before and after the secrets are in place: the first finds what `validate` finds.
  const written = checkConfig(document);
  if (!written.ok) return err(placed(written.error));
  const resolved = resolveSecrets(document, environment);
  if (!resolved.ok) return err(placed(resolved.error));
  const config = checkConfig(resolved.value);
  return config.ok ? ok({ config: config.value, document }) : err(placed(config.error));
}

/** Prints each problem on its own line. */
export function printProblems(problems: readonly ConfigProblem[], terminal: Terminal): void {
  for (const problem of problems) terminal.err(`${lineOf(problem)}\n`);
}
