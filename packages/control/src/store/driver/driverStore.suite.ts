/** The contract of the store on a driver, with the tables made by our own runner. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { replicaOn, untilWaiting } from "../../worker/rig/replica.ts";
import { ok } from "@gateway/core/result.ts";
import type { Database, Statements } from "../database.ts";
import { drizzleStore } from "../drizzle.ts";
import { askedOf } from "../drizzle/asked.ts";
import { recordTables } from "../drizzle/records.ts";
import { dayMs } from "../drizzle/ingest.ts";
import { migrate } from "../migrate/migrate.ts";
import { readMigrations } from "../migrate/migration.ts";
import { storeSuite } from "../store.suite.ts";
import { emptyTables } from "../rig/database.ts";
import { answered, incomingOf, recordOf, startMs } from "../rig/samples.ts";
import { hostOf } from "./driver.suite.ts";

const migrations = new URL("../../../../../migrations/", import.meta.url);
const startMsMax = 60_000;

/** Opens one empty database for all guarantees; each finds its tables empty. */
export function driverStoreSuite(name: string, open: () => Promise<Database>): void {
  let database: Database | undefined;

  beforeAll(async () => {
    database = await open();
    const files = await readMigrations(migrations);
    if (!files.ok) throw new Error(JSON.stringify(files.error));
    const migrated = await migrate(database, files.value);
    if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
  }, startMsMax);

  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
  });

  storeSuite(name, async () => {
    if (database === undefined) throw new Error("no database was opened");
    await emptyTables(database);
    const store = drizzleStore(keptOpen(database), { clock: systemClock });
    return { store, close: async () => store[Symbol.asyncDispose]() };
  });

  const emptied = async (): Promise<Database> => {
    if (database === undefined) throw new Error("no database was opened");
    await emptyTables(database);
    return keptOpen(database);
  };
  replicasSuite(name, emptied);
  lateRecordSuite(name, emptied);
}

function lateRecordSuite(name: string, open: () => Promise<Database>): void {
  describe(`${name}: a record of days before the oldest`, () => {
    it("keeps the text that it shares, although it comes while texts are deleted", async () => {
      const database = await open();
      const { records } = drizzleStore(database, { clock: systemClock });
      // One that stays, and two whose text is left when they are gone.
      const old = ["a", "b", "c"].map((id) => incomingOf(recordOf(id)));
      const kept = incomingOf(recordOf("kept", { createdAt: startMs + 10 * dayMs }));
      await answered(records.ingest([...old, kept], startMs));
      await answered(records.retain({ before: startMs + dayMs, keep: 10, chunk: 3 }));
      expect(await textsIn(database)).toBe("1");

      let swept: Promise<unknown> | undefined;
      const late = ["d", "e", "f"].map((id) => incomingOf(recordOf(id)));
      await database.transaction(async (statements) => {
        const one = recordTables(askedOf({ ...database, ...statements }));
        await answered(one.ingest(late, startMs));
        const sweep = { ended: false };
        swept = records.retain({ before: 0, keep: 10, chunk: 3 }).then(() => (sweep.ended = true));
        // PGlite's one connection is ours: there the sweep waits for its turn.
        if (database.kind !== "pglite") await untilWaitsOrEnded(sweep, statements);
        return ok(undefined);
      });
      await swept;
      for (const { record } of late) {
        expect(await answered(records.get(record.proxyQueryId))).toEqual(record);
      }
    });
  });
}

async function textsIn(database: Database): Promise<unknown> {
  const answer = await database.run("select count(*) from query_record_texts");
  return answer.ok && answer.value.rows[0]?.[0];
}

/** The sweep waits for a lock on the texts, or did not have to. */
async function untilWaitsOrEnded(
  sweep: { readonly ended: boolean },
  statements: Statements,
): Promise<void> {
  for (let waiting = false; !waiting && !sweep.ended;) {
    const answer = await statements.run(
      "select 1 from pg_locks where relation = 'query_record_texts'::regclass and not granted",
    );
    waiting = answer.ok && answer.value.rows.length > 0;
  }
}

/** Each holds calls of its own, and learns from the database alone what the other does. */
function replicasSuite(name: string, open: () => Promise<Database>): void {
  describe(`${name}: two control planes on one database`, () => {
    it("answer a call that is held at one when a slot is freed at the other", async () => {
      const [database, host] = [await open(), hostOf()];
      using one = replicaOn(database, host);
      using other = replicaOn(database, host);
      let held = await other.acquire();
      // The first call of a process begins to listen, each further one finds it listening.
      for (const queryId of ["q1", "q2"]) {
        const waits = one.acquire(queryId);
        await untilWaiting(other);
        await other.release(held);
        held = await waits;
        expect(held.granted).toHaveLength(1);
      }
      await one.release(held);
    });
  });
}

/** The same database for a store that closes what it was given. */
function keptOpen(database: Database): Database {
  const listens = database.listen !== undefined;
  const listen: Database["listen"] = (channel, wake) =>
    database.listen?.(channel, wake) ?? { [Symbol.asyncDispose]: () => Promise.resolve() };
  return {
    kind: database.kind,
    run: (sql, parameters) => database.run(sql, parameters),
    script: (sql) => database.script(sql),
    transaction: (work) => database.transaction(work),
    ...(listens ? { listen } : {}),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
