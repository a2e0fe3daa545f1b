/**
 * The deploy step as a function: brings the database up to the program, once per set of migrations,
 * before the new control plane is deployed. It serves nothing.
 *
 * It speaks PostgreSQL's own protocol, also to Neon: a migration needs long transactions on one
 * connection.
 */
import { randomBytes } from "node:crypto";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { readMigrations } from "@gateway/control/store/migrate/migration.ts";
import { functionClock } from "../lambda/host.ts";
import { lineLog } from "../lambda/log.ts";
import { migrateForDeployment, type Deployed } from "../lambda/migration.ts";
import { readDatabaseUrl } from "../lambda/settings.ts";
import { surroundings } from "./linked.ts";

/** Waiting for another deployment and building an index take their time. */
const statementMs = 14 * 60_000;

/** Answers the version that the database has now. Throws when it could not be brought there: the deployment then ends. */
export async function handler(): Promise<Deployed> {
  const log = lineLog("info", (line) => void process.stdout.write(`${line}\n`));
  const url = readDatabaseUrl(surroundings);
  if (!url.ok) throw new Error(`${url.error} is missing or wrong`);
  const files = await readMigrations(new URL("migrations/", import.meta.url));
  if (!files.ok) throw new Error(`no migrations beside the code: ${files.error.code}`);
  const host = {
    clock: functionClock,
    log,
    random: () => randomBytes(4).readUInt32LE() / 2 ** 32,
    randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
  };
  await using database = openPostgres({
    url: url.value,
    connectionsMax: 2,
    host,
    statementMs,
  });
  const store = drizzleStore(database, { clock: functionClock });
  // Awaited here, because the connections end with this block.
  return await migrateForDeployment({ database, users: store.users, files: files.value, host });
}
