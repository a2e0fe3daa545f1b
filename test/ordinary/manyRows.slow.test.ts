/**
 * Results that nobody holds in memory: a million rows, ten at night, a trickle out of many more, bursts with pauses
 * between them, and a reader that stops in the middle. Each row is folded into a sum as it comes, and the sums
 * are those of the engine asked directly.
 */
import { DuckDBInstance } from "@duckdb/node-api";
import mysql from "mysql2";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "../cases.ts";
import { programOf, type Program } from "./program.ts";

const host = "127.0.0.1";
const million = 1_000_000;
const millions = casesOf(1, 10);
/** Of the rows that a trickle is out of, and of those that are searched before each burst. */
const trickled = casesOf(20, 60);
const searched = casesOf(10, 30);

/** Four columns: a number, one of few values, a text, and one that is NULL in each third row. */
const results: readonly (readonly [what: string, sql: string])[] = [
  [
    `${millions} million rows`,
    `select range as id, (range * 7919) % 2048 as device, 'n' || range as name,
       case when range % 3 = 0 then null else range end as maybe from range(${millions * million})`,
  ],
  [
    `one row in each 2,048 of ${trickled} million`,
    `select id, device, 'n' || id as name, case when id % 3 = 0 then null else id end as maybe
       from (select range as id, (range * 7919) % 2048 as device from range(${trickled * million}))
       where device = 5`,
  ],
  [
    "bursts of all sizes with pauses between them",
    bursts([0, 1, 63, 64, 65, 2_047, 2_049, 70_000]),
  ],
];

/** A row that takes the engine a while, then a burst that is there at once, and so on. */
function bursts(sizes: readonly number[]): string {
  const named = "select id, device, 'n' || id as name, case when id % 3 = 0 then null else id end";
  const parts = sizes.map(
    (size, at) =>
      `select max(range) - ${at} as id, ${at} as device from range(${searched * million + at}) where range % 7 <> 3
       union all select range, ${at} from range(${size})`,
  );
  return `${named} as maybe from (${parts.join(" union all ")})`;
}

interface Sums {
  rows: number;
  ids: bigint;
  devices: bigint;
  lengths: bigint;
  nulls: number;
}

type Row = readonly (string | number | null)[];
/** Gives each row to `take`; a promise that it answers is waited for before the next one is read. */
type Reader = (sql: string, take: (row: Row) => Promise<void> | undefined) => Promise<void>;

let gateway: Program;

beforeAll(async () => {
  gateway = await programOf();
}, 60_000);
afterAll(() => gateway[Symbol.asyncDispose]());

const readers: readonly (readonly [wire: string, read: Reader])[] = [
  ["PostgreSQL", overPostgres],
  ["MySQL", overMysql],
  ["Trino", overTrino],
];

describe.each(readers)("over %s", (_wire, read) => {
  it.each(results)(
    "%s are the engine's own",
    async (_what, sql) => {
      const { sums, take } = summing();
      await read(sql, take);
      expect(sums).toEqual(await directly(sql));
    },
    240_000,
  );

  it("a reader that stops in the middle loses nothing and holds nobody up", async () => {
    const [, sql] = results[0] ?? ["", ""];
    const shorter = sql.replace(String(millions * million), String(million));
    const { sums, take } = summing();
    let others = 0;
    await read(shorter, (row) => {
      take(row);
      if (sums.rows % 250_000 !== 0) return undefined;
      // Meanwhile somebody else is served, again and again.
      return (async () => {
        for (let asked = 0; asked < 20; asked += 1) {
          await overPostgres("select 1, 1, 'a', null", () => undefined);
          others += 1;
        }
      })();
    });
    expect(sums).toEqual(await directly(shorter));
    expect(others).toBe(80);
  }, 120_000);
});

function summing() {
  const sums: Sums = { rows: 0, ids: 0n, devices: 0n, lengths: 0n, nulls: 0 };
  const take = ([id, device, name, maybe]: Row): undefined => {
    sums.rows += 1;
    sums.ids += BigInt(String(id));
    sums.devices += BigInt(String(device));
    sums.lengths += BigInt(String(name).length);
    if (maybe === null) sums.nulls += 1;
    else if (String(maybe) !== String(id)) throw new Error(`row ${sums.rows}: ${String(maybe)}`);
  };
  return { sums, take };
}

/** What the engine gave, so that it is asked once for all wires. */
const known = new Map<string, Promise<Sums>>();

function directly(sql: string): Promise<Sums> {
  const sums = known.get(sql) ?? summedDirectly(sql);
  known.set(sql, sums);
  return sums;
}

async function summedDirectly(sql: string): Promise<Sums> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `select count(*), sum(id)::hugeint, sum(device)::hugeint, sum(length(name))::hugeint,
       count(*) - count(maybe) from (${sql})`,
  );
  const [rows, ids, devices, lengths, nulls] = (reader.getRows()[0] ?? []).map((cell) =>
    BigInt(String(cell)),
  );
  connection.closeSync();
  instance.closeSync();
  return {
    rows: Number(rows),
    ids: ids ?? 0n,
    devices: devices ?? 0n,
    lengths: lengths ?? 0n,
    nulls: Number(nulls),
  };
}

// ---------------------------------------------------------------- wires

async function overPostgres(
  sql: string,
  take: (row: Row) => Promise<void> | undefined,
): Promise<void> {
  const client = new pg.Client({ host, port: gateway.ports["postgresWire"] ?? 0, user: "alice" });
  await client.connect();
  const types = { getTypeParser: () => (value: unknown) => value };
  const query = new pg.Query({ text: sql, rowMode: "array", types } as pg.QueryArrayConfig);
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadableStream } })
    .connection;
  // What was read already still comes after a pause.
  const pauses: Promise<void>[] = [];
  await new Promise<void>((resolve, reject) => {
    query.on("row", (row: unknown) => {
      const pause = take(row as Row);
      if (pause === undefined) return;
      stream.pause();
      pauses.push(pause);
      pause.then(() => stream.resume(), reject);
    });
    query.on("end", () => resolve());
    query.on("error", reject);
    client.query(query);
  });
  await Promise.all(pauses);
  await client.end();
}

async function overMysql(
  sql: string,
  take: (row: Row) => Promise<void> | undefined,
): Promise<void> {
  const port = gateway.ports["mysqlWire"] ?? 0;
  const connection = mysql.createConnection({ host, port, user: "alice", rowsAsArray: true });
  const rows = connection.query(sql).stream({ highWaterMark: 1_000 });
  for await (const row of rows) {
    const pause = take(row as Row);
    if (pause !== undefined) await pause;
  }
  connection.destroy();
}

async function overTrino(
  sql: string,
  take: (row: Row) => Promise<void> | undefined,
): Promise<void> {
  const url = `http://${host}:${gateway.ports["trinoHttp"]}/v1/statement`;
  const headers = { "x-trino-user": "alice" };
  let answer = await fetch(url, { method: "POST", headers, body: sql });
  for (;;) {
    const page = (await answer.json()) as TrinoPage;
    if (page.error !== undefined) throw new Error(page.error.errorName);
    for (const row of page.data ?? []) {
      const pause = take(row);
      if (pause !== undefined) await pause;
    }
    if (page.nextUri === undefined) return;
    answer = await fetch(page.nextUri, { headers });
  }
}

interface TrinoPage {
  readonly data?: readonly Row[];
  readonly nextUri?: string;
  readonly error?: { readonly errorName: string };
}
