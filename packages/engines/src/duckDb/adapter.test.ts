/** The engine contract on real DuckDB, and what is DuckDB's own: connections, sessions, transactions, faults. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { duckDbConfig } from "./config.ts";

const uuid = "00112233-4455-6677-8899-aabbccddeeff";

const values: readonly Parameter[] = [
  { type: { kind: "boolean" }, value: true },
  { type: { kind: "integer", bits: 8, signed: true }, value: -128n },
  { type: { kind: "integer", bits: 16, signed: false }, value: 65_535n },
  { type: { kind: "integer", bits: 32, signed: true }, value: -2_147_483_648n },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "integer", bits: 64, signed: false }, value: 18_446_744_073_709_551_615n },
  { type: { kind: "integer", bits: 128, signed: true }, value: -(2n ** 127n) + 1n },
  { type: { kind: "integer", bits: 128, signed: false }, value: 2n ** 128n - 1n },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "float", bits: 32 }, value: -1.5 },
  {
    type: { kind: "decimal", precision: 38, scale: 10 },
    value: 12345678901234567890123456789012345678n,
  },
  { type: { kind: "decimal", precision: 4, scale: 1 }, value: -15n },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255]) },
  { type: { kind: "date" }, value: -719_162n },
  { type: { kind: "time", unit: "us" }, value: 86_399_999_999n },
  { type: { kind: "time", unit: "ns" }, value: 1n },
  { type: { kind: "timestamp", unit: "us", zoned: false }, value: -1n },
  { type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n },
  { type: { kind: "timestamp", unit: "s", zoned: false }, value: 1_577_836_800n },
  { type: { kind: "timestamp", unit: "ns", zoned: false }, value: 1_577_836_800_000_000_001n },
  { type: { kind: "interval" }, value: { months: -14, days: 3, nanoseconds: 4_000n } },
  { type: { kind: "uuid" }, value: uuid },
  { type: { kind: "null" }, value: null },
  {
    type: { kind: "list", item: { kind: "integer", bits: 32, signed: true } },
    value: [1n, null, 3n],
  },
  {
    type: {
      kind: "struct",
      fields: [
        { name: "a", type: { kind: "text" } },
        { name: "b", type: { kind: "boolean" } },
      ],
    },
    value: ["x", null],
  },
  {
    type: {
      kind: "map",
      key: { kind: "text" },
      value: { kind: "integer", bits: 32, signed: true },
    },
    value: [["k", 1n]],
  },
];

engineSuite(
  "DuckDB",
  {
    endless:
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1",
    flood: "select i, 'row ' || i as label from range(1000000000000) t(i)",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select '\u00e9\u{1f600}' selec from", position: 20 },
  },
  () => backendOf({ poolSize: 1 }, `suite${(suites += 1)}`),
  { skip: [] },
);

let suites = 0;

describe("execute on DuckDB", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await backendOf();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("leaves nothing of one statement's connection to the next", async () => {
    await ran(backend, "create schema elsewhere");
    await ran(backend, "use elsewhere");
    expect((await ran(backend, "select current_schema()")).rows).toEqual([["main"]]);
  });

  it("stands where the session stands", async () => {
    await ran(backend, 'create schema "odd ""name"""');
    const session = { schema: 'odd "name"' };
    expect((await ran(backend, "select current_schema()", { session })).rows).toEqual([
      ['odd "name"'],
    ]);
    const nowhere = await ran(backend, "select 1", { session: { catalog: "nowhere" } });
    expect(codeOf(nowhere)).toBe("query.unknownObject");
  });

  it("tells USE as a change of the session", async () => {
    await ran(backend, "create schema told");
    const events = [];
    for await (const event of backend.execute(identifiedOf("use told"), never)) events.push(event);
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "catalog", catalog: "memory", schema: "told" } },
      { kind: "done", updateType: "USE" },
    ]);
    expect(codeOf(await ran(backend, "use nowhere"))).toBe("query.unknownObject");
  });

  it.each(["information_schema", "pg_catalog"])("goes to %s and back", async (schema) => {
    const session = { catalog: "memory", schema };
    const there = await ran(backend, "select current_schema()", { session });
    expect(there.rows).toEqual([[schema]]);
    const back = identifiedOf("use main", [], session);
    const events = [];
    for await (const event of backend.execute(back, never)) events.push(event);
    expect(events).toMatchObject([
      { kind: "session", change: { catalog: "memory", schema: "main" } },
      { kind: "done" },
    ]);
  });

  it("answers RETURNING with rows and a count", async () => {
    await ran(backend, "create table returned (a integer)");
    const { rows, last } = await ran(
      backend,
      "insert into returned values (1), (2) returning a * 10",
    );
    expect(rows).toEqual([[10n], [20n]]);
    expect(last).toMatchObject({ updateType: "INSERT", updateCount: 2 });
  });

  it("runs a PIVOT, which DuckDB reads as two statements", async () => {
    await ran(backend, "create table pivoted as select i % 2 as x, i % 3 as y from range(12) t(i)");
    const { columns, last } = await ran(backend, "pivot pivoted on x using count(*) group by y");
    expect(last?.kind).toBe("done");
    expect(columns.map((column) => column.name)).toEqual(["y", "0", "1"]);
  });

  it("passes on millions of rows in order, whatever the size of the engine's own batches", async () => {
    const sql =
      "select i, i::varchar as t, if(i % 3 = 0, null, i) as n from range(300000) t(i) where i % 7 <> 2";
    let expected = 0;
    for await (const event of backend.execute(identifiedOf(sql), never)) {
      if (event.kind !== "batch") continue;
      const [numbers] = columnarOf(event.batch).columns;
      const words = new BigInt64Array(
        numbers?.values.buffer ?? new ArrayBuffer(0),
        numbers?.values.byteOffset,
        event.batch.rows,
      );
      for (const word of words) {
        if (expected % 7 === 2) expected += 1;
        if (word !== BigInt(expected)) throw new Error(`row ${expected} is ${word}`);
        expected += 1;
      }
    }
    expect(expected).toBe(300_000);
  });

  it("opens the database anew after a fault inside the engine, with what was committed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "duckdb-"));
    const file = await backendOf({ databasePath: join(folder, "kept.db") });
    await ran(file, "create table kept as select 42 as answer");
    const parameters: readonly Parameter[] = [{ type: { kind: "text" }, value: "x" }];
    const faulty = await ran(file, "select typeof($1) || ' ' || coalesce($1::varchar, '')", {
      parameters,
    });
    expect(codeOf(faulty)).toBe("engine.failed");
    expect(JSON.stringify(faulty.last)).not.toContain("libduckdb");
    expect(codeOf(await ran(file, "select 1"))).toBe("engine.failed");
    expect((await ran(file, "select answer from kept")).rows).toEqual([[42n]]);
    await file[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
});

describe("a description by DuckDB", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await backendOf();
    await ran(backend, "create table priced (id integer, price decimal(12,2), sold timestamptz)");
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("finds the types of parameters by what they are compared with", async () => {
    const found = valueOf(
      await backend.describe(
        identifiedOf("select 1 from priced where price = $1 and sold < $2"),
        never,
      ),
    );
    expect(found.parameters).toEqual([
      { kind: "decimal", precision: 12, scale: 2 },
      { kind: "timestamp", unit: "us", zoned: true },
    ]);
  });

  it("takes a parameter that nothing is known of for text, or for what the client said", async () => {
    const untyped = valueOf(await backend.describe(identifiedOf("select $1 as a, $2 as b"), never));
    expect(untyped.parameters).toEqual([{ kind: "null" }, { kind: "null" }]);
    expect(untyped.columns.map(({ type }) => type.kind)).toEqual(["text", "text"]);
    const stated: readonly Parameter[] = [
      { type: { kind: "date" }, value: null },
      { type: { kind: "null" }, value: null },
    ];
    const typed = valueOf(
      await backend.describe(identifiedOf("select $1 as a, $2 as b", stated), never),
    );
    expect(typed.columns.map(({ type }) => type.kind)).toEqual(["date", "text"]);
  });

  it("answers statements about the session without asking the engine", async () => {
    for (const sql of ["begin", "use nowhere", "rollback"]) {
      expect(await backend.describe(identifiedOf(sql), never)).toEqual({
        ok: true,
        value: { parameters: [], columns: [] },
      });
    }
  });
});

describe("a transaction on DuckDB", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await backendOf();
    await ran(backend, "create table kept (id integer primary key)");
    await ran(backend, "insert into kept values (1)");
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("does not commit what DuckDB has already thrown away", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    await ran(lane, "insert into kept values (2)");
    expect(codeOf(await ran(lane, "insert into kept values (1)"))).toBe("query.constraint");
    expect(await lane.commit(never)).toMatchObject({
      ok: false,
      error: { code: "query.transactionAborted" },
    });
    expect((await ran(backend, "select count(*) from kept")).rows).toEqual([[1n]]);
  });

  it("is refused where it is to be SERIALIZABLE, however that was asked for", async () => {
    const begun = async (sql: string, settings: Readonly<Record<string, string>> = {}) => {
      const session = { dialect: "postgres" as const, settings: new Map(Object.entries(settings)) };
      return await backend.begin(identifiedOf(sql, [], session), never);
    };
    const settings = { default_transaction_isolation: "serializable" };
    const refused = { ok: false, error: { code: "query.unsupported" } };
    expect(await begun("begin isolation level serializable")).toMatchObject(refused);
    expect(await begun("begin", settings)).toMatchObject(refused);
    await using lane = valueOf(await begun("begin isolation level repeatable read", settings));
    const session = {
      dialect: "postgres" as const,
      settings: new Map([["transaction_isolation", "serializable"]]),
    };
    // SET TRANSACTION behind the BEGIN, and a change of a session that asked for it in all that it does.
    expect(codeOf(await ran(lane, "select 1", { session }))).toBe("query.unsupported");
    expect(codeOf(await ran(backend, "delete from kept", { session }))).toBe("query.unsupported");
    expect((await ran(backend, "select count(*) from kept", { session })).rows).toEqual([[1n]]);
  });

  it("commits after an error that did not end it", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    await ran(lane, "insert into kept values (3)");
    expect(codeOf(await ran(lane, "select nothing"))).toBe("query.unknownObject");
    expect(await lane.commit(never)).toMatchObject({ ok: true });
    expect((await ran(backend, "delete from kept where id = 3")).last).toMatchObject({
      updateCount: 1,
    });
  });

  it("knows whether it goes on, and whether its last statement may have changed something", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    const answers: unknown[] = [];
    for (const [sql, goesOn] of [
      ["insert into kept values (4)", true],
      ["insert into nowhere values (1)", true],
      ["create table kept (a integer)", true],
      ["selec", true],
      ["set threads = 1", true],
      ["select nothing", true],
      ["insert into kept values (5) returning cast('x' as integer)", false],
      ["select 1", false],
    ] as const) {
      await ran(lane, sql);
      answers.push([sql, await lane.goesOn?.(never)]);
      expect(answers.at(-1)).toEqual([sql, goesOn]);
    }
    await lane[Symbol.asyncDispose]();
    expect(await lane.goesOn?.(never)).toBe(false);
  });

  it("does not vouch for a change whose answer was not read to its end", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    const sql = "insert into kept select i + 100 from range(100000) t(i) returning id";
    const stream = lane.execute(identifiedOf(sql), never);
    await stream.next();
    await stream.return();
    expect(await lane.goesOn?.(never)).toBe(false);
  });

  it("is read-only when the client asked for that", async () => {
    await using lane = valueOf(
      await backend.begin(identifiedOf("begin read only", [], { dialect: "postgres" }), never),
    );
    expect((await ran(lane, "delete from kept")).last?.kind).toBe("failed");
  });

  it("meets a concurrent change with query.conflict", async () => {
    await using first = valueOf(await backend.begin(identifiedOf("begin"), never));
    await using second = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect((await ran(first, "update kept set id = 10 where id = 1")).last?.kind).toBe("done");
    expect(codeOf(await ran(second, "update kept set id = 11 where id = 1"))).toBe(
      "query.conflict",
    );
  });

  it("keeps temporary tables, which live nowhere else", async () => {
    const temporary = "create temp table scratch (a integer)";
    expect(codeOf(await ran(backend, temporary))).toBe("query.unsupported");
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect((await ran(lane, temporary)).last).toMatchObject({ updateType: "CREATE TABLE" });
    expect((await ran(lane, "select count(*) from scratch")).rows).toEqual([[0n]]);
  });

  it("goes where its session goes and comes back", async () => {
    await ran(backend, "create schema away");
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    const schema = async (session: object): Promise<unknown> =>
      (await ran(lane, "select current_schema()", { session })).rows[0]?.[0];
    expect(await schema({ schema: "away" })).toBe("away");
    expect(await schema({})).toBe("main");
    await ran(lane, "use away");
    expect(await schema({ catalog: "memory", schema: "away" })).toBe("away");
  });
});

async function backendOf(more: object = {}, cluster = `test${(clusters += 1)}`): Promise<Backend> {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 2, ...more });
  return valueOf(await open(cluster, config, hostOf()));
}

let clusters = 0;
