/** `gateway migrate`: brings the database up to this program and says what it did. */
import { reachDatabase } from "../control/openStore.ts";
import { migrateDatabase } from "../control/migrations.ts";
import { nodeHost } from "../host/node.ts";
import { printProblems, readConfig } from "./configFile.ts";
import { exitCode, type Terminal } from "./terminal.ts";

export async function migrateCommand(file: string, terminal: Terminal): Promise<number> {
  const read = readConfig(file, terminal);
  if (!read.ok) {
    printProblems(read.error, terminal);
    return exitCode.config;
  }
  const { persistence } = read.value.config.gateway;
  if (persistence.type === "inMemory") {
    terminal.err("gateway.persistence.type: inMemory has no database to migrate\n");
    return exitCode.config;
  }
  const opened = await reachDatabase(persistence, nodeHost(terminal.bundle, "warn"));
  if (!opened.ok) {
    terminal.err(`gateway.persistence: ${opened.error}\n`);
    return exitCode.startFailed;
  }
  await using database = opened.value;
  const migrated = await migrateDatabase(database, terminal.bundle);
  if (!migrated.ok) {
    terminal.err(`gateway.persistence: ${migrated.error}\n`);
    return exitCode.startFailed;
  }
  for (const name of migrated.value) terminal.out(`applied ${name}\n`);
  if (migrated.value.length === 0) terminal.out("The database is up to date.\n");
  return exitCode.clean;
}
