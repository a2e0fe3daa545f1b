import { gatewayError } from "@gateway/core/error.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import {
  bindOf,
  cancelOf,
  cellsOf,
  closeOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  int32 as int32Of,
  keyOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  rawCellsOf,
  startupOf,
  sync,
  type Seen,
} from "./rawClient.ts";
import { pinOf } from "./session.suite.ts";
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
} from "./served.suite.ts";

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

describe("prepared statements and portals", () => {
  it("runs Parse, Bind, Describe, Execute and Sync in one go, asking the engine once", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select 1"), bindOf(), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12STDCZ");
    expect(server.door.queries.length).toBe(1);
  });

  it("describes a statement with true parameter and column types before anything runs", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select $1"), describeOf("S", "s"), flush);
    const seen = await client.until("T");
    expect(letters(seen)).toBe("1tT");
    expect(seen[1]?.body).toEqual(Buffer.from("000100000014", "hex"));
    expect(server.door.queries).toEqual([]);
  });

  it("describes a portal that is not executed, with the formats it was bound with", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select 1"), bindOf({ resultFormats: [1] }), describeOf("P"), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("12TZ");
    expect(seen[2]?.body.subarray(-2)).toEqual(Buffer.from([0, 1]));
    expect(server.door.queries).toEqual([]);
  });

  it("says that a statement has no result", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", "insert"),
      describeOf("S"),
      bindOf(),
      describeOf("P"),
      executeOf(),
      sync,
    );
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("1tn2nSCZ");
    client.send(parseOf("", "insert"), bindOf(), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12SnCZ");
  });

  it("keeps a named statement for many executions and an unnamed one until the next Parse", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select 1"), sync);
    await client.until("Z");
    for (let round = 0; round < 3; round += 1) {
      client.send(bindOf({ statement: "s" }), executeOf(), sync);
      expect(letters(await client.until("Z"))).toBe("2SDCZ");
    }
    client.send(parseOf("s", "select 1"), sync);
    expect(await errorAfter(client)).toMatchObject({ C: "42P05" });
    client.send(closeOf("S", "s"), closeOf("S", "s"), bindOf({ statement: "s" }), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("33EZ");
    expect(fieldsOf(seen[2] ?? none)).toMatchObject({ C: "26000" });
  });

  it("stops at the row limit and goes on where it stopped", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select ten"), bindOf({ portal: "c" }), executeOf("c", 4), flush);
    expect(rowsOf(await client.until("s"))).toEqual(["0", "1", "2", "3"]);
    client.send(executeOf("c", 4), flush);
    expect(rowsOf(await client.until("s"))).toEqual(["4", "5", "6", "7"]);
    expect(server.door.ended).toEqual([]);
    client.send(executeOf("c", 4), sync);
    const last = await client.until("Z");
    expect(letters(last)).toBe("DDCZ");
    expect(last[2]?.body.toString()).toBe("SELECT 2\0");
    expect(server.door.queries.length).toBe(1);
    expect(server.door.ended.length).toBe(1);
  });

  it("asks the engine for nothing while a portal is suspended", async () => {
    let asked = 0;
    const columns = column("n");
    const counted = async function* () {
      await Promise.resolve();
      yield { kind: "columns", columns } as const;
      for (;;) {
        asked += 1;
        yield { kind: "batch", batch: batchOf(columns, [[1n]]) } as const;
      }
    };
    await using server = await served({ answers: { counted } });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "counted"), bindOf(), executeOf("", 3), flush);
    await client.until("s");
    expect(asked).toBe(3);
    client.send(sync);
    await client.until("Z");
    expect(server.door.ended.length).toBe(1);
  });

  it("suspends also at exactly the last row, as PostgreSQL does", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", "select ten"),
      bindOf(),
      executeOf("", 10),
      executeOf("", 10),
      executeOf("", 10),
      sync,
    );
    const seen = await client.until("Z");
    expect(letters(seen)).toBe(`12S${"D".repeat(10)}sCCZ`);
    expect(seen.at(-2)?.body.toString()).toBe("SELECT 0\0");
  });

  it("ends portals at Sync outside of a transaction and keeps them inside", async () => {
    const pin = pinOf();
    const script = {
      ...answers,
      begin: [{ kind: "session", change: { kind: "pinned", pin } }, doneOf("BEGIN")] as const,
      commit: [{ kind: "session", change: { kind: "unpinned" } }, doneOf("COMMIT")] as const,
    };
    await using server = await served({ answers: script });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select ten"), bindOf({ portal: "c" }), executeOf("c", 2), sync);
    await client.until("Z");
    client.send(executeOf("c", 2), sync);
    expect(await errorAfter(client)).toMatchObject({ C: "34000" });

    client.send(queryOf("begin"));
    await client.until("Z");
    client.send(parseOf("", "select ten"), bindOf({ portal: "c" }), executeOf("c", 2), sync);
    await client.until("Z");
    client.send(executeOf("c", 2), sync);
    expect(rowsOf(await client.until("Z"))).toEqual(["2", "3"]);
    const before = server.door.ended.length;
    // The end of the transaction comes only after its cursors are gone.
    client.send(parseOf("", "commit"), bindOf(), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12SCZ");
    expect(server.door.ended.length).toBe(before + 2);
  });

  it("ends a portal that nobody fetches from for too long, and says so at the next fetch", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select ten"), bindOf(), executeOf("", 1), flush);
    await client.until("s");
    await server.host.advance(300_001);
    await eventually(() => server.door.ended.length === 1);
    client.send(executeOf("", 1), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("EZ");
    expect(fieldsOf(seen[0] ?? none)).toMatchObject({ C: "57014" });
  });

  it("passes over everything behind an error up to Sync, and then goes on", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(
      parseOf("", "select 1"),
      bindOf({ statement: "missing" }),
      executeOf(),
      parseOf("x", "insert"),
      queryOf("insert"),
      sync,
      bindOf({ statement: "x" }),
      sync,
      queryOf("select 1"),
    );
    expect(letters(await client.until("Z"))).toBe("1EZ");
    // What was passed over left nothing behind.
    expect(letters(await client.until("Z"))).toBe("EZ");
    expect(letters(await client.until("Z"))).toBe("STDCZ");
    expect(server.door.queries.map(({ sql }) => sql)).toEqual(["select 1"]);
  });

  it("answers a pipeline of several series in order, each with its own end", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    const good = [parseOf("", "select 1"), bindOf(), executeOf(), sync];
    const bad = [parseOf("", "wrong"), bindOf(), executeOf(), sync];
    client.send(...good, ...bad, ...good);
    expect(letters(await client.until("Z"))).toBe("12SDCZ");
    expect(letters(await client.until("Z"))).toBe("12SEZ");
    expect(letters(await client.until("Z"))).toBe("12SDCZ");
  });

  it("answers after Flush without a Sync", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select 1"), flush);
    expect(letters(await client.until("1"))).toBe("1");
    client.send(bindOf(), describeOf("P"), flush);
    expect(letters(await client.until("T"))).toBe("2T");
    client.send(executeOf(), flush);
    expect(letters(await client.until("C"))).toBe("SDC");
  });

  it("refuses several statements in one Parse and takes an empty one", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select 1; select 1"), sync);
    expect(await errorAfter(client)).toMatchObject({ C: "42601" });
    client.send(parseOf("", " -- nothing"), bindOf(), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12nIZ");
  });

  it("cancels an execution by the key", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(parseOf("", "endless"), bindOf(), executeOf(), sync);
    await eventually(() => server.door.queries.length === 1);
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    const seen = await client.until("Z");
    expect(fieldsOf(seen.at(-2) ?? none)).toMatchObject({ C: "57014" });
  });

  it("cancels a description by the key", async () => {
    await using server = await served({ answers });
    let asked = false;
    server.door.describe = (_, signal) => {
      asked = true;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () =>
          resolve({ ok: false, error: gatewayError("query.cancelled") }),
        );
      });
    };
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(parseOf("", "select 1"), describeOf("S"), sync);
    await eventually(() => asked);
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    expect(await errorAfter(client)).toMatchObject({ C: "57014" });
  });

  it("refuses rows that differ from what the client was told, and asks anew afterwards", async () => {
    const changing = { "select 1": { parameters: [], columns: column("n", text) } };
    await using server = await served({ answers, descriptions: changing });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select 1"), describeOf("S", "s"), sync);
    await client.until("Z");
    client.send(bindOf({ statement: "s" }), executeOf(), sync);
    expect(await errorAfter(client)).toMatchObject({ C: "0A000" });
    client.send(bindOf({ statement: "s" }), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("2STDCZ");
  });

  it("forgets statements and portals by DEALLOCATE and DISCARD ALL, also from inside a portal", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select 1"), sync);
    await client.until("Z");
    client.send(queryOf("deallocate s; deallocate s"));
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("CEZ");
    expect(fieldsOf(seen[1] ?? none)).toMatchObject({ C: "26000" });

    client.send(parseOf("s", "select 1"), parseOf("", "discard all"), bindOf(), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("112CZ");
    client.send(bindOf({ statement: "s" }), sync);
    expect(await errorAfter(client)).toMatchObject({ C: "26000" });
  });

  it("limits how many names and how many bytes a client may leave", async () => {
    await using server = await served({ answers }, { maxMessageBytes: 4096 });
    await using client = await RawClient.start(server.port);
    const sql = `select 1 -- ${"x".repeat(3000)}`;
    client.send(...["a", "b", "c"].map((name) => parseOf(name, sql)), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("11EZ");
    expect(fieldsOf(seen[2] ?? none)).toMatchObject({ C: "54000" });
    client.send(closeOf("S", "a"), parseOf("c", sql), sync);
    expect(letters(await client.until("Z"))).toBe("31Z");
  });
});

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
    const { describe: ask } = server.door;
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

  it("tells the engine the types it was told, so that it can find the others", async () => {
    await using server = await served({
      answers,
      descriptions: { "f($1, $2)": { parameters: [int32, text], columns: [] } },
    });
    const asked: Query[] = [];
    const { describe: ask } = server.door;
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

async function errorAfter(client: RawClient): Promise<Readonly<Record<string, string>>> {
  const seen = await client.until("Z");
  return fieldsOf(seen.find(({ type }) => type === "E") ?? none);
}

function rowsOf(seen: readonly Seen[]): readonly (string | null)[] {
  return seen.filter(({ type }) => type === "D").map((row) => cellsOf(row)[0] ?? null);
}
