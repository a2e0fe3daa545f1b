/** `gateway explain QUERY_ID`: why a query went where it went, from its record. */
import { explainText } from "../history/explainText.ts";
import { exitCode, type Terminal } from "./terminal.ts";
import { withHostAccess } from "./withHostAccess.ts";

export function explainCommand(queryId: string, file: string, terminal: Terminal): Promise<number> {
  return withHostAccess(file, terminal, async ({ store }) => {
    const record = await store.records.get(queryId);
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
  });
}
