/** A page is JSON, whatever its layout: the rows of pages written anew by somebody else are compared. */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { Value } from "@gateway/core/type/type.ts";
import { readClientPage } from "@gateway/wire/trino/clientPage.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnsOf } from "./columns.ts";
import { RowReader } from "./rows.ts";

/** JSON before it is written: numbers are their digits, because no double holds them. */
type Json = null | boolean | string | { readonly number: string } | readonly Json[] | Members;
interface Members {
  readonly members: readonly (readonly [string, Json])[];
}

const digits = (max: number) =>
  fc.integer({ min: -max, max }).map((value) => ({ number: `${value}` }));
const bigint = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => ({ number: `${value}` }));
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => {
  const [whole = "", exponent = "0"] = value.toExponential().split("e");
  return { number: `${whole.includes(".") ? whole : `${whole}.0`}E${Number(exponent)}` };
});
const varchar = fc.string({ unit: "binary", maxLength: 80 });
const list = fc.array(fc.option(bigint), { maxLength: 4 });
const date = fc
  .date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((value) => value.toISOString());

/** Column types of Trino and what its pages hold of them. */
const kinds: readonly (readonly [string, fc.Arbitrary<Json>])[] = [
  ["bigint", bigint],
  ["tinyint", digits(127)],
  ["double", double],
  ["real", digits(1_000)],
  ["decimal(12,2)", digits(1e9).map(({ number }) => `${number}.25`)],
  ["boolean", fc.boolean()],
  ["varchar", varchar],
  ["json", fc.jsonValue().map((value) => JSON.stringify(value))],
  ["varbinary", fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"))],
  ["uuid", fc.uuid()],
  ["date", date.map((text) => text.slice(0, 10))],
  ["timestamp(3)", date.map((text) => text.slice(0, 23).replace("T", " "))],
  ["timestamp(1)", date.map((text) => text.slice(0, 21).replace("T", " "))],
  ["timestamp(3) with time zone", date.map((text) => `${text.slice(0, 23).replace("T", " ")} UTC`)],
];
const nestedKinds: readonly (readonly [string, fc.Arbitrary<Json>])[] = [
  ["array(bigint)", list],
  [
    "map(varchar,bigint)",
    fc.uniqueArray(varchar).map((keys) => ({
      members: keys.map((key, index) => [key, { number: `${index}` }] as const),
    })),
  ],
  ["row(a double, b varchar, c array(bigint))", fc.tuple(double, varchar, list)],
];

const rowsOf = (known: typeof kinds) =>
  fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 6 }).chain((columns) =>
    fc
      .array(fc.tuple(...columns.map(([, cell]) => fc.option(cell))), {
        minLength: 1,
        maxLength: 20,
      })
      .map((data) =>
        pageOf(
          columns.map(([type]) => type),
          data,
        ),
      ),
  );
const pages = fc.oneof(rowsOf(kinds), rowsOf([...kinds, ...nestedKinds]));
/** Choices of the writer, used in turn. */
const choices = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 50 });

describe("a page in another layout", () => {
  it("has the same rows, in the same texts", () => {
    fc.assert(
      fc.property(pages, choices, (made, turns) => {
        expect(readPage(written(made, turns))).toEqual(readPage(compact(made)));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["bigint", ["1e2", "1E+2", "100.0", "10000e-2", "100.00e0"], 100n],
    ["bigint", ["-0", "0e9", "-0.0", "0.000E-7"], 0n],
    ["bigint", ["9223372036854775807.0", "922337203685477580.7e1"], 2n ** 63n - 1n],
    ["double", ["1.50", "15e-1", "0.15E+1", "1.500000000000000000000000000"], 1.5],
    ["double", ["0.0000001", "1E-7", "0.00000010"], 1e-7],
    ["double", [`1${"0".repeat(22)}`, "1e22"], 1e22],
    ["decimal(12,2)", ["1.5", "15e-1", "0.15E1", "1.50000"], 150n],
    ["array(bigint)", ["[1e2]", "[ 100.0 ]", "[ 1E+2\n]"], [100n]],
    ["map(varchar,bigint)", ['{"a":1e2}', '{ "a" : 100 }'], [["a", 100n]]],
  ])("reads a %s in each of %j", (type, cells, value) => {
    const text = cells.map((cell) => `[${cell}]`).join();
    const columns = JSON.stringify([{ name: "c", type }]);
    const read = readPage(`{"id":"q","columns":${columns},"data":[${text}]}`);
    expect(read.rows).toEqual(cells.map(() => [value]));
    expect(new Set(read.texts.flat()).size).toBeLessThanOrEqual(1);
  });

  it.each(["1.5", "1e-1", "1e999999999", ".5", "1.", "1e", "0x1", "1e2e2", "+1", "--1", "1-"])(
    "refuses %s as a bigint",
    (cell) => {
      const text = `{"id":"q","columns":[{"name":"c","type":"bigint"}],"data":[[${cell}]]}`;
      expect(() => readPage(text)).toThrow("engine.broken");
    },
  );
});

function pageOf(types: readonly string[], data: readonly (readonly Json[])[]): Members {
  const columns = types.map((type, index) => membersOf({ name: `c${index}`, type }));
  const stats = membersOf({ state: "RUNNING", nodes: { number: "1" } });
  const more = { ["x".repeat(100)]: "y", warnings: [] };
  return membersOf({ id: "q", nextUri: "http://a/b", columns, data, stats, ...more });
}

function membersOf(record: Readonly<Record<string, Json>>): Members {
  return { members: Object.entries(record) };
}

function readPage(text: string) {
  const bytes = new Uint8Array(Buffer.from(text));
  const read = readClientPage(bytes);
  const columns = read && columnsOf(read, bytes);
  if (read?.data === undefined || columns === undefined) throw new Error("no page with rows");
  const batch = new RowReader(columns, false).read(bytes, read.data);
  if (!batch.ok) throw new Error(batch.error.code);
  const { rows, columns: vectors } = columnarOf(batch.value);
  const values = Array.from({ length: rows }, (_, row): readonly Value[] =>
    vectors.map((vector) => valueAt(vector, row)),
  );
  const texts: (string | null)[] = [];
  if (batch.value.form === "text") {
    const { starts, lengths, bytes: cells } = batch.value;
    for (const [cell, length] of lengths.entries()) {
      const start = starts[cell] ?? 0;
      texts.push(length < 0 ? null : Buffer.from(cells.subarray(start, start + length)).toString());
    }
  }
  return { id: read.id, nextUri: read.nextUri, form: batch.value.form, rows: values, texts };
}

function compact(json: Json): string {
  if (json === null || typeof json === "boolean") return `${json}`;
  if (typeof json === "string") return JSON.stringify(json);
  if ("number" in json) return json.number;
  if (!("members" in json)) return `[${json.map(compact).join()}]`;
  return `{${json.members.map(([key, value]) => `${JSON.stringify(key)}:${compact(value)}`).join()}}`;
}

const blanks = ["", "", " ", "\n", "\t\r\n  "];

/** The same JSON with blanks, escapes, an order of members and spellings of numbers of its own. */
function written(page: Members, turns: readonly number[]): string {
  let turn = 0;
  const next = (): number => turns[turn++ % turns.length] ?? 0;
  const blank = (): string => blanks[next() % blanks.length] ?? "";
  const between = (parts: readonly string[]): string =>
    parts.map((part) => blank() + part + blank()).join();
  const string = (text: string): string =>
    JSON.stringify(text).replace(/\\u[0-9a-f]{4}|\\.|[^"\\]/gu, (unit) =>
      unit.startsWith("\\") || next() % 3 > 0 ? unit : escapesOf(unit),
    );
  const write = (json: Json): string => {
    if (json === null || typeof json === "boolean") return `${json}`;
    if (typeof json === "string") return string(json);
    if ("number" in json) return spelled(json.number, next());
    if (!("members" in json)) return `[${json.length === 0 ? blank() : between(json.map(write))}]`;
    return `{${between(json.members.map(([key, value]) => `${string(key)}${blank()}:${blank()}${write(value)}`))}}`;
  };
  const from = next() % page.members.length;
  const members = [...page.members.slice(from), ...page.members.slice(0, from)];
  return (next() % 2 === 0 ? "\ufeff" : "") + blank() + write({ members }) + blank();
}

function escapesOf(unit: string): string {
  // A pair is two of them: half of one is no UTF-8.
  const units = Array.from({ length: unit.length }, (_, index) => unit.charCodeAt(index));
  return units.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
}

/** Another spelling of the same number. */
function spelled(number: string, choice: number): string {
  const [, mantissa = "", power = "0"] = /^([^E]*)(?:E(.*))?$/.exec(number) ?? [];
  const pointed = mantissa.includes(".") ? `${mantissa}0` : `${mantissa}.0`;
  const bare = mantissa.replace(".", "");
  const fraction = mantissa.length - bare.length === 0 ? 0 : (mantissa.split(".")[1] ?? "").length;
  const exponent = Number(power);
  const plus = exponent < 0 ? `${exponent}` : `+${exponent}`;
  const spellings = [number, `${pointed}e${exponent}`, `${pointed}E${plus}`];
  // No zero stands before other digits in JSON.
  const shifted = `${bare.replace(/^(-?)0+(?=\d)/, "$1")}0e${exponent - fraction - 1}`;
  return [...spellings, shifted][choice % 4] ?? number;
}
