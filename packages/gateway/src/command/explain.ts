/** `gateway explain QUERY_ID`: why a query went where it went, from its record. */
import { openHostAccess } from "../control/hostAccess.ts";
import { explainText } from "../history/explainText.ts";
import { printProblems, readConfig } from "./configFile.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function explainCommand(
  queryId: string,
  file: string,
  terminal: Terminal,
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
  const record = await access.store.records.get(queryId);
  if (!record.ok) {
    terminal.err(`the database is not available (${record.error.detail})\n`);
    return exitCode.startFailed;
  }
  if (record.value === undefined) {
    terminal.err(`there is no record of ${queryId}: it still runs, is too old, or never was\n`);
    return exitCode.config;
  }
  terminal.out(explainText(record.value));
  return exitCode.clean;
}
