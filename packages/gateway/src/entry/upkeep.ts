/** The control plane's upkeep as a function: one call is one sweep. It serves nothing. */
import { randomBytes } from "node:crypto";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { readMigrations } from "@gateway/control/store/migrate/migration.ts";
import { functionClock } from "../lambda/host.ts";
import { lineLog } from "../lambda/log.ts";
import { readDatabaseUrl } from "../lambda/settings.ts";
import { keepUp, readRetention } from "../lambda/upkeep.ts";
import { surroundings } from "./linked.ts";

/** Less than the platform lets a call take (infra/control.ts): what is left waits for the next one. */
const sweepMs = 9 * 60_000;

/** Throws when a setting is missing, the database is another version's, or rows were not deleted. */
export async function handler(): Promise<void> {
  const log = lineLog("info", (line) => void process.stdout.write(`${line}\n`));
  const url = readDatabaseUrl(surroundings);
  if (!url.ok) throw new Error(`${url.error} is missing or wrong`);
  const retention = readRetention(surroundings);
  if (!retention.ok) throw new Error(`${retention.error} is wrong`);
  const files = await readMigrations(new URL("migrations/", import.meta.url));
  if (!files.ok) throw new Error(`no migrations beside the code: ${files.error.code}`);
  const host = {
    clock: functionClock,
    log,
    random: () => randomBytes(4).readUInt32LE() / 2 ** 32,
  };
  await using database = openPostgres({ url: url.value, connectionsMax: 1, host });
  const limit = new AbortController();
  using _timer = functionClock.timer(sweepMs, () => limit.abort());
  await keepUp({
    store: drizzleStore(database, { clock: functionClock }),
    database,
    files: files.value,
    retention: retention.value,
    host,
    signal: limit.signal,
  });
}
