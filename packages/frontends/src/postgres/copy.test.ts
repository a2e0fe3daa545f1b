import { columnOf } from "@gateway/core/type/build.ts";
import type { Value } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  sync,
  type Seen,
} from "./rig/rawClient.ts";
import { readCopy } from "./read/copyStatement.ts";
import { int32, resultOf, served, text } from "./rig/served.ts";

const table = [columnOf("id", int32), columnOf("name", text)];
const rows: readonly (readonly Value[])[] = [
  [1n, 'plain "quoted", a\tb\\c\nd'],
  [2n, null],
  [null, ""],
];
const answers = {
  "select * from t": resultOf(table, ...rows),
  "SELECT * FROM t": resultOf(table, ...rows),
  'SELECT id, "n" FROM s."t"': resultOf(table, [7n, "x"]),
};

describe("COPY TO STDOUT", () => {
  it("writes tabs, backslashes and line ends as PostgreSQL's text form does", async () => {
    const { seen, data } = await copied("copy (select * from t) to stdout");
    expect(letters(seen)).toBe("SHdddcCZ");
    expect(seen[1]?.body.toString("hex")).toBe("00000200000000");
    expect(data).toBe('1\tplain "quoted", a\\tb\\\\c\\nd\n2\t\\N\n\\N\t\n');
    expect(seen.at(-2)?.body.toString()).toBe("COPY 3\0");
  });

  it.each([
    ["(format csv)", '1,"plain ""quoted"", a\tb\\c\nd"\n2,\n,""\n'],
    ["csv header", 'id,name\n1,"plain ""quoted"", a\tb\\c\nd"\n2,\n,""\n'],
    [
      "(format csv, delimiter ';', null 'NULL')",
      '1;"plain ""quoted"", a\tb\\c\nd"\n2;NULL\nNULL;\n',
    ],
    [
      "(format csv, quote '$', escape '\\', force_quote (id))",
      '$1$,$plain "quoted", a\tb\\\\c\nd$\n$2$,\n,$$\n',
    ],
    ["with csv force quote *", '"1","plain ""quoted"", a\tb\\c\nd"\n"2",\n,""\n'],
    ["(header, delimiter '|')", 'id|name\n1|plain "quoted", a\\tb\\\\c\\nd\n2|\\N\n\\N|\n'],
    ["null as ''", '1\tplain "quoted", a\\tb\\\\c\\nd\n2\t\n\t\n'],
  ])("keeps to the options %s", async (options, expected) => {
    const { data } = await copied(`COPY t TO STDOUT ${options}`);
    expect(data).toBe(expected);
  });

  it("writes the binary form: its signature, each row as it is in a result, and its end", async () => {
    const { seen, bytes } = await copied('COPY (select * from t) TO STDOUT (FORMAT "binary")');
    expect(seen[1]?.body.toString("hex")).toBe("01000200010001");
    const name = Buffer.from('plain "quoted", a\tb\\c\nd');
    const expected = Buffer.concat([
      Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"),
      Buffer.alloc(8),
      Buffer.from("0002000000040000000100000017", "hex"),
      name,
      Buffer.from("00020000000400000002ffffffff", "hex"),
      Buffer.from("0002ffffffff00000000", "hex"),
      Buffer.from("ffff", "hex"),
    ]);
    expect(bytes.toString("hex")).toBe(expected.toString("hex"));
  });

  it("gives the first row of a binary copy together with the signature, as readers expect", async () => {
    const { seen } = await copied("COPY (select * from t) TO STDOUT (FORMAT binary)");
    const first = seen.find(({ type }) => type === "d");
    expect(first?.body.length).toBeGreaterThan(19);
  });

  it("names the columns of a table, and takes them in the order asked for", async () => {
    const { data } = await copied('COPY s."t" (id, "n") TO STDOUT');
    expect(data).toBe("7\tx\n");
  });

  it("is a statement without a result in the extended protocol", async () => {
    await using server = await served({ answers, descriptions: {} });
    await using client = await RawClient.start(server.port);
    const sql = "copy (select * from t) to stdout";
    client.send(parseOf("", sql), bindOf(), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12nSHdddcCZ");
  });

  it.each([
    ["copy t from stdin", "0A000"],
    ["copy t to stdout (format parquet)", "22023"],
    ["copy t to stdout (delimiter 'ab')", "0A000"],
    ["copy t to stdout (delimiter 'a')", "22023"],
    ["copy t to stdout (quote '\"')", "0A000"],
    ["copy t to stdout (format csv, force_quote (missing))", "42P10"],
    ["copy t to stdout (format csv, format text)", "42601"],
    ["copy t to stdout (colour 'red')", "42601"],
    ["copy t to stdout (freeze)", "0A000"],
    ["copy t to stdout (format binary, delimiter ',')", "42601"],
    ["copy t to stdout (encoding 'latin1')", "0A000"],
    ["copy (insert into t values (1)) to stdout", "0A000"],
    ["copy (drop table t) to stdout", "42601"],
  ])("refuses %s with %s", async (sql, state) => {
    const { seen } = await copied(sql);
    expect(letters(seen)).toMatch(/^S?EZ$/);
    expect(fieldsOf(seen.at(-2) as Seen)["C"]).toBe(state);
  });

  it("points at the place in the client's own text", async () => {
    const { seen } = await copied("  copy ( select wrong ) to stdout");
    const sent = fieldsOf(seen.at(-2) as Seen);
    expect(sent).toMatchObject({ C: "42601", P: "9" });
  });

  it("leaves files to the engine", () => {
    expect(readCopy("copy t to '/tmp/x.csv'")).toBeUndefined();
    expect(readCopy("copy t from program 'ls'")).toBeUndefined();
    expect(readCopy("copy (select 1")).toBeUndefined();
  });

  it("writes CSV that reads back as what it was", async () => {
    const awkward = fc.string({
      unit: fc.constantFrom("a", '"', ",", "\n", "\r", "\\", ".", "é"),
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.option(awkward), fc.option(awkward)), { minLength: 1, maxLength: 5 }),
        async (cells) => {
          const two = [columnOf("a", text), columnOf("b", text)];
          const { data } = await copiedFrom(resultOf(two, ...cells));
          expect(parsedCsv(data)).toEqual(cells);
        },
      ),
      { numRuns: 25 },
    );
  });
});

async function copied(sql: string) {
  await using server = await served({ answers });
  return await ask(server.port, sql);
}

async function copiedFrom(answer: ReturnType<typeof resultOf>) {
  await using server = await served({ answers: { "select x": answer } });
  return await ask(server.port, "copy (select x) to stdout csv");
}

async function ask(port: number, sql: string) {
  await using client = await RawClient.start(port);
  client.send(queryOf(sql));
  const seen = await client.until("Z");
  const bytes = Buffer.concat(seen.filter(({ type }) => type === "d").map(({ body }) => body));
  return { seen, bytes, data: bytes.toString() };
}

/** A strict reader of CSV that tells NULL from the empty string. */
function parsedCsv(data: string): (string | null)[][] {
  const lines: (string | null)[][] = [];
  let cells: (string | null)[] = [];
  for (let at = 0; at < data.length;) {
    const match = /"((?:[^"]|"")*)"|([^",\n\r]*)/y;
    match.lastIndex = at;
    const found = match.exec(data);
    if (found === null) throw new Error("not CSV");
    const quoted = found[1]?.replaceAll('""', '"');
    cells.push(quoted ?? (found[2] === "" ? null : (found[2] ?? null)));
    at = match.lastIndex;
    const end = data.charAt(at);
    at += 1;
    if (end === ",") continue;
    if (end !== "\n") throw new Error("not CSV");
    lines.push(cells);
    cells = [];
  }
  return lines;
}
