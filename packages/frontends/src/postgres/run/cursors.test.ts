import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import {
  bindOf,
  cellsOf,
  describeOf,
  executeOf,
  fieldsOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  rawCellsOf,
  sync,
  type Seen,
} from "../rig/rawClient.ts";
import { column, doneOf, resultOf, served } from "../rig/served.ts";
import { transactional } from "../rig/transaction.ts";

const numbers = Array.from({ length: 10 }, (_, index) => [BigInt(index)]);
const ten = resultOf(column("n"), ...numbers);

/** A result in batches of one row. */
async function* slowly(): ResultStream {
  yield { kind: "columns", columns: column("n") };
  for (const row of numbers) yield { kind: "batch", batch: batchOf(column("n"), [row]) };
  yield doneOf();
}

const answers = transactional({
  "select ten": ten,
  "select slowly": slowly,
  "select opaque": ten,
  "select 1": resultOf(column("n"), [1n]),
  "update t": [doneOf("UPDATE", 2)],
});
const known = { parameters: [], columns: column("n") };
const descriptions = {
  "select ten": known,
  "select slowly": known,
  "select 1": known,
  "update t": { parameters: [], columns: [] },
};
const script = { answers, descriptions };
const opaque = { ok: false, error: gatewayError("query.unsupported") } as const;

describe("cursors", () => {
  it("give their rows piece by piece, with a description each time", async () => {
    await using client = await begun();
    expect(letters(await ask(client, "declare c cursor for select ten"))).toBe("CZ");
    const first = await ask(client, "fetch 3 from c");
    expect(letters(first)).toBe("TSDDDCZ");
    expect(tagOf(first)).toBe("FETCH 3");
    expect(valuesOf(await ask(client, "fetch next in c"))).toEqual(["3"]);
    expect(valuesOf(await ask(client, "fetch c"))).toEqual(["4"]);
    const moved = await ask(client, "move forward 2 from c");
    expect(letters(moved)).toBe("CZ");
    expect(tagOf(moved)).toBe("MOVE 2");
    const rest = await ask(client, "fetch all from c");
    expect(valuesOf(rest)).toEqual(["7", "8", "9"]);
    const none = await ask(client, "fetch forward all from c");
    expect(letters(none)).toBe("TCZ");
    expect(tagOf(none)).toBe("FETCH 0");
    expect(tagOf(await ask(client, "close c"))).toBe("CLOSE CURSOR");
    expect(errorOf(await ask(client, "fetch 1 from c"))).toMatchObject({ C: "34000" });
  });

  it("let other statements of the transaction run between two fetches", async () => {
    await using client = await begun();
    await ask(client, "declare c cursor for select slowly");
    expect(valuesOf(await ask(client, "fetch 2 from c"))).toEqual(["0", "1"]);
    expect(tagOf(await ask(client, "update t"))).toBe("UPDATE 2");
    expect(valuesOf(await ask(client, "fetch 3 from c"))).toEqual(["2", "3", "4"]);
    await ask(client, "declare d no scroll cursor without hold for select ten");
    expect(valuesOf(await ask(client, "fetch 1 from d"))).toEqual(["0"]);
    expect(valuesOf(await ask(client, "fetch all from c"))).toEqual(["5", "6", "7", "8", "9"]);
    expect(valuesOf(await ask(client, "fetch 2 from d"))).toEqual(["1", "2"]);
    expect(tagOf(await ask(client, "commit"))).toBe("COMMIT");
  });

  it("end with their transaction, and may be declared in one message with their fetch", async () => {
    await using client = await begun();
    await ask(client, "declare c cursor for select ten");
    await ask(client, "fetch 1 from c");
    await ask(client, "rollback");
    await ask(client, "begin");
    expect(errorOf(await ask(client, "fetch 1 from c"))).toMatchObject({ C: "34000" });
    await ask(client, "rollback");
    const whole = await ask(client, "declare c cursor for select ten; fetch 2 from c");
    expect(valuesOf(whole)).toEqual(["0", "1"]);
    expect(whole.at(-1)?.body.toString()).toBe("I");
  });

  it("come in binary when declared so", async () => {
    await using client = await begun();
    await ask(client, "declare c binary cursor for select ten");
    const seen = await ask(client, "fetch 1 from c");
    const row = seen.find(({ type }) => type === "D");
    expect(rawCellsOf(row as Seen)[0]).toEqual(Buffer.from([0, 0, 0, 0]));
  });

  it("are reached by the extended protocol, in the format each Bind asks for", async () => {
    await using client = await begun();
    client.send(parseOf("", "declare c cursor for select ten"), bindOf(), executeOf(), sync);
    expect(letters(await client.until("Z"))).toBe("12CZ");
    client.send(describeOf("P", "c"), sync);
    expect(letters(await client.until("Z"))).toBe("TZ");
    const formats = [0, 1, 0];
    const cells: unknown[] = [];
    for (const format of formats) {
      const steps = [bindOf({ resultFormats: [format] }), describeOf("P"), executeOf()];
      client.send(parseOf("", "fetch 2 from c"), ...steps, sync);
      const seen = await client.until("Z");
      expect(letters(seen).replace("S", "")).toBe("12TDDCZ");
      cells.push(...seen.filter(({ type }) => type === "D").map((row) => rawCellsOf(row)[0]));
    }
    const binary = [2, 3].map((value) => Buffer.from([0, 0, 0, value]));
    expect(cells).toEqual([
      Buffer.from("0"),
      Buffer.from("1"),
      ...binary,
      ...["4", "5"].map((digit) => Buffer.from(digit)),
    ]);
  });

  it("may have their fetch prepared before they are declared", async () => {
    await using client = await begun();
    client.send(parseOf("f", "fetch 2 from c"), describeOf("S", "f"), sync);
    expect(letters(await client.until("Z"))).toBe("1tnZ");
    await ask(client, "declare c cursor for select ten");
    client.send(bindOf({ statement: "f" }), describeOf("P"), executeOf(), sync);
    expect(letters(await client.until("Z")).replace("S", "")).toBe("2TDDCZ");
  });

  it.each([
    ["declare c scroll cursor for select ten", "0A000"],
    ["declare c cursor with hold for select ten", "0A000"],
    ["declare c cursor for select wrong", "42601"],
    ["fetch prior from held", "55000"],
    ["fetch backward 2 from held", "55000"],
    ["fetch -1 from held", "55000"],
    ["fetch last from held", "55000"],
    ["move absolute 3 in held", "55000"],
    ["fetch 0 from held", "55000"],
    ["fetch sideways 3 from held", "42601"],
    ["close other", "34000"],
    ["declare held cursor for select ten", "42P03"],
  ])("refuse %s with %s and fail the transaction", async (sql, state) => {
    await using client = await begun();
    await ask(client, "declare held cursor for select ten");
    await ask(client, "fetch 1 from held");
    const seen = await ask(client, sql);
    expect(errorOf(seen)).toMatchObject({ C: state });
    expect(seen.at(-1)?.body.toString()).toBe("E");
  });

  it("begin at once where the engine can not describe the query", async () => {
    const scripted = scriptedDoor(script);
    const told: Door["describe"] = async (query, signal) =>
      query.sql === "select opaque" ? opaque : await scripted.describe(query, signal);
    await using server = await served(script, {}, { describe: told });
    await using client = await RawClient.start(server.port);
    await ask(client, "begin");
    await ask(client, "declare c cursor for select opaque");
    client.send(describeOf("P", "c"), sync);
    expect(letters(await client.until("Z"))).toBe("TZ");
    expect(tagOf(await ask(client, "update t"))).toBe("UPDATE 2");
    expect(valuesOf(await ask(client, "fetch 2 from c"))).toEqual(["0", "1"]);
  });

  it("need a transaction", async () => {
    await using client = await begun();
    await ask(client, "commit");
    const seen = await ask(client, "declare c cursor for select ten");
    expect(errorOf(seen)).toMatchObject({ C: "25P01" });
  });
});

describe("a portal of a statement without rows", () => {
  it("is not fetched from, and one that drops all portals does not wait for itself", async () => {
    await using client = await begun();
    await ask(client, "ROLLBACK");
    for (const sql of [
      "discard all",
      "close all",
      "copy (select ten) to stdout",
      "fetch 1 from c",
    ]) {
      client.send(parseOf("", sql), bindOf({ portal: "c" }), queryOf("fetch all from c"));
      expect(errorOf(await client.until("Z"))).toMatchObject({ C: "55000" });
      await ask(client, "close c");
    }
    client.send(parseOf("", "show timezone"), bindOf({ portal: "c" }), queryOf("fetch all from c"));
    expect(letters(await client.until("Z"))).toBe("12TDCZ");
  });
});

describe("two portals of one transaction", () => {
  it("are read in turns, each in its own format", async () => {
    await using client = await begun();
    client.send(
      parseOf("", "select slowly"),
      bindOf({ portal: "a", resultFormats: [1] }),
      bindOf({ portal: "b" }),
    );
    const turns = ["a", "b", "a", "b", "b"].map((portal) => executeOf(portal, 3));
    client.send(...turns, executeOf("a"), sync);
    const seen = await client.until("Z");
    expect(letters(seen)).toBe("122SDDDsSDDDsDDDsDDDsDDDsDDDDCZ");
    const cells = seen.filter(({ type }) => type === "D").map((row) => rawCellsOf(row)[0]);
    const ofA = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((value) => Buffer.from([0, 0, 0, value]));
    expect(cells.filter((cell) => cell?.length === 4)).toEqual(ofA);
    expect(cells.filter((cell) => cell?.length === 1).join("")).toBe("012345678");
  });
});

async function begun(): Promise<RawClient & AsyncDisposable> {
  const server = await served(script);
  const client = await RawClient.start(server.port);
  const close = client[Symbol.asyncDispose].bind(client);
  client[Symbol.asyncDispose] = async () => {
    await close();
    await server[Symbol.asyncDispose]();
  };
  await ask(client, "BEGIN");
  return client;
}

async function ask(client: RawClient, sql: string): Promise<readonly Seen[]> {
  // The script knows the words of a transaction in capitals.
  client.send(queryOf(/^(begin|commit|rollback)$/.test(sql) ? sql.toUpperCase() : sql));
  return await client.until("Z");
}

function valuesOf(seen: readonly Seen[]) {
  return seen.filter(({ type }) => type === "D").map((row) => cellsOf(row)[0]);
}

function tagOf(seen: readonly Seen[]): string | undefined {
  return seen
    .findLast(({ type }) => type === "C")
    ?.body.toString()
    .slice(0, -1);
}

function errorOf(seen: readonly Seen[]) {
  const error = seen.find(({ type }) => type === "E");
  return error === undefined ? undefined : fieldsOf(error);
}
