/** `gateway validate`: every problem of a config, one line each. Opens nothing, resolves no secret. */
import type { ConfigProblem } from "@gateway/control/config/check/report.ts";
import { textOf } from "@gateway/control/config/check/report.ts";
import { handFreedMembers } from "@gateway/control/config/check/rules.ts";
import { checkConfig, loadFile } from "../config/load.ts";
import { leasesSlots } from "../config/rules.ts";
import type { RootConfig } from "../config/schema.ts";
import { printProblems } from "./configFile.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function validateCommand(
  files: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const valid = files.map((file) => isValid(file, terminal));
  return valid.includes(false) ? exitCode.config : exitCode.clean;
}

function isValid(file: string, terminal: Terminal): boolean {
  const loaded = loadFile(file);
  if (!loaded.ok) {
    printProblems(loaded.error, terminal);
    return false;
  }
  const { document, placed } = loaded.value;
  const config = checkConfig(document);
  if (config.ok) terminal.out(`${file}: valid\n`);
  printProblems(placed(config.ok ? warningsOf(config.value) : config.error), terminal);
  return config.ok;
}

function warningsOf(config: RootConfig): readonly ConfigProblem[] {
  if (!leasesSlots(config.gateway)) return [];
  return handFreedMembers(config).map(({ path, reason }) => ({
    path: textOf(path),
    reason: `warning: ${reason}`,
  }));
}
