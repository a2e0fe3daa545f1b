/** Two control planes on one PostgreSQL: what one frees is told to the other's callers, also over a connection that is cut and comes back. */
import { beforeAll, describe, expect, it } from "vitest";
import { hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { migrate } from "@gateway/control/store/migrate/migrate.ts";
import { readMigrations } from "@gateway/control/store/migrate/migration.ts";
import { replicaOn, untilWaiting } from "@gateway/control/worker/rig/replica.ts";
import { Secret } from "@gateway/core/secret.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const migrations = new URL("../../migrations/", import.meta.url);
const host = hostOf();
/** Every connection that listens to leases; what it was told of last stands in the list of sessions. */
const listening = `select pid from pg_stat_activity
  where datname = current_database() and query ilike 'listen%capacity_given%'`;
const cut = `select pg_terminate_backend(pid) from (${listening}) as those`;

describe("two control planes on one PostgreSQL", () => {
  let url: URL;

  beforeAll(async () => {
    url = await emptyDatabase("replicas_test");
    await using database = opened(url);
    const files = await readMigrations(migrations);
    if (!files.ok) throw new Error(files.error.code);
    const migrated = await migrate(database, files.value);
    if (!migrated.ok) throw new Error(migrated.error.code);
  });

  it("answer a held call for what the other freed while the connection that tells was cut, and after it", async () => {
    await using mine = opened(url);
    await using others = opened(url);
    using one = replicaOn(mine, host);
    using other = replicaOn(others, host);
    const held = await other.acquire();

    const first = one.acquire("q1");
    await untilWaiting(other);
    await until(others, listening);
    await others.run(cut);
    // Nobody listens at this moment: the new connection makes up for what was notified before it.
    await other.release(held);
    const answer = await first;
    expect(answer.granted).toHaveLength(1);

    const second = one.acquire("q2");
    await untilWaiting(other);
    await until(others, listening);
    await other.release(answer);
    expect((await second).granted).toHaveLength(1);
  });
});

/** Asks until there is a row. */
async function until(database: Database, question: string): Promise<void> {
  for (;;) {
    const found = await database.run(question);
    if (found.ok && found.value.rows.length > 0) return;
  }
}

function opened(url: URL): Database {
  return openPostgres({ url: new Secret(url.href), connectionsMax: 4, host });
}
