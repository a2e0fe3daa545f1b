import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import fc from "fast-check";
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
  keyOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  sync,
  type Seen,
} from "../rig/rawClient.ts";
import { pinOf } from "../rig/session.ts";
import {
  column,
  doneOf,
  endless,
  eventually,
  int64,
  resultOf,
  served,
  text,
} from "../rig/served.ts";

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
    await using server = await served({ answers: { "select counted": counted } });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", "select counted"), bindOf(), executeOf("", 3), flush);
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
      begin: [
        { kind: "session", change: { kind: "pinned", modes: noModes, pin } },
        doneOf("BEGIN"),
      ] as const,
      commit: [
        { kind: "session", change: { kind: "unpinned", outcome: "committed" } },
        doneOf("COMMIT"),
      ] as const,
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
    expect(await errorAfter(client)).toMatchObject({ C: "0A000", R: "RevalidateCachedQuery" });
    client.send(bindOf({ statement: "s" }), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("2STDCZ");
  });

  it("forgets statements and portals by DEALLOCATE and DISCARD ALL, also from inside a portal", async () => {
    await using server = await served({ answers, descriptions });
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

  it("stays in step through any order of sound messages", async () => {
    await using server = await served({ answers, descriptions });
    const name = fc.constantFrom("", "a");
    const message = fc.oneof(
      fc
        .tuple(name, fc.constantFrom("select 1", "select $1", "insert", "wrong", "set x.y = 1", ""))
        .map(([statement, sql]) => parseOf(statement, sql)),
      fc
        .tuple(name, name, fc.constantFrom([], ["1"]))
        .map(([portal, statement, values]) => bindOf({ portal, statement, values })),
      fc.tuple(fc.constantFrom("S" as const, "P" as const), name).map((at) => describeOf(...at)),
      fc.tuple(name, fc.nat(2)).map(([portal, rows]) => executeOf(portal, rows)),
      fc.tuple(fc.constantFrom("S" as const, "P" as const), name).map((at) => closeOf(...at)),
      fc.constantFrom(sync, flush, queryOf("select 1"), queryOf("wrong; insert")),
    );
    const inStep = fc.asyncProperty(fc.array(message, { maxLength: 25 }), async (messages) => {
      await using client = await RawClient.start(server.port);
      client.send(...messages, sync, queryOf("select ten; show timezone"));
      const seen = await client.until("Z");
      let answer = letters(seen);
      while (!answer.endsWith(`STDDDDDDDDDDCTDCZ`)) answer = letters(await client.until("Z"));
      expect(answer).toBe("STDDDDDDDDDDCTDCZ");
    });
    await fc.assert(inStep, { numRuns: 80 });
  });

  it("limits how many names and how many bytes a client may leave", async () => {
    const sql = `select 1 -- ${"x".repeat(3000)}`;
    const known = { [sql]: { parameters: [], columns: column("n") } };
    const script = { answers, descriptions: known };
    await using server = await served(script, { maxMessageBytes: 4096 });
    await using client = await RawClient.start(server.port);
    client.send(...["a", "b", "c"].map((name) => parseOf(name, sql)), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("11EZ");
    expect(fieldsOf(seen[2] ?? none)).toMatchObject({ C: "54000" });
    client.send(closeOf("S", "a"), parseOf("c", sql), sync);
    expect(letters(await client.until("Z"))).toBe("31Z");
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
