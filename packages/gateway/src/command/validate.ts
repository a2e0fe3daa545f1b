/** `gateway validate`: every problem of a config, one line each. Opens nothing, resolves no secret. */
import { loadConfig } from "../config/load.ts";
import { lineOf, textOf } from "@gateway/control/config/report.ts";
import { handFreedMembers } from "@gateway/control/config/rules.ts";
import { leasesSlots } from "../config/rules.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function validateCommand(file: string, terminal: Terminal): Promise<number> {
  const loaded = loadConfig(file);
  if (loaded.ok) {
    terminal.out(`${file}: valid\n`);
    if (!leasesSlots(loaded.value.gateway)) return exitCode.clean;
    for (const { path, reason } of handFreedMembers(loaded.value)) {
      terminal.err(`warning: ${lineOf({ path: textOf(path), reason })}\n`);
    }
    return exitCode.clean;
  }
  for (const problem of loaded.error) terminal.err(`${lineOf(problem)}\n`);
  return exitCode.config;
}
