import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Query } from "@gateway/core/query/query.ts";
import pg from "pg";
import postgres from "postgres";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { certificateOf } from "../listener/rig/certificate.ts";
import {
  column,
  doneOf,
  endless,
  eventually,
  int32,
  int64,
  resultOf,
  served,
  text,
} from "./rig/served.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-postgres-"));
afterAll(() => rmSync(folder, { recursive: true }));

const everyType = [
  columnOf("flag", { kind: "boolean" }),
  columnOf("small", { kind: "integer", bits: 16, signed: true }),
  columnOf("number", int32),
  columnOf("big", int64),
  columnOf("huge", { kind: "integer", bits: 128, signed: true }),
  columnOf("ratio", { kind: "float", bits: 64 }),
  columnOf("price", { kind: "decimal", precision: 12, scale: 2 }),
  columnOf("name", text),
  columnOf("raw", { kind: "binary" }),
  columnOf("at", { kind: "timestamp", unit: "us", zoned: true }),
  columnOf("id", { kind: "uuid" }),
  columnOf("tags", { kind: "list", item: text }),
  columnOf("point", { kind: "struct", fields: [{ name: "x", type: int32 }] }),
  columnOf("nothing", { kind: "null" }),
];
const row = [
  true,
  -7n,
  42n,
  9_007_199_254_740_993n,
  2n ** 100n,
  0.1,
  -123_456n,
  "Zoë",
  Uint8Array.of(0, 255),
  1_700_000_000_123_000n,
  "00112233-4455-6677-8899-aabbccddeeff",
  ["a", null, 'quote"d'],
  [5n],
  null,
] as const;
const expected = {
  flag: true,
  small: -7,
  number: 42,
  big: "9007199254740993",
  huge: (2n ** 100n).toString(),
  ratio: 0.1,
  price: "-1234.56",
  name: "Zoë",
  raw: Buffer.from([0, 255]),
  at: new Date(1_700_000_000_123),
  id: "00112233-4455-6677-8899-aabbccddeeff",
  tags: ["a", null, 'quote"d'],
  point: { x: 5 },
  nothing: null,
};

const echoed = (query: Query) => {
  const columns = query.parameters.map(({ type }, index) => columnOf(`p${index}`, type));
  return resultOf(
    columns,
    query.parameters.map(({ value }) => value),
  );
};
const script = {
  answers: {
    "select every": resultOf(everyType, row),
    "select 1": resultOf(column("n"), [1n]),
    "select ten": async function* () {
      await Promise.resolve();
      const columns = column("n");
      yield { kind: "columns", columns } as const;
      for (let n = 0; n < 10; n += 1) {
        yield { kind: "batch", batch: batchOf(columns, [[BigInt(n)]]) } as const;
      }
      yield doneOf();
    },
    "select $1, $2": async function* (query: Query) {
      await Promise.resolve();
      yield* echoed(query);
    },
    insert: [doneOf("INSERT", 3)],
    endless,
  },
  descriptions: {
    "select every": { parameters: [], columns: everyType },
    "select 1": { parameters: [], columns: column("n") },
    "select ten": { parameters: [], columns: column("n") },
    "select $1, $2": {
      parameters: [int32, text],
      columns: [columnOf("p0", int32), columnOf("p1", text)],
    },
    insert: { parameters: [], columns: [] },
    wrong: { parameters: [], columns: column("n") },
  },
} as const;

describe("the client pg", () => {
  it("reads every type by simple query, by prepared statement, and in binary", async () => {
    await using server = await served(script);
    await using client = await connected(server.port);
    expect((await client.query("select every")).rows).toEqual([expected]);
    const named = { name: "every", text: "select every" };
    expect((await client.query(named)).rows).toEqual([expected]);
    expect((await client.query(named)).rows).toEqual([expected]);

    // The client itself reads fewer types in binary; it is told which it gets by the description.
    await using binary = await connected(server.port, { binary: true });
    const [read] = (await binary.query({ text: "select every", values: [] })).rows;
    expect(read).toMatchObject({ flag: true, small: -7, number: 42, ratio: 0.1, name: "Zoë" });
    expect(read.price).toBeCloseTo(-1234.56);
  });

  it("sends parameters that arrive with the types the engine wants", async () => {
    await using server = await served(script);
    await using client = await connected(server.port);
    const { rows } = await client.query("select $1, $2", [7, "it's"]);
    expect(rows).toEqual([{ p0: 7, p1: "it's" }]);
    expect(server.door.queries[0]?.parameters).toEqual([
      { type: int32, value: 7n },
      { type: text, value: "it's" },
    ]);
  });

  it("gets one result for each of several statements", async () => {
    await using server = await served(script);
    await using client = await connected(server.port);
    const results = (await client.query("select 1; insert")) as unknown as pg.QueryResult[];
    expect(results.map(({ command, rowCount }) => [command, rowCount])).toEqual([
      ["SELECT", 1],
      ["INSERT", 3],
    ]);
  });

  it("sees an error with its SQLSTATE and position and goes on", async () => {
    await using server = await served(script);
    await using client = await connected(server.port);
    await expect(client.query("wrong")).rejects.toMatchObject({
      code: "42601",
      position: "1",
      severity: "ERROR",
    });
    await expect(client.query("wrong", [])).rejects.toMatchObject({ code: "42601" });
    await expect(client.query("select $1, $2", ["x", "y"])).rejects.toMatchObject({
      code: "22P02",
    });
    expect((await client.query("select 1")).rows).toEqual([{ n: 1 }]);
  });

  it("logs in with a password over TLS", async () => {
    const { cert, key } = certificateOf("localhost");
    writeFileSync(join(folder, "cert.pem"), cert);
    writeFileSync(join(folder, "key.pem"), key);
    const tls = {
      certFile: join(folder, "cert.pem"),
      keyFile: join(folder, "key.pem"),
      minVersion: "1.2",
    } as const;
    await using server = await served(
      { ...script, passwords: { ann: "geheim" } },
      { tls, host: "0.0.0.0" },
    );
    const secure = { password: "geheim", ssl: { ca: cert, servername: "localhost" } };
    await using client = await connected(server.port, secure);
    expect((await client.query("select 1")).rows).toEqual([{ n: 1 }]);
    await expect(connected(server.port, { password: "geheim" })).rejects.toMatchObject({
      code: "28000",
    });
    await expect(connected(server.port, { ...secure, password: "falsch" })).rejects.toMatchObject({
      code: "28P01",
    });
  });

  it("leaves in the middle of a query, which then ends", async () => {
    await using server = await served(script);
    const client = await connected(server.port);
    const running = client.query("endless").catch((error: unknown) => error);
    await eventually(() => server.door.queries.length === 1);
    await client.end();
    expect(await running).toBeInstanceOf(Error);
    await eventually(() => server.door.ended.length === 1);
  });
});

describe("the client postgres", () => {
  it("reads every type, sends typed parameters and several statements", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    const [read] = await sql.client.unsafe("select every", [], { prepare: true });
    // This client reads a NULL inside an array as text, from PostgreSQL too.
    expect(read).toEqual({ ...expected, tags: ["a", "NULL", 'quote"d'] });
    const rows = await sql.client`select ${7}, ${"it's"}`;
    expect(rows).toEqual([{ p0: 7, p1: "it's" }]);
    const several = await sql.client.unsafe("select 1; select ten").simple();
    expect(several.map((one) => (one as unknown as { count: number }).count)).toEqual([1, 10]);
  });

  it("fetches a large result in pieces by a portal with a row limit", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    const pieces: number[] = [];
    for await (const piece of sql.client.unsafe("select ten").cursor(4)) pieces.push(piece.length);
    expect(pieces).toEqual([4, 4, 2]);
  });

  it("sees an error and goes on", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    await expect(sql.client.unsafe("wrong")).rejects.toMatchObject({ code: "42601" });
    await expect(sql.client`nothing described`).rejects.toMatchObject({ code: "42601" });
    expect(await sql.client`select 1`).toEqual([{ n: 1 }]);
  });

  it("gets answers in order to queries that were sent before the first was answered", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    const asked = await Promise.allSettled([
      sql.client`select 1`,
      sql.client`select ${1}, ${"a"}`,
      sql.client.unsafe("wrong"),
      sql.client.unsafe("select ten"),
    ]);
    const statuses = asked.map(({ status }) => status);
    expect(statuses).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  it("cancels a running query", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    const running = sql.client.unsafe("endless").simple();
    const failed = running.catch((error: unknown) => error);
    await eventually(() => server.door.queries.length === 1);
    running.cancel();
    expect(await failed).toMatchObject({ code: "57014" });
    expect(server.door.ended.length).toBe(1);
  });

  it("learns which type is whose array", async () => {
    await using server = await served(script);
    await using sql = pooled(server.port);
    expect(await sql.client`select 1`).toEqual([{ n: 1 }]);
    expect(server.door.queries.map((query) => query.sql)).toEqual(["select 1"]);
  });
});

type Connected = pg.Client & AsyncDisposable;

async function connected(
  port: number,
  more: pg.ClientConfig & { readonly binary?: boolean } = {},
): Promise<Connected> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: "ann",
    database: "memory",
    ...more,
  });
  client.on("error", () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

function pooled(port: number) {
  const client = postgres({
    host: "127.0.0.1",
    port,
    user: "ann",
    database: "memory",
    max: 1,
  });
  return { client, [Symbol.asyncDispose]: () => client.end({ timeout: 1 }) };
}
