/**
 * A pooler's promise: no session sees what another left on a connection, in each mode, over thousands of transactions
 * of clients that share a few connections. Nightly there are 10,000 in each mode.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const transactions = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : 120;
const clientCount = 8;

let server: URL;
let watcher: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("handover");
  watcher = new pg.Client({ connectionString: server.href });
  await watcher.connect();
  await watcher.query(`create table shared (owner text, n serial);
    create function leave(who text) returns void language plpgsql as $$ begin
      perform set_config('left.by', who, false);
    end $$`);
});
afterAll(async () => await watcher.end());

/** Everything of a session that a server tells of, and whose it is. */
const traces = `select coalesce(nullif(current_setting('left.by', true), ''), $1) as setting,
  coalesce((select min(relname::text) from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'), $1) as temporary,
  coalesce((select min(channel) from pg_listening_channels() channel), $1) as channel,
  coalesce((select min(name) from pg_prepared_statements where from_sql), $1) as prepared,
  coalesce((select min(name) from pg_cursors where is_holdable), $1) as cursor,
  coalesce((select min(objid)::text from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), $2) as lock,
  current_setting('search_path') as path, current_setting('work_mem') as memory`;

/** What a client may leave, by itself or in a transaction that ends either way. `who` is a name of its own. */
const deeds: readonly ((who: string, lock: number) => readonly string[])[] = [
  (who) => [`create temp table ${who} (a int)`, `insert into ${who} values (1)`],
  (who) => [`begin`, `create temp table ${who} (a int)`, `commit`],
  (who) => [`begin`, `create temp table ${who} (a int) on commit drop`, `commit`],
  (who) => [
    `begin`,
    `set local work_mem = '77MB'`,
    `insert into shared values ('${who}')`,
    `rollback`,
  ],
  (_who, lock) => [`select pg_advisory_lock(${lock})`],
  (who) => [`listen ${who}`],
  (who) => [`prepare ${who} as select 1`],
  (who) => [`begin`, `declare ${who} cursor with hold for select 1`, `commit`],
  (who) => [`select leave('${who}')`],
  (who) => [`begin`, `select leave('${who}')`, `commit`],
  (who) => [`do $$ begin perform set_config('left.by', '${who}', false); end $$`],
  (who) => [`insert into shared values ('${who}') returning n`],
  () => [`set work_mem = '55MB'`, `select 1`, `reset work_mem`],
  () => [`select 1/0`],
  () => [`discard all`],
];

/** Deeds that a cluster without transactions and without kept connections takes. */
const plain = deeds.filter((deed) =>
  /^(?:insert|select (?!pg_adv)|set|discard|do)/.test(deed("x", 1)[0] ?? ""),
);

describe.each([
  ["transaction", { poolMode: "transaction" }, deeds],
  ["transaction, with pinning refused", { poolMode: "transaction", pinning: "refuse" }, deeds],
  ["session", { poolMode: "session" }, deeds],
  ["statement", { poolMode: "statement" }, plain],
] as const)("in mode %s", (_mode, more, does) => {
  it("no session sees what another left", async () => {
    const local = {
      engine: "postgresql",
      hosts: [server.host],
      database: "handover",
      auth: { type: "basic", username: server.username, password: "none" },
      poolSize: 3,
      ...more,
    };
    await using gateway = await gatewayOf(configOf({ clusters: { local } }));
    const seed = Math.floor(Math.random() * 2 ** 31);
    const port = portOf(gateway, "postgresWire");
    let left = transactions;
    const workers = Array.from({ length: clientCount }, async (_, index) => {
      const random = randomOf(seed + index);
      while (left > 0) left -= await visit(port, index, { does, random, seed });
    });
    await Promise.all(workers);
    expect(left).toBeLessThanOrEqual(0);
  }, 1_800_000);
});

interface Visit {
  readonly does: typeof deeds;
  readonly random: () => number;
  readonly seed: number;
}

/** A client comes, looks around, leaves things behind, and goes. Answers how many transactions that were. */
async function visit(port: number, index: number, { does, random, seed }: Visit): Promise<number> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "handover" });
  await client.connect();
  const who = `w${index}`;
  const lock = 100 + index;
  let count = 0;
  try {
    for (let deed = Math.floor(random() * 6) + 1; deed > 0; deed -= 1) {
      const { rows } = await client.query(traces, [who, String(lock)]);
      expect(rows, `seed ${seed}`).toEqual([
        {
          setting: who,
          temporary: who,
          channel: who,
          prepared: who,
          cursor: who,
          lock: String(lock),
          path: '"$user", public',
          memory: "4MB",
        },
      ]);
      const sqls = does[Math.floor(random() * does.length)]?.(who, lock) ?? [];
      count += await attempt(client, sqls);
    }
  } finally {
    await client.end();
  }
  return count;
}

/** Runs them up to the first that is refused, which then ends the client's transaction. Answers how many. */
async function attempt(client: pg.Client, sqls: readonly string[]): Promise<number> {
  for (const [index, sql] of sqls.entries()) {
    if (!(await isRefused(client, sql))) continue;
    if (sql !== "commit") await client.query("rollback");
    return index + 1;
  }
  return sqls.length;
}

/** True when the server or the gateway refused it. */
async function isRefused(client: pg.Client, sql: string): Promise<boolean> {
  try {
    await client.query(sql);
    return false;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return true;
    throw error;
  }
}

/** Numbers from 0 to 1 that a seed gives again (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
