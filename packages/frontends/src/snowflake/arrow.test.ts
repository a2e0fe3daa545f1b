/** Results as Arrow, by hand; `test/real/snowflakePython.test.ts` has a driver read them. */
import { tableFromIPC } from "apache-arrow";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { batchOf, columnOf, vectorOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { opened } from "./rig/server.ts";

const stats = { queueMs: 0, executionMs: 0, rows: 1, bytes: 8 };
const python = { CLIENT_APP_ID: "PythonConnector", CLIENT_APP_VERSION: "4.8.1" };
const query = "/queries/v1/query-request?requestId=r1";

describe("rows as Arrow", () => {
  it("have the types and the metadata that drivers read them by, and every cell exactly", async () => {
    const columns: readonly (readonly [Column, Value, unknown, string])[] = [
      [columnOf("b", { kind: "boolean" }), true, true, "BOOLEAN"],
      [columnOf("i8", { kind: "integer", bits: 8, signed: true }), -128n, -128, "FIXED"],
      [
        columnOf("i64", { kind: "integer", bits: 64, signed: true }),
        -(2n ** 63n),
        -(2n ** 63n),
        "FIXED",
      ],
      [columnOf("u8", { kind: "integer", bits: 8, signed: false }), 255n, 255, "FIXED"],
      [
        columnOf("u32", { kind: "integer", bits: 32, signed: false }),
        2n ** 32n - 1n,
        2n ** 32n - 1n,
        "FIXED",
      ],
      [columnOf("f4", { kind: "float", bits: 32 }), 0.5, 0.5, "REAL"],
      [columnOf("f8", { kind: "float", bits: 64 }), 0.1, 0.1, "REAL"],
      [columnOf("t", { kind: "text" }), "né😀", "né😀", "TEXT"],
      [columnOf("j", { kind: "json" }), '{"a":1}', '{"a":1}', "VARIANT"],
      [columnOf("x", { kind: "binary" }), Uint8Array.of(0, 255), Uint8Array.of(0, 255), "BINARY"],
      [columnOf("tm", { kind: "time", unit: "us" }), 86_399_999_999n, 86_399_999_999n, "TIME"],
      [columnOf("ts", { kind: "timestamp", unit: "us", zoned: false }), -1n, -1n, "TIMESTAMP_NTZ"],
      [columnOf("l", { kind: "list", item: { kind: "text" } }), ["a", null], '["a",null]', "ARRAY"],
      [
        columnOf("u", { kind: "uuid" }),
        "0190163d-8694-739b-aea5-966c26f8ad91",
        "0190163d-8694-739b-aea5-966c26f8ad91",
        "TEXT",
      ],
    ];
    const head = columns.map(([column]) => column);
    const values = columns.map(([, value]) => value);
    const none = columns.map(() => null);
    const data = await asked(head, [values, none]);
    expect(data.queryResultFormat).toBe("arrow");
    expect(data.rowset).toBeUndefined();
    const table = tableFromIPC(Buffer.from(data.rowsetBase64, "base64"));
    expect(table.numRows).toBe(2);
    for (const [{ name }, , wanted, logicalType] of columns) {
      const column = table.getChild(name);
      expect([name, column?.get(0), column?.get(1)]).toEqual([name, wanted, null]);
      const { metadata } = table.schema.fields.find((field) => field.name === name) ?? {};
      expect([name, metadata?.get("logicalType")]).toEqual([name, logicalType]);
    }
  });

  it("count moments of nanoseconds in two numbers, also before 1970, and decimals without a point", async () => {
    const columns = [
      columnOf("ns", { kind: "timestamp", unit: "ns", zoned: false }),
      columnOf("us", { kind: "timestamp", unit: "us", zoned: true }),
      columnOf("d", { kind: "decimal", precision: 38, scale: 2 }),
      columnOf("wide", { kind: "integer", bits: 128, signed: true }),
    ];
    const data = await asked(columns, [[-1n, -1n, -1234n, 2n ** 100n]]);
    const table = tableFromIPC(Buffer.from(data.rowsetBase64, "base64"));
    expect(table.getChild("ns")?.get(0)?.toJSON()).toEqual({ epoch: -1n, fraction: 999_999_999 });
    expect(table.getChild("us")?.get(0)?.toJSON()).toEqual({ epoch: -1n, fraction: 999_999_000 });
    const numberAt = (name: string): bigint => {
      const words: Uint32Array = table.getChild(name)?.get(0);
      const [a = 0, b = 0, c = 0, d = 0] = words;
      const [low, high] = [BigInt(a) | (BigInt(b) << 32n), BigInt(c) | (BigInt(d) << 32n)];
      return BigInt.asIntN(128, low | (high << 64n));
    };
    expect([numberAt("d"), numberAt("wide")]).toEqual([-1234n, 2n ** 100n]);
    const scaleOf = (name: string) =>
      table.schema.fields.find((field) => field.name === name)?.metadata.get("scale");
    expect([scaleOf("ns"), scaleOf("us"), scaleOf("d"), scaleOf("wide")]).toEqual([
      "9",
      "9",
      "2",
      "0",
    ]);
  });

  it("begin with the first cell of a vector that begins elsewhere", async () => {
    const columns = [
      columnOf("b", { kind: "boolean" }),
      columnOf("t", { kind: "text" }),
      columnOf("n", { kind: "integer", bits: 16, signed: false }),
    ];
    const cells: Value[][] = [
      [true, false, null, true, false, true, true, false, true, null, true, false],
      ["a", "bb", null, "", "c", "d", "ee", "f", "g", null, "h", "i"],
      [1n, 2n, null, 4n, 5n, 6n, 7n, 8n, 9n, null, 11n, 65_535n],
    ];
    const later = columns.map(({ type }, at) => {
      const vector = vectorOf(type, cells[at] ?? []);
      return { ...vector, offset: vector.offset + 3, length: vector.length - 3 };
    });
    const rows = (cells[0]?.length ?? 0) - 3;
    const batch = { form: "columnar", rows, columns: later } as const;
    const events = [
      { kind: "columns", columns },
      { kind: "batch", batch },
      { kind: "done", stats },
    ] as const;
    const data = await answerOf(events);
    const table = tableFromIPC(Buffer.from(data.rowsetBase64, "base64"));
    const found = columns.map(({ name }) => [...(table.getChild(name) ?? [])]);
    expect(found).toEqual(
      cells.map((all) => all.slice(3).map((v) => (typeof v === "bigint" ? Number(v) : v))),
    );
  });

  it("beyond the answer are streams of their own, downloaded one by one", async () => {
    const server = await opened({ answers: { many } });
    const { token } = await server.logIn(python);
    const { data } = await server.post(query, { sqlText: "many" }, token);
    const numbers: number[] = [];
    if (data.rowsetBase64 !== "") {
      const first = tableFromIPC(Buffer.from(data.rowsetBase64, "base64"));
      for (const value of first.getChild("n") ?? []) numbers.push(Number(value));
    }
    for (const { url, rowCount } of data.chunks) {
      const table = tableFromIPC(new Uint8Array(await (await fetch(url)).arrayBuffer()));
      expect(table.numRows).toBe(rowCount);
      for (const value of table.getChild("n") ?? []) numbers.push(Number(value));
    }
    expect(numbers).toEqual(Array.from({ length: manyRows }, (_, at) => at));
  });

  it("come to drivers that want them, and in a form of their own never to others", async () => {
    const answers = { "SELECT 1": eventsOf([n], [[1n]]) };
    const server = await opened({ answers });
    const formatOf = async (data: object, parameters?: object) => {
      const { token } = await server.logIn({ ...data });
      const answer = await server.post(query, { sqlText: "SELECT 1", parameters }, token);
      return answer.data.queryResultFormat as string;
    };
    const asJson = { PYTHON_CONNECTOR_QUERY_RESULT_FORMAT: "JSON" };
    const asArrow = { GO_QUERY_RESULT_FORMAT: "ARROW" };
    expect(await formatOf(python)).toBe("arrow");
    expect(await formatOf({ ...python, SESSION_PARAMETERS: asJson })).toBe("json");
    expect(await formatOf(python, asJson)).toBe("json");
    expect(await formatOf({ CLIENT_APP_ID: "Go" })).toBe("json");
    expect(await formatOf({ CLIENT_APP_ID: "Go", SESSION_PARAMETERS: asArrow })).toBe("arrow");
    expect(await formatOf({ CLIENT_APP_ID: "JavaScript" })).toBe("json");
    expect(await formatOf({})).toBe("json");
  });

  it("are JSON where a column has numbers that no Arrow type of a driver holds, and nothing where there are no rows", async () => {
    const wide = columnOf("w", { kind: "integer", bits: 128, signed: false });
    const data = await asked([wide], [[2n ** 128n - 1n]]);
    expect(data).toMatchObject({ queryResultFormat: "json", rowset: [[`${2n ** 128n - 1n}`]] });
    const empty = await asked([n], []);
    expect(empty).toMatchObject({ queryResultFormat: "arrow", rowsetBase64: "", total: 0 });
  });
});

const n = columnOf("n", { kind: "integer", bits: 64, signed: true });
const manyRows = 700_000;

async function* many(): ResultStream {
  yield { kind: "columns", columns: [n] };
  const rows = 10_000;
  for (let from = 0; from < manyRows; from += rows) {
    const values = Array.from({ length: rows }, (_, row) => [BigInt(from + row)]);
    yield { kind: "batch", batch: batchOf([n], values) };
  }
  yield { kind: "done", stats };
}

function eventsOf(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): readonly ResultEvent[] {
  return [
    { kind: "columns", columns },
    { kind: "batch", batch: batchOf(columns, rows) },
    { kind: "done", stats },
  ];
}

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asked for
function asked(columns: readonly Column[], rows: readonly (readonly Value[])[]): Promise<any> {
  return answerOf(eventsOf(columns, rows));
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
async function answerOf(events: readonly ResultEvent[]): Promise<any> {
  const server = await opened({ answers: { "SELECT 1": events } });
  const { token } = await server.logIn(python);
  return (await server.post(query, { sqlText: "SELECT 1" }, token)).data;
}
