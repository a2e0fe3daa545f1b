import { columnOf } from "@gateway/core/type/build.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  int32 as int32Of,
  keyOf,
  letters,
  parseOf,
  RawClient,
  rawCellsOf,
  startupOf,
  sync,
  type Seen,
} from "../rig/rawClient.ts";
import { column, doneOf, endless, int32, int64, resultOf, served, text } from "../rig/served.ts";

const numbers = Array.from({ length: 10 }, (_, index) => [BigInt(index)]);
const answers = {
  "select 1": resultOf(column("n"), [1n]),
  "select $1": resultOf(column("n"), [1n]),
  "select ten": resultOf(column("n"), ...numbers),
  endless,
  insert: [doneOf("INSERT", 2)],
};
const descriptions = {
  "select 1": { parameters: [], columns: column("n") },
  "select $1": { parameters: [int64], columns: column("n") },
  "select ten": { parameters: [], columns: column("n") },
  insert: { parameters: [], columns: [] },
};

describe("parameters", () => {
  it("reads values by the types the client gave, text and binary beside each other", async () => {
    await using server = await served({
      answers: { "select $1, $2": resultOf(column("n"), [1n]) },
    });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", "select $1, $2", [23, 25]),
      bindOf({ formats: [1, 0], values: [int32Of(-7), "it's"] }),
      executeOf(),
      sync,
    );
    expect(letters(await client.until("Z"))).toBe("12SDCZ");
    expect(server.door.queries[0]?.parameters).toEqual([
      { type: int32, value: -7n },
      { type: text, value: "it's" },
    ]);
    expect(server.door.queries[0]?.sql).toBe("select $1, $2");
  });

  it("asks the engine for the types that the client left open, once per statement", async () => {
    await using server = await served({ answers, descriptions });
    let described = 0;
    const ask = server.door.describe.bind(server.door);
    server.door.describe = (query: Query, signal: AbortSignal) => {
      described += 1;
      return ask(query, signal);
    };
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select $1"), sync);
    await client.until("Z");
    for (const value of ["5", "6", null]) {
      client.send(bindOf({ statement: "s", values: [value] }), executeOf(), sync);
      expect(letters(await client.until("Z"))).toBe("2SDCZ");
    }
    expect(described).toBe(1);
    expect(server.door.queries.map(({ parameters }) => parameters[0])).toEqual([
      { type: int64, value: 5n },
      { type: int64, value: 6n },
      { type: int64, value: null },
    ]);
  });

  it("refuses formats of some of the values, and goes on with the next series", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select $1"), bindOf({ formats: [0, 1], values: ["1"] }), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("1EZ");
    expect(seen.filter(({ type }) => type === "E").map(fieldsOf)).toMatchObject([
      { S: "ERROR", C: "08P01", M: "bind message has 2 parameter formats but 1 parameters" },
    ]);
    client.send(parseOf("", "select 1"), bindOf(), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12SDCZ");
  });

  it("tells the engine the types it was told, so that it can find the others", async () => {
    await using server = await served({
      answers,
      descriptions: { "f($1, $2)": { parameters: [int32, text], columns: [] } },
    });
    const asked: Query[] = [];
    const ask = server.door.describe.bind(server.door);
    server.door.describe = (query: Query, signal: AbortSignal) => {
      asked.push(query);
      return ask(query, signal);
    };
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "f($1, $2)", [23]), describeOf("S"), sync);
    const seen = await client.until("Z");
    expect(seen[1]?.body).toEqual(Buffer.from("00020000001700000019", "hex"));
    expect(asked[0]?.parameters).toEqual([{ type: int32, value: null }]);
  });

  it("takes a cast beside the place for its type where the engine can not say one", async () => {
    const sql = "select $1::int[]";
    const unsaid = { [sql]: { parameters: [{ kind: "null" }], columns: column("n") } } as const;
    await using server = await served({
      answers: { [sql]: resultOf(column("n"), [1n]) },
      descriptions: unsaid,
    });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", sql),
      describeOf("S"),
      bindOf({ values: ["{1,2}"] }),
      executeOf(),
      sync,
    );
    const seen = await client.until("Z");
    expect(seen[1]?.body).toEqual(Buffer.from("0001000003ef", "hex"));
    expect(server.door.queries[0]?.parameters).toEqual([
      { type: { kind: "list", item: int32 }, value: [1n, 2n] },
    ]);
  });

  it("takes a value for text where nobody knows better", async () => {
    const unknown = {
      "select $1": { parameters: [{ kind: "null" }], columns: column("n") },
    } as const;
    await using server = await served({ answers, descriptions: unknown });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select $1"), bindOf({ values: ["5"] }), executeOf(), sync);
    await client.until("Z");
    expect(server.door.queries[0]?.parameters).toEqual([{ type: text, value: "5" }]);
  });

  it.each([
    ["too few values", { values: [] }, "08P01"],
    ["too many values", { values: ["1", "2"] }, "08P01"],
    ["a value of another type", { values: ["abc"] }, "22P02"],
    ["a binary value of the wrong size", { formats: [1], values: [int32Of(1)] }, "22P03"],
  ])("refuses %s", async (_, binding, code) => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("s", "select $1"),
      describeOf("S", "s"),
      bindOf({ statement: "s", ...binding }),
      executeOf(),
      sync,
    );
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("1tTEZ");
    expect(fieldsOf(seen[3] ?? none)).toMatchObject({ S: "ERROR", C: code });
    expect(server.door.queries).toEqual([]);
  });

  it("answers an error of the description where the statement was bound", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "wrong $1"), bindOf({ values: ["1"] }), executeOf(), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("1EZ");
    expect(fieldsOf(seen[1] ?? none)).toMatchObject({ C: "42601", P: "1" });
  });

  it("takes the largest number of parameters the protocol has", async () => {
    const sql = "select many";
    const types = Array.from({ length: 65_535 }, () => 23);
    await using server = await served({ answers: { [sql]: resultOf(column("n"), [1n]) } });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", sql, types),
      bindOf({ values: types.map(() => "7") }),
      executeOf(),
      sync,
    );
    expect(letters(await client.until("Z"))).toBe("12SDCZ");
    expect(server.door.queries[0]?.parameters.length).toBe(65_535);
  });
});

describe("result formats", () => {
  const columns = [
    columnOf("a", int32),
    columnOf("b", text),
    columnOf("c", { kind: "struct", fields: [{ name: "x", type: int32 }] }),
  ];
  const mixed = resultOf(columns, [1n, "b", [5n]]);

  it("writes each column in the format asked for", async () => {
    await using server = await served({ answers: { mixed } });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "mixed"), bindOf({ resultFormats: [1, 0, 1] }), executeOf(), sync);
    const row = (await client.until("Z")).find(({ type }) => type === "D") ?? none;
    expect(rawCellsOf(row)).toEqual([
      Buffer.from(int32Of(1)),
      Buffer.from("b"),
      Buffer.from('{"x":5}'),
    ]);
    client.send(parseOf("", "mixed"), bindOf({ resultFormats: [1] }), executeOf(), sync);
    const all = (await client.until("Z")).find(({ type }) => type === "D") ?? none;
    expect(rawCellsOf(all)[0]).toEqual(Buffer.from(int32Of(1)));
  });

  it("refuses a number of formats that does not fit the columns", async () => {
    await using server = await served({ answers: { mixed } });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "mixed"), bindOf({ resultFormats: [1, 1] }), executeOf(), sync);
    const seen = await client.until("Z");
    expect(fieldsOf(seen.at(-2) ?? none)).toMatchObject({ S: "ERROR", C: "08P01" });
    expect(server.door.ended.length).toBe(1);
  });

  it("answers its own statements in binary too", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const { process } = keyOf(await client.until("Z"));
    client.send(
      parseOf("", "select pg_backend_pid()"),
      bindOf({ resultFormats: [1] }),
      describeOf("P"),
      executeOf(),
      sync,
    );
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("12TDCZ");
    expect(rawCellsOf(seen[3] ?? none)).toEqual([Buffer.from(int32Of(process))]);
  });
});

const none: Seen = { type: "", body: Buffer.alloc(2) };
