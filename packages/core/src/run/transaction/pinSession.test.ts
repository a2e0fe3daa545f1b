import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultStream } from "../../query/event.ts";
import { Home } from "../../query/home.ts";
import type { Pin } from "../../query/pin.ts";
import { runQuery } from "../run.ts";
import { planeOf, queryOf, type Execute, type TestPlane } from "../rig/plane.ts";

describe("a transaction under maxTransactionSecs", () => {
  it("ends a transaction at the end of its life, however busy it is, and says so once", async () => {
    const plane = planeOf({ clusters: { main: oneRow }, limits: short });
    const pin = await beginOn(plane);
    for (let second = 0; second < 90; second += 30) {
      expect((await allOf(plane, "select n", pin)).at(-1)).toBe("done");
      await plane.host.advance(30_000);
    }
    expect(plane.slots.size).toBe(0);
    expect(plane.lanes).toEqual(["begin main", "closed"]);
    const told = await allOf(plane, "commit", pin);
    expect(told).toEqual(["session unpinned", "failed query.transactionTimeout"]);
    expect(plane.host.timerCount).toBe(0);
  });

  it("lets a transaction live without a limit while it is not idle", async () => {
    const plane = planeOf({ clusters: { main: oneRow } });
    const pin = await beginOn(plane);
    for (let turn = 0; turn < 100; turn += 1) {
      await plane.host.advance(50_000);
      expect((await allOf(plane, "select n", pin)).at(-1)).toBe("done");
    }
    await pin.end();
  });

  it("ends the statement that runs at the end of a transaction's life, and tells the next one too", async () => {
    const plane = planeOf({ clusters: { main: untilAborted }, limits: short });
    const pin = await beginOn(plane);
    const running = allOf(plane, "select n", pin);
    await plane.host.advance(90_000);
    expect(await running).toEqual(["progress", "columns", "failed query.transactionTimeout"]);
    expect(plane.slots.size).toBe(0);
    const told = await allOf(plane, "select n", pin);
    expect(told).toEqual(["session unpinned", "failed query.transactionTimeout"]);
  });

  it("gives the slot back at the end of a transaction's life also where nobody reads on", async () => {
    const plane = planeOf({ clusters: { main: oneRow }, limits: short });
    const pin = await beginOn(plane);
    const unread = runQuery(queryOf("select n", { pin }), plane, new AbortController().signal);
    await unread.next();
    await unread.next();
    await plane.host.advance(90_000);
    expect(plane.slots.size).toBe(0);
    expect(plane.lanes).toEqual(["begin main", "closed"]);
    await unread.return();
  });
});

describe("a cursor in a transaction", () => {
  it("leaves its connection to other statements between two pieces, and goes on behind them", async () => {
    const plane = planeOf({ clusters: { main: twoPieces }, limits: short });
    const pin = await beginOn(plane);
    const cursor = cursorOn(plane, pin);
    for (const kind of ["progress", "columns"]) expect(await nextOf(cursor)).toBe(kind);
    expect((await allOf(plane, "select n", pin)).at(-1)).toBe("done");
    const second = cursorOn(plane, pin);
    for (const kind of ["progress", "columns"]) expect(await nextOf(second)).toBe(kind);
    await second.return();
    for (const kind of ["notice", "done"]) expect(await nextOf(cursor)).toBe(kind);
    expect((await allOf(plane, "commit", pin)).at(-1)).toBe("done");
    expect(plane.slots.size).toBe(0);
  });

  it("does not go on while another statement has the connection, and keeps it from nobody", async () => {
    const plane = planeOf({ clusters: { main: twoPieces }, limits: short });
    const pin = await beginOn(plane);
    const cursor = cursorOn(plane, pin);
    for (const kind of ["progress", "columns"]) expect(await nextOf(cursor)).toBe(kind);
    const running = runQuery(queryOf("select n", { pin }), plane, new AbortController().signal);
    for (const kind of ["progress", "columns"]) expect(await nextOf(running)).toBe(kind);
    expect(await nextOf(cursor)).toBe("query.transaction");
    // Its end frees nothing of the other's.
    expect((await allOf(plane, "select n", pin)).at(-1)).toBe("failed query.transaction");
    for (const kind of ["notice", "done"]) expect(await nextOf(running)).toBe(kind);
    await pin.end();
  });

  it("is over with its transaction", async () => {
    const plane = planeOf({ clusters: { main: twoPieces }, limits: short });
    const pin = await beginOn(plane);
    const cursor = cursorOn(plane, pin);
    for (const kind of ["progress", "columns"]) expect(await nextOf(cursor)).toBe(kind);
    expect((await allOf(plane, "commit", pin)).at(-1)).toBe("done");
    expect(plane.slots.size).toBe(0);
    expect(await nextOf(cursor)).toBe("query.transaction");
    expect(plane.host.timerCount).toBe(0);
  });
});

const short = { maxExecutionMs: undefined, maxRows: undefined, maxTransactionMs: 90_000 };

async function allOf(plane: TestPlane, sql: string, pin?: Pin): Promise<string[]> {
  const events: string[] = [];
  const stream = runQuery(queryOf(sql, { pin }), plane, new AbortController().signal);
  for await (const event of stream) {
    if (event.kind === "failed") events.push(`failed ${event.error.code}`);
    else if (event.kind === "session") events.push(`session ${event.change.kind}`);
    else events.push(event.kind);
  }
  return events;
}

async function beginOn(plane: TestPlane): Promise<Pin> {
  let pin: Pin | undefined;
  for await (const event of runQuery(queryOf("BEGIN"), plane, new AbortController().signal)) {
    if (event.kind === "session" && event.change.kind === "pinned") pin = event.change.pin;
  }
  if (pin === undefined) throw new Error("BEGIN made no pin");
  return pin;
}

/** A statement whose rows stay in a cursor. */
function cursorOn(plane: TestPlane, pin: Pin): ResultStream {
  const execution = {
    parameters: 0,
    body: new Uint8Array(),
    longData: new Map(),
    cursor: { wanted: 1 },
  };
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, execution };
  const query = { ...queryOf("select n", { pin }), mysql };
  return runQuery(query, plane, new AbortController().signal);
}

async function nextOf(events: ResultStream): Promise<string | undefined> {
  const { value } = await events.next();
  if (value === undefined) return undefined;
  return value.kind === "failed" ? value.error.code : value.kind;
}

const twoPieces: Execute = async function* (): ResultStream {
  yield { kind: "columns", columns: [] };
  yield { kind: "notice", code: "more", text: "more" };
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
};

const oneRow: Execute = async function* (): ResultStream {
  yield { kind: "columns", columns: [] };
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
};

const untilAborted: Execute = async function* (_query, signal): ResultStream {
  yield { kind: "columns", columns: [] };
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
  yield { kind: "failed", error: gatewayError("query.cancelled") };
};
