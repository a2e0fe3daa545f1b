/** What only a store in a database can do, on PGlite. The contract of the port: driver/pgliteStore.slow.test.ts. */
import type { Revision } from "@gateway/contract/revision.ts";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { setImmediate as macrotask } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StatementResult, Database, DatabaseError } from "./database.ts";
import { drizzleStore } from "./drizzle.ts";
import { incomingRecord } from "./written.ts";
import { applyMigrations, asked, emptyTables, testDatabase } from "./rig/database.ts";
import type { TestDatabase } from "./rig/database.ts";
import {
  answered,
  changeOf,
  documentOf,
  firstPage,
  incomingOf,
  recordOf,
  revisionOf,
  startMs,
} from "./rig/samples.ts";

/** The first start of PGlite takes seconds, more on a busy machine. */
const testTimeoutMs = 60_000;

let shared: TestDatabase | undefined;
beforeAll(async () => {
  shared = await testDatabase();
}, testTimeoutMs);
afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
});

async function emptyDatabase(): Promise<Database> {
  if (shared === undefined) throw new Error("the database did not start");
  await emptyTables(shared.database);
  return shared.database;
}

describe("drizzleStore", { timeout: testTimeoutMs }, () => {
  it("answers the code of a refusal and nothing of what was asked", async () => {
    const database = await emptyDatabase();
    const refusal: DatabaseError = { kind: "unreachable", code: "ECONNREFUSED" };
    const store = drizzleStore({ ...database, ...refusing(refusal) }, { clock: systemClock });
    const gone = err({ code: "unavailable", detail: "ECONNREFUSED" });
    const { config, records, users, workers, audit } = store;
    const answers = [
      config.read(),
      config.commit(changeOf(undefined, { puts: [documentOf("secret")] })),
      config.sealedByOthers("k", 1),
      records.ingest([incomingOf(recordOf("q"))], startMs),
      records.list({ user: "secret" }, firstPage),
      users.get("secret"),
      users.session("secret", startMs, 1),
      workers.list(firstPage),
      audit.list({ by: "secret" }, firstPage),
    ];
    expect(await Promise.all(answers)).toEqual(answers.map(() => gone));
  });

  it("refuses a document that the database can not hold, and commits nothing of it", async () => {
    const store = drizzleStore(await emptyDatabase(), { clock: systemClock });
    const odd = changeOf(undefined, {
      puts: [documentOf("fine"), documentOf("odd", { body: "\u0000" })],
    });
    expect(await store.config.commit(odd)).toEqual(err({ code: "unavailable", detail: "22P05" }));
    expect(await answered(store.config.read())).toEqual({ head: undefined, documents: [] });
  });

  it("asks again for a record that somebody inserted behind its snapshot", async () => {
    const database = await emptyDatabase();
    await answered(ingested(database, ["q1", "q2"]));
    let hidden = 2;
    // As a statement sees it whose snapshot is older than the row: neither inserted nor there.
    const late: Database = {
      ...database,
      run: (sql, parameters) => {
        if (!sql.includes("others as")) return database.run(sql, parameters);
        hidden -= 1;
        return hidden < 0
          ? database.run(sql, parameters)
          : Promise.resolve(ok({ rows: [["0", "0", "[]", '["q1","q2"]']], count: 0 }));
      },
    };
    const verdict = { accepted: 0, duplicates: 2, conflicts: [] };
    expect(await answered(ingested(late, ["q1", "q2"]))).toEqual(verdict);

    hidden = 1_000;
    const contended = err({ code: "unavailable", detail: "contended" });
    expect(await ingested(late, ["q1", "q2"])).toEqual(contended);
  });

  it("tells listeners of a commit by a notification of the same statement", async () => {
    const database = await emptyDatabase();
    const store = drizzleStore(database, { clock: systemClock, checkMs: 3_600_000 });
    const heard: string[] = [];
    await using _listening = database.listen?.("gateway_config", () => {
      heard.push("commit");
    });
    // Listening begins at some moment after it was asked for; the first commit may come before it.
    let head: Revision | undefined;
    while (heard.length === 0) {
      const change = changeOf(head);
      expect(await answered(store.config.commit(change))).toBe("committed");
      head = change.next.revision;
      await macrotask();
    }
  });

  it("wakes watchers by looking where the driver can not listen", async () => {
    const silent = { ...(await emptyDatabase()) };
    delete silent.listen;
    const store = drizzleStore(silent, { clock: systemClock, pollMs: 5 });
    let wake = (): void => {};
    await using _watch = store.config.watch(() => wake());
    const woken = new Promise<Revision>((resolve) => {
      const look = async (): Promise<void> => {
        const head = await answered(store.config.head());
        if (head !== undefined) resolve(head);
      };
      wake = () => void look();
    });
    await answered(store.config.commit(changeOf(undefined)));
    expect(await woken).toEqual(revisionOf(1));
  });
});

describe("the indexes of query_records", { timeout: testTimeoutMs }, () => {
  it("give a page of each usual filter in order, sorting equal times at most", async () => {
    const database = await emptyDatabase();
    const store = drizzleStore(database, { clock: systemClock });
    for (let batch = 0; batch < 10; batch += 1) {
      const records = Array.from({ length: 100 }, (_, index) =>
        spreadRecordOf(batch * 100 + index),
      );
      await answered(store.records.ingest(records, startMs));
    }
    await asked(database, "analyze query_records");
    // So few rows are sorted faster than looked up; the question is what can be done with many.
    const ways = ["enable_seqscan", "enable_bitmapscan", "enable_sort"];
    for (const way of ways) await asked(database, `set ${way} = off`);
    const filters = {
      query_records_at: "true",
      query_records_user_at: "user_name = 'user7'",
      query_records_status_at: "status = 'denied'",
      query_records_cluster_group_at: "cluster_group = 'group7'",
      query_records_cluster_at: "cluster = 'cluster7'",
      query_records_frontend_at: "frontend = 'mysql'",
      query_records_error_code_at: "error_code = 'error7'",
      query_records_worker_at: "worker = 'worker7'",
    };
    for (const [index, filter] of Object.entries(filters)) {
      const { rows } = await asked(
        database,
        `explain select * from query_records
         where ${filter} and (created_at, proxy_query_id) < (${startMs + 1_000}, 'x')
         order by created_at desc, proxy_query_id desc limit 51`,
      );
      const plan = rows.map(([line]) => line).join("\n");
      expect(plan).toContain(`using ${index} `);
      expect(plan).not.toMatch(/(?:^|-> {2})Sort/m);
    }
    for (const way of ways) await asked(database, `reset ${way}`);
  });
});

describe("records whose text repeats", { timeout: testTimeoutMs }, () => {
  it("weigh less than 500 bytes, with their indexes, and are read as they came", async () => {
    const database = await emptyDatabase();
    const store = drizzleStore(database, { clock: systemClock });
    const count = 10_000;
    for (let from = 0; from < count; from += 200) {
      const records = Array.from({ length: 200 }, (_, index) => usualRecordOf(from + index));
      await answered(store.records.ingest(records.map(incomingRecord), startMs));
    }
    const { rows } = await asked(
      database,
      `select (pg_total_relation_size('query_records') + pg_total_relation_size('query_record_texts'))
        / count(*) from query_records`,
    );
    expect(Number(rows[0]?.[0])).toBeLessThan(500);
    const { proxyQueryId } = usualRecordOf(7_777);
    expect(await answered(store.records.get(proxyQueryId))).toEqual(usualRecordOf(7_777));
  });

  it("leave no text behind when retention has deleted them", async () => {
    const database = await emptyDatabase();
    const store = drizzleStore(database, { clock: systemClock });
    const days = [0, 1, 9].map((day) => startMs + day * 86_400_000);
    const twice = days.flatMap((createdAt) =>
      ["a", "b"].map((name) => recordOf(`${name}${createdAt}`, { createdAt, sql: "SELECT 1" })),
    );
    await answered(store.records.ingest(twice.map(incomingRecord), startMs));
    await answered(store.records.retain({ before: days[2] ?? 0, keep: 100, chunk: 100 }));
    const { rows } = await asked(database, "select count(*) from query_record_texts");
    expect(rows).toEqual([["1"]]);
    expect((await answered(store.records.get(`b${days[2]}`)))?.sql).toBe("SELECT 1");
  });

  it("are duplicates when they come again after an upgrade, and conflicts when they differ", async () => {
    const database = await emptyDatabase();
    const store = drizzleStore(database, { clock: systemClock });
    const incoming = incomingRecord(recordOf("q1"));
    await answered(store.records.ingest([incoming], startMs));
    await asked(
      database,
      `update query_records set content_hash = '${incoming.contentHash}', figures = null,
        rest = '{"tags": {}}'`,
    );
    const again = await answered(store.records.ingest([incoming], startMs));
    expect(again).toEqual({ accepted: 0, duplicates: 1, conflicts: [] });
    const other = incomingRecord(recordOf("q1", { rowsReturned: 7 }));
    const differs = await answered(store.records.ingest([other], startMs));
    expect(differs.conflicts).toEqual(["q1"]);
    const { items } = await answered(store.records.conflicts(firstPage));
    expect(items[0]?.record).toEqual(other.record);
  });
});

describe("the migration to worker mode", { timeout: testTimeoutMs }, () => {
  it("keeps the records of a standalone gateway and finds what an operator made beforehand", async () => {
    await using old = await testDatabase("V017");
    const { database } = old;
    await asked(
      database,
      `insert into query_records
        (proxy_query_id, content_hash, created_at, user_name, status, frontend, rest)
       values ('old', 'sha256:a', ${startMs}, 'ann', 'finished', 'postgres', '{"tags": {}}')`,
    );
    await asked(database, "alter table query_records add column worker text");
    await asked(
      database,
      `create index concurrently if not exists query_records_worker_at
       on query_records (worker, created_at) where worker is not null`,
    );
    await applyMigrations(database, { after: "V017" });
    const store = drizzleStore(database, { clock: systemClock });
    await answered(store.records.ingest([incomingOf(recordOf("new", { worker: "w1" }))], startMs));
    expect((await answered(store.records.get("old")))?.user).toBe("ann");
    const ofWorker = await answered(store.records.list({ worker: "w1" }, firstPage));
    expect(ofWorker.items.map(({ proxyQueryId }) => proxyQueryId)).toEqual(["new"]);
    const { rows } = await asked(
      database,
      "select indexdef from pg_indexes where indexname = 'query_records_worker_at'",
    );
    expect(rows).toEqual([
      [
        "CREATE INDEX query_records_worker_at ON public.query_records USING btree " +
          "(worker, created_at) WHERE (worker IS NOT NULL)",
      ],
    ]);
  });
});

function ingested(database: Database, ids: readonly string[]) {
  const store = drizzleStore(database, { clock: systemClock });
  return store.records.ingest(
    ids.map((id) => incomingOf(recordOf(id))),
    startMs,
  );
}

function refusing(refusal: DatabaseError) {
  return {
    run: (): Promise<Result<StatementResult, DatabaseError>> => Promise.resolve(err(refusal)),
  };
}

/** `SELECT 1` of one user, as a gateway records it. */
function usualRecordOf(index: number) {
  const createdAt = startMs + Math.floor(index / 3);
  return recordOf(`20260101_235959_${String(index).padStart(5, "0")}_k3v9x2mq`, {
    createdAt,
    startedAt: createdAt + 1,
    finishedAt: createdAt + 1,
    user: "alice",
    clusterGroup: "default",
    cluster: "local",
    engine: "duckDb",
    frontend: "postgresWire",
    sql: "SELECT 1",
    tags: {},
    engineStats: {},
    queueMs: index / 1_000,
    executionMs: index / 999,
    sqlHash: `sha256:${"a".repeat(64)}`,
    digestHash: `sha256:${"b".repeat(64)}`,
    routingTrace: [{ step: "fallback", outcome: "default" }],
  });
}

/** One of many, whose filtered fields each have twenty values. */
function spreadRecordOf(index: number) {
  const turn = index % 20;
  const record = recordOf(`q${index}`, {
    createdAt: startMs + index,
    user: `user${turn}`,
    status: turn === 7 ? "denied" : "finished",
    clusterGroup: `group${turn}`,
    cluster: `cluster${turn}`,
    frontend: turn === 7 ? "mysql" : "postgres",
    errorCode: `error${turn}`,
    worker: `worker${turn}`,
    revision: revisionOf(1).hash,
  });
  return incomingOf(record);
}
