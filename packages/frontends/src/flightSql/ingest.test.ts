import { create, fromBinary } from "@bufbuild/protobuf";
import { gatewayError } from "@gateway/core/error.ts";
import type { DoneEvent, ResultEvent } from "@gateway/core/query/event.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { afterEach, describe, expect, it } from "vitest";
import type { Script } from "../rig/scriptedDoor.ts";
import * as sql from "./proto/FlightSql_pb.js";
import type { FlightClient } from "./rig/client.ts";
import { openFlight, refusalOf, type OpenFlight } from "./rig/open.ts";
import { valuesOf } from "./rig/values.ts";

const { CREATE, FAIL: MISSING_FAILS } =
  sql.CommandStatementIngest_TableDefinitionOptions_TableNotExistOption;
const { APPEND, REPLACE, FAIL } =
  sql.CommandStatementIngest_TableDefinitionOptions_TableExistsOption;

const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};
const create1 = 'CREATE TABLE "s"."a""b" ("n" INTEGER)';
const insert = (rows: number): string =>
  `INSERT INTO "s"."a""b" ("n") VALUES ${Array.from({ length: rows }, (_, at) => `($${at + 1})`).join(", ")}`;

let open: OpenFlight;
afterEach(() => open.done());

describe("bulk ingestion", () => {
  it("makes its table and takes all rows in a transaction of its own", async () => {
    const ended: string[] = [];
    open = await openFlight(script(ended));
    const rows = [...valuesOf([1n, 2n]), ...valuesOf([3n]).slice(1)];
    expect(await ingested(await open.client(), [CREATE, FAIL], rows)).toBe(3n);
    expect(open.door.queries.map((query) => query.sql)).toEqual([
      "START TRANSACTION",
      create1,
      insert(2),
      insert(1),
      "COMMIT",
    ]);
    expect(open.door.queries[2]?.parameters.map(({ value }) => value)).toEqual([1n, 2n]);
    expect(ended).toEqual([]);
    const inOne = open.door.queries.slice(1).map(({ session }) => session.pin?.cluster);
    expect(inOne).toEqual(["c", "c", "c", "c"]);
  });

  it.each([
    [[CREATE, APPEND], ['CREATE TABLE IF NOT EXISTS "s"."a""b" ("n" INTEGER)']],
    [
      [CREATE, REPLACE],
      ['DROP TABLE IF EXISTS "s"."a""b"', create1],
    ],
    [
      [MISSING_FAILS, REPLACE],
      ['DROP TABLE "s"."a""b"', create1],
    ],
    [[MISSING_FAILS, APPEND], []],
  ] as const)("asked with %j runs %j before its rows", async (options, before) => {
    open = await openFlight(script([]));
    await ingested(await open.client(), options, valuesOf([1n]));
    const texts = open.door.queries.map((query) => query.sql);
    expect(texts).toEqual(["START TRANSACTION", ...before, insert(1), "COMMIT"]);
  });

  it("leaves nothing behind when a part of it is refused", async () => {
    const ended: string[] = [];
    const failed: ResultEvent = { kind: "failed", error: gatewayError("policy.denied") };
    const scripted = script(ended);
    open = await openFlight({
      ...scripted,
      answers: { ...scripted.answers, [insert(1)]: [failed] },
    });
    const rows = [...valuesOf([1n, 2n]), ...valuesOf([3n]).slice(1)];
    const refused = refusalOf(ingested(await open.client(), [CREATE, FAIL], rows));
    expect(await refused).toMatch(/^7 PERMISSION_DENIED/);
    expect(ended).toEqual(["rolled back"]);
    expect(open.door.queries.at(-1)?.sql).toBe(insert(1));
  });

  it("refuses a value with nanoseconds where the engine would round it, and takes whole microseconds", async () => {
    const ended: string[] = [];
    const scripted = script(ended);
    const made = create1.replace("INTEGER", "TIMESTAMP");
    open = await openFlight({
      ...scripted,
      dialect: "postgres",
      answers: { ...scripted.answers, [made]: [done] },
    });
    const client = await open.client();
    const type = { kind: "timestamp", unit: "ns", zoned: false } as const;
    expect(await ingested(client, [CREATE, FAIL], valuesOf([1_000n], type))).toBe(1n);
    const fine = refusalOf(ingested(client, [CREATE, FAIL], valuesOf([1_000n, 1_001n], type)));
    expect(await fine).toMatch(/^3 INVALID_ARGUMENT: The engine has microseconds/);
    expect(ended).toEqual(["rolled back"]);
    expect(open.door.queries.at(-1)?.sql).toBe(made);
  });

  it("is refused with its reason before anything runs that is not to be undone", async () => {
    const ended: string[] = [];
    open = await openFlight({ ...script(ended), dialect: "trino" });
    const client = await open.client();
    const elsewhere = refusalOf(ingested(client, [CREATE, FAIL], valuesOf([1n])));
    expect(await elsewhere).toMatch(/^12 UNIMPLEMENTED: Bulk ingestion is for DuckDB/);
    expect(ended).toEqual(["rolled back"]);
    const neither = refusalOf(ingested(client, [MISSING_FAILS, FAIL], valuesOf([1n])));
    expect(await neither).toMatch(/^3 INVALID_ARGUMENT/);
    const temporary = create(sql.CommandStatementIngestSchema, { table: "t", temporary: true });
    const put = client.put(sql.CommandStatementIngestSchema, temporary, valuesOf([1n]));
    expect(await refusalOf(put)).toMatch(/^12 UNIMPLEMENTED/);
    const unknown = refusalOf(
      ingested(client, [CREATE, FAIL], valuesOf([1n]), Buffer.from("0".repeat(32))),
    );
    expect(await unknown).toMatch(/^9 FAILED_PRECONDITION/);
    expect(open.door.queries.map((query) => query.sql)).toEqual(["START TRANSACTION"]);
  });
});

/** Answers everything; `ended` says what became of the transaction that was not committed. */
function script(ended: string[]): Script {
  const pin: Pin = {
    cluster: "c",
    group: "g",
    state: "open",
    end: async () => void ended.push("rolled back"),
  };
  const modes = {
    isolation: undefined,
    readOnly: undefined,
    deferrable: undefined,
    consistentSnapshot: false,
  };
  const inserted = (rows: number): readonly ResultEvent[] => [
    { ...done, updateType: "INSERT", updateCount: rows },
  ];
  const quiet = [
    create1,
    create1.replace("TABLE", "TABLE IF NOT EXISTS"),
    'DROP TABLE IF EXISTS "s"."a""b"',
    'DROP TABLE "s"."a""b"',
  ];
  return {
    dialect: "duckdb",
    answers: {
      "START TRANSACTION": [{ kind: "session", change: { kind: "pinned", pin, modes } }, done],
      COMMIT: [{ kind: "session", change: { kind: "unpinned", outcome: "committed" } }, done],
      ...Object.fromEntries(quiet.map((text) => [text, [done]])),
      [insert(1)]: inserted(1),
      [insert(2)]: inserted(2),
    },
  };
}

async function ingested(
  client: FlightClient,
  [ifNotExist, ifExists]: readonly [number, number],
  rows: ReturnType<typeof valuesOf>,
  transactionId?: Uint8Array,
): Promise<bigint> {
  const command = create(sql.CommandStatementIngestSchema, {
    table: 'a"b',
    schema: "s",
    tableDefinitionOptions: create(sql.CommandStatementIngest_TableDefinitionOptionsSchema, {
      ifNotExist,
      ifExists,
    }),
    ...(transactionId === undefined ? {} : { transactionId }),
  });
  const [answer = new Uint8Array(0)] = await client.put(
    sql.CommandStatementIngestSchema,
    command,
    rows,
  );
  return fromBinary(sql.DoPutUpdateResultSchema, answer).recordCount;
}
