/** The driver itself, called on this thread: its table, its failures, what its statements may be. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { duckDbDriver } from "../duckDb/library/library.ts";
import { driverBytes, driverFunctions, driverTableStart } from "./memory/abi.ts";
import { closeDatabase, Connection, openDatabase } from "./thread/connection.ts";
import { CancelControl, controlBlock, DriverControl } from "./memory/control.ts";
import { Driver } from "./driver.ts";
import { Inspector } from "./thread/inspect.ts";
import { readBatchMessage, readSchemaMessage } from "./arrow/ipc.ts";
import type { ResultMessage, StatementRequest } from "./message.ts";
import { listObjects, tableSchemas } from "./thread/objects.ts";
import { describeStatement, executeStatement, type StatementTools } from "./thread/statement.ts";
import { threadStructs } from "./memory/structs.ts";

let driver: Driver;
let database: number;

beforeAll(() => {
  const choice = duckDbDriver();
  if (!choice.ok) throw new Error(choice.error);
  const loaded = Driver.load(choice.value.library, choice.value.entrypoint);
  if (!loaded.ok) throw new Error(loaded.error.message);
  driver = loaded.value;
  const opened = openDatabase(driver, {
    options: [["threads", "1"]],
    setup: [{ sql: "create table t (a integer)" }],
  });
  if (!opened.ok) throw new Error(opened.error.message);
  database = opened.value.address;
});
afterAll(() => closeDatabase(driver, database));

describe("driverTable", () => {
  it("lies where adbc.h 1.1.0 puts it", () => {
    expect(driverBytes).toBe(464);
    const at = (name: (typeof driverFunctions)[number]) =>
      driverTableStart + driverFunctions.indexOf(name) * 8;
    expect([
      at("DatabaseInit"),
      at("StatementSetSubstraitPlan"),
      at("ErrorGetDetailCount"),
      at("StatementCancel"),
      at("StatementSetOptionInt"),
    ]).toEqual([24, 224, 232, 392, 456]);
  });
});

describe("Driver", () => {
  it("answers with the loader's reason when a library or its entry is not there", () => {
    expect(Driver.load("/nowhere/libnothing.so", "x")).toMatchObject({
      ok: false,
      error: { code: "library" },
    });
    const choice = duckDbDriver();
    expect(Driver.load(choice.ok ? choice.value.library : "", "no_such_init")).toMatchObject({
      error: { code: "library", message: "the library does not export no_such_init" },
    });
  });

  it("answers a refusal with the driver's status and text", () => {
    const refused = openDatabase(driver, { options: [["no_such_option", "1"]], setup: [] });
    expect(refused).toMatchObject({ ok: false, error: { code: "driver", status: 9 } });
    expect(!refused.ok && refused.error.message).toContain("no_such_option");
  });

  it("knows which functions the driver has", () => {
    expect(driver.has("StatementCancel")).toBe(true);
    expect(driver.has("StatementSetSubstraitPlan")).toBe(false);
    expect(driver.call("StatementSetSubstraitPlan", 0, 0, 0)).toMatchObject({ code: "library" });
  });
});

describe("openDatabase", () => {
  it("leaves out labelled statements that fail, and fails with any other", () => {
    const labelled = openDatabase(driver, {
      options: [],
      setup: [{ sql: "select nothing", label: "a" }, { sql: "create table made (a integer)" }],
    });
    expect(labelled.ok && labelled.value.skipped.map(({ label }) => label)).toEqual(["a"]);
    if (labelled.ok) closeDatabase(driver, labelled.value.address);
    const failed = openDatabase(driver, { options: [], setup: [{ sql: "select nothing" }] });
    expect(failed).toMatchObject({ ok: false, error: { code: "driver" } });
  });
});

describe("executeStatement", () => {
  it("asks the engine's own parser what a text is, before anything of it runs", () => {
    expect(executed("insert into t values (1); select 1", [1])).toMatchObject({
      error: { code: "several" },
    });
    expect(executed("insert into t values (1)", [1])).toMatchObject({ error: { code: "refused" } });
    expect(executed("/* select */ copy t to '/dev/null'", [1, 2])).toMatchObject({
      error: { code: "refused" },
    });
    expect(executed(" -- nothing", [1])).toMatchObject({ error: { code: "empty" } });
    expect(executed("selec", [1])).toMatchObject({ error: { code: "driver" } });
    expect(executed("select count(*) from t", [1])).toMatchObject({
      ok: true,
      value: { statementType: 1 },
    });
    expect(rowsOf(messages)).toEqual([1]);
  });

  it("lets a text through that the engine expands itself, and no other of several statements", () => {
    const pivot = "pivot (select 1 as a, 2 as b) on a using sum(b)";
    expect(executed(pivot, [1])).toMatchObject({ error: { code: "several" } });
    expect(executed(pivot, [1], { expandedType: 7 })).toMatchObject({ ok: true });
    expect(
      executed("create table u (a integer); select 1", [1], { expandedType: 15 }),
    ).toMatchObject({
      error: { code: "several" },
    });
  });

  it("takes long texts", () => {
    const sql = `select '${"x".repeat(5_000_000)}' as long`;
    expect(executed(sql, [1])).toMatchObject({ ok: true });
  });

  it("sends a small result in one group with its schema", () => {
    flushes = 0;
    expect(executed("select 1 as a", [1]).ok).toBe(true);
    expect(messages.map(({ kind }) => kind)).toEqual(["schema", "batch"]);
    expect(flushes).toBe(0);
  });

  it("sends late rows at once, and of a long result some of them together", () => {
    let looks = 0;
    const nowMs = (): number => (looks += 3);
    const sql = "select i from range(81920) t(i)";
    expect(executed(sql, [1], { credits: 100, nowMs }).ok).toBe(true);
    expect(rowsOf(messages).slice(0, 9)).toEqual([
      ...Array.from({ length: 8 }, () => 2_048),
      8_192,
    ]);
  });

  it("joins the engine's small arrays into messages of about a quarter of a megabyte", () => {
    expect(executed("select i, i as j from range(200000) t(i)", [1], { credits: 100 }).ok).toBe(
      true,
    );
    const sizes = batchesOf(messages)
      .slice(1, -1)
      .map((message) => message.byteLength);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.min(...sizes)).toBeGreaterThan(200_000);
    expect(Math.max(...sizes)).toBeLessThan(600_000);
    expect(rowsOf(messages).reduce((sum, rows) => sum + rows, 0)).toBe(200_000);
  });
});

/** Many arrays of few rows, which come faster than any clock moves. */
const crowds: readonly (readonly [what: string, sql: string, rows: number])[] = [
  [
    "a recursive query of 900 rows",
    "with recursive r(i) as (select 1 union all select i + 1 from r where i < 900) select i from r",
    900,
  ],
  [
    "a filter that lets one row in 2,048 pass",
    "select id from (select range as id, (range * 7919) % 2048 as device from range(3000000)) where device = 5",
    1_465,
  ],
  ["64 arrays", unionOf(64), 64],
  ["65 arrays", unionOf(65), 65],
  ["a union of 300 branches", unionOf(300), 300],
];

/** What a thread's clock may show: nothing, jumps in both directions, an hour with every look. */
const clocks: readonly (readonly [what: string, clock: () => () => number])[] = [
  ["stands still", () => () => 0],
  ["jumps back and forth", () => alternating([0, 5_000, -5_000, 3])],
  ["runs ahead", () => alternating(Array.from({ length: 10_000 }, (_, n) => n * 3_600_000))],
];

describe.each(clocks)("executeStatement while the clock %s", (_clock, clockOf) => {
  it.each(crowds)("sends every row of %s", (_what, sql, rows) => {
    expect(executed(sql, [1], { credits: 10_000, nowMs: clockOf() }).ok).toBe(true);
    expect(rowsOf(messages).reduce((sum, more) => sum + more, 0)).toBe(rows);
  });
});

describe("listObjects", () => {
  const wide = Array.from({ length: 900 }, (_, index) => `c${index} integer`).join(", ");
  const tables = [1, 2, 3, 4].map((index) => `listed.w${index}`);
  beforeAll(() => {
    const made = [
      "create schema listed",
      ...tables.map((name) => `create table ${name} (${wide})`),
    ];
    const failure = using((connection) => connection.runAll(made));
    if (failure !== undefined) throw new Error(failure.message);
  });

  it("sends tables with their columns in messages of some thousand entries", () => {
    const { answer, groups } = listed("columns", 200_000);
    expect(answer).toEqual({ ok: true, value: true });
    const found = groups.flat().filter(({ schema }) => schema === "listed");
    expect(found.map(({ name }) => `listed.${name}`).toSorted()).toEqual(tables);
    expect(found[0]?.columns).toHaveLength(900);
    expect(found[0]?.columns?.[899]).toMatchObject({ name: "c899", typeName: "INTEGER" });
    expect(groups.length).toBeGreaterThan(1);
  });

  it("names tables without their columns", () => {
    const found = listed("tables", 200_000).groups.flat();
    expect(found.find(({ name }) => name === "w1")).toMatchObject({ schema: "listed" });
    expect(found.filter(({ columns }) => columns !== undefined)).toEqual([]);
  });

  it("ends at its limit, with whole tables, and says so", () => {
    const { answer, groups } = listed("columns", 2_000);
    expect(answer).toEqual({ ok: true, value: false });
    const entries = groups.flat().map(({ columns = [] }) => 1 + columns.length);
    expect(entries.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(2_000);
    expect(entries.length).toBeGreaterThan(0);
  });

  it("answers the columns of single tables, and nothing for one that is not there", () => {
    const names = ["w1", "nowhere"].map((name) => ({ catalog: "memory", schema: "listed", name }));
    const request = { database, before: [], tables: names };
    const found = using((connection, tools) => tableSchemas(connection, request, tools));
    const [there, missing] = found.ok ? found.value : [];
    expect(missing).toBeUndefined();
    const columns = there === undefined ? [] : readSchemaMessage(there);
    expect(columns[0]).toMatchObject({ name: "c0", type: { kind: "integer", bits: 32 } });
  });
});

describe("describeStatement", () => {
  it("names columns and parameters and runs nothing", () => {
    const found = using((connection, tools) =>
      describeStatement(
        connection,
        requestOf("insert into t values ($1) returning a as b", [2]),
        tools,
      ),
    );
    expect(found.ok && found.value.parameters).toEqual([
      { kind: "integer", bits: 32, signed: true },
    ]);
    const schema = found.ok ? found.value.schema : undefined;
    expect(schema && readSchemaMessage(schema).map(({ name }) => name)).toEqual(["b"]);
    expect(executed("select a from t", [1]).ok).toBe(true);
    expect(rowsOf(messages)).toEqual([]);
  });
});

const messages: ResultMessage[] = [];
let flushes = 0;

/** What most statements of these tests leave out. */
interface Running {
  readonly expandedType?: number;
  readonly credits?: number;
  readonly nowMs?: () => number;
}

function executed(
  sql: string,
  types: readonly number[],
  { expandedType, credits = 4, nowMs = () => 0 }: Running = {},
) {
  return using(
    (connection, tools) =>
      executeStatement(connection, requestOf(sql, types, expandedType), { ...tools, nowMs }),
    credits,
  );
}

function unionOf(branches: number): string {
  return Array.from({ length: branches }, () => "select 1").join(" union all ");
}

function alternating(values: readonly number[]): () => number {
  let looks = 0;
  return () => values[looks++ % values.length] ?? 0;
}

function using<T>(run: (connection: Connection, tools: StatementTools) => T, credits = 4): T {
  messages.length = 0;
  const block = controlBlock();
  new CancelControl(block).reset(credits);
  const structs = threadStructs();
  const unsent: ResultMessage[] = [];
  const tools: StatementTools = {
    control: new DriverControl(block),
    inspector: new Inspector(driver.library),
    structs,
    nowMs: () => 0,
    unsent,
    flush: () => {
      flushes += 1;
      messages.push(...unsent.splice(0));
    },
    memory: undefined,
    wholeMemory: undefined,
  };
  const opened = Connection.open(driver, database, structs.connection);
  if (!opened.ok) throw new Error(opened.error.message);
  const connection = opened.value;
  try {
    return run(connection, tools);
  } finally {
    connection[Symbol.dispose]();
    messages.push(...unsent);
  }
}

function listed(depth: "tables" | "columns", entriesMax: number) {
  const request = { database, before: [], depth, entriesMax };
  const answer = using((connection, tools) => listObjects(connection, request, tools), 100);
  const groups = messages.flatMap((one) => (one.kind === "tables" ? [one.tables] : []));
  return { answer, groups };
}

function requestOf(sql: string, types: readonly number[], expandedType?: number): StatementRequest {
  return { sql, parameters: [], database, before: [], expected: { types, expandedType } };
}

function rowsOf(sent: readonly ResultMessage[]): readonly number[] {
  const [schema] = sent;
  const types =
    schema?.kind === "schema" ? readSchemaMessage(schema.message).map(({ type }) => type) : [];
  return batchesOf(sent).map((message) => readBatchMessage(message, types).rows);
}

function batchesOf(sent: readonly ResultMessage[]): readonly Uint8Array<ArrayBuffer>[] {
  return sent.flatMap((one) => (one.kind === "batch" ? [one.message] : []));
}
