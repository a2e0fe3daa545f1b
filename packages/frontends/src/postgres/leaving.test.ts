import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import {
  cancelOf,
  cellsOf,
  fieldsOf,
  keyOf,
  letters,
  messageOf,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  type Seen,
} from "./rig/rawClient.ts";
import { aborted, column, doneOf, endless, eventually, resultOf, served } from "./rig/served.ts";

const answers = {
  "select 1": resultOf(column("n"), [1n]),
  "select endless": endless,
  endless,
};

describe("cancel and leave", () => {
  it("cancels by the key from another connection, and that one gets no answer", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(queryOf("endless"));
    await eventually(() => server.door.queries.length === 1);

    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    expect(await other.rest()).toEqual([]);
    const seen = await client.until("Z");
    expect(errorOf(seen.at(-2))).toMatchObject({ S: "ERROR", C: "57014" });
    expect(server.door.ended.length).toBe(1);

    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toBe("STDCZ");
  });

  it("cancels nothing by a wrong key", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.send(queryOf("endless"));
    await eventually(() => server.door.queries.length === 1);

    await using other = await RawClient.open(server.port);
    other.send(cancelOf({ ...key, secret: Uint8Array.of(1, 2, 3, 4) }));
    expect(await other.rest()).toEqual([]);
    expect(server.door.ended).toEqual([]);
  });

  it("ends the query of a client that leaves while it runs", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("select endless; select 1"));
    await eventually(() => server.door.queries.length === 1);
    client.destroy();
    await eventually(() => server.door.ended.length === 1);
    expect(server.door.queries.length).toBe(1);
  });

  it("notices that a client left although it had sent more before", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("endless"), queryOf("select 1"), parseOf("", "select 1"));
    await eventually(() => server.door.queries.length === 1);
    client.destroy();
    await eventually(() => server.door.ended.length === 1);
    expect(server.door.queries.length).toBe(1);
  });

  it("stops asking the engine while the client does not read", async () => {
    const columns = column("t", { kind: "text" });
    let asked = 0;
    const flood = async function* (_: unknown, signal: AbortSignal) {
      const wide = batchEventOf(columns, [["x".repeat(100_000)]]);
      yield { kind: "columns", columns } as const;
      while (!signal.aborted) {
        asked += 1;
        yield wide;
      }
      yield doneOf();
    };
    await using server = await served({ answers: { flood } });
    await using client = await RawClient.start(server.port);
    client.pause();
    client.send(queryOf("flood"));
    let before = -1;
    // The sockets' own buffers fill first; then nothing moves any more.
    await eventually(() => {
      const still = asked > 10 && asked === before;
      before = asked;
      return still;
    });
    expect(asked).toBeLessThan(500);
    expect(server.door.ended).toEqual([]);
  });

  it("frees the engine at once when a query is cancelled whose client does not read", async () => {
    const columns = column("t", { kind: "text" });
    const flood = async function* (_: unknown, signal: AbortSignal) {
      const wide = batchEventOf(columns, [["x".repeat(1_000_000)]]);
      yield { kind: "columns", columns } as const;
      while (!signal.aborted) yield wide;
      yield doneOf();
    };
    await using server = await served({ answers: { flood } });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.pause();
    client.send(queryOf("flood"));
    await eventually(() => server.door.queries.length === 1);
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    await eventually(() => server.door.ended.length > 0);
    expect(server.door.ended.length).toBe(1);
  });

  it("never shows a result as complete that a cancel cut short", async () => {
    const columns = column("t", { kind: "text" });
    // An engine that is done at the very moment, and does not notice the cancel any more.
    const last = async function* () {
      await Promise.resolve();
      yield { kind: "columns", columns } as const;
      yield batchEventOf(
        columns,
        Array.from({ length: 100 }, () => ["x".repeat(500_000)]),
      );
      yield doneOf();
    };
    await using server = await served({ answers: { last } });
    await using client = await RawClient.open(server.port);
    client.send(startupOf({ user: "ann" }));
    const key = keyOf(await client.until("Z"));
    client.pause();
    client.send(queryOf("last"));
    await eventually(() => server.door.queries.length === 1);
    await using other = await RawClient.open(server.port);
    other.send(cancelOf(key));
    await eventually(() => server.door.ended.length === 1);
    client.resume();
    const seen = await client.until("Z");
    expect(seen.filter(({ type }) => type === "D").length).toBeLessThan(100);
    expect(errorOf(seen.at(-2))).toMatchObject({ C: "57014" });
  });

  it("closes silently after Terminate", async () => {
    await using server = await served({ answers });
    await using client = await RawClient.start(server.port);
    client.send(messageOf("X"));
    expect(await client.rest()).toEqual([]);
  });

  it("says goodbye to idle clients when it drains, and lets a running query finish", async () => {
    let finish: (() => void) | undefined;
    const slow = async function* () {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      yield* resultOf(column("n"), [1n]);
    };
    await using server = await served({ answers: { ...answers, slow } });
    await using idle = await RawClient.start(server.port);
    await using busy = await RawClient.start(server.port);
    busy.send(queryOf("slow"));
    await eventually(() => finish !== undefined);

    const drained = server.frontend.drain(new AbortController().signal);
    expect(errorOf((await idle.rest())[0])).toMatchObject({ S: "FATAL", C: "57P01" });
    finish?.();
    expect(letters(await busy.until("Z"))).toBe("STDCZ");
    expect(errorOf((await busy.rest())[0])).toMatchObject({ S: "FATAL", C: "57P01" });
    await drained;
  });

  it("tells a client over the connection cap why it is not let in", async () => {
    await using server = await served({ answers }, { maxConnections: 1 });
    await using first = await RawClient.start(server.port);
    await using second = await RawClient.open(server.port);
    expect(errorOf((await second.rest())[0])).toMatchObject({ S: "FATAL", C: "53300" });
    first.send(queryOf("select 1"));
    expect(cellsOf((await first.until("Z"))[2] ?? emptyRow)).toEqual(["1"]);
  });

  it("answers a bug as such, ends the connection and serves the next one", async () => {
    const broken = async function* () {
      yield* resultOf(column("n"), [1n]).slice(0, 1);
      throw new Error("a bug of the test");
    };
    const server = await served({ answers: { ...answers, broken } });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("broken"));
    const seen = await client.rest();
    expect(errorOf(seen.at(-1))).toMatchObject({ S: "FATAL", C: "XX000" });
    expect(JSON.stringify(errorOf(seen.at(-1)))).not.toContain("a bug of the test");
    expect(server.host.log.bugs.length).toBe(1);
    await server.frontend.drain(AbortSignal.abort());
  });

  it("keeps a query running that is not cancelled", async () => {
    let signal: AbortSignal | undefined;
    const watched = async function* (_: unknown, given: AbortSignal) {
      signal = given;
      await aborted(given);
      yield doneOf();
    };
    await using server = await served({ answers: { ...answers, watched } });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("watched"));
    await eventually(() => signal !== undefined);
    expect(signal?.aborted).toBe(false);
    client.destroy();
    await eventually(() => signal?.aborted === true);
  });
});

const emptyRow: Seen = { type: "D", body: Buffer.alloc(2) };

function batchEventOf(columns: readonly Column[], rows: readonly (readonly Value[])[]) {
  return { kind: "batch", batch: batchOf(columns, rows) } as const;
}

function errorOf(message: Seen | undefined): Readonly<Record<string, string>> {
  expect(message?.type).toBe("E");
  return message === undefined ? {} : fieldsOf(message);
}
