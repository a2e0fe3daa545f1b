/** What every command on a database begins and ends with: the config, the access, and giving it back. */
import { openHostAccess, type HostAccess } from "../control/hostAccess.ts";
import { printProblems, readConfig, type ReadConfig } from "./configFile.ts";
import { exitCode, type Terminal } from "./terminal.ts";

/** Runs `work` with the database behind `file`; says why it can not be had otherwise. */
export async function withHostAccess(
  file: string,
  terminal: Terminal,
  work: (access: HostAccess, read: ReadConfig) => Promise<number>,
): Promise<number> {
  const read = readConfig(file, terminal);
  if (!read.ok) {
    printProblems(read.error, terminal);
    return exitCode.config;
  }
  const opened = await openHostAccess(read.value, terminal);
  if (!opened.ok) {
    terminal.err(`${opened.error}\n`);
    return exitCode.startFailed;
  }
  await using access = opened.value;
  return await work(access, read.value);
}
