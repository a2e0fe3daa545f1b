/**
 * The program of a driver's thread: takes requests one by one and replies to each.
 *
 * One thread serves one request at a time. It blocks in native calls, which is why it is a thread; in a
 * process of drivers it also blocks on its line, so that nothing stands between the line and the driver.
 * It ends when the main thread ends it; everything native that must outlive it (databases, connections that
 * stay open) is held by address, on the main side or in a seat.
 */
import { readSync, writevSync } from "node:fs";
import { hrtime } from "node:process";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import { err, ok } from "@gateway/core/result.ts";
import { closeDatabase, Connection, openDatabase } from "./connection.ts";
import { DriverControl } from "../memory/control.ts";
import { handleStruct } from "../memory/abi.ts";
import { Driver, failureOf, type AdbcFailure, type AdbcResult } from "../driver.ts";
import { messageFrames, nextRequest, nextReturn } from "../frames.ts";
import { Inspector } from "./inspect.ts";
import type {
  Reply,
  Request,
  ResultMessage,
  StatementRequest,
  ConnectionStep,
  ThreadData,
  ThreadLine,
  ThreadMessage,
} from "../message.ts";
import { MessageMemory } from "../memory/messageMemory.ts";
import { allocate, release, type Address } from "../memory/native.ts";
import type { TakeMemory } from "../arrow/ipc.ts";
import { catalogNames, listObjects, tableSchemas } from "./objects.ts";
import { takeSteps } from "./steps.ts";
import { seatIn, type Seat } from "../memory/seats.ts";
import { WritableBlocks } from "../memory/sharedBlocks.ts";
import { readableWithin } from "../memory/sharedMemory.ts";
import {
  columnsOfStatement,
  describeStatement,
  executeStatement,
  type StatementTools,
} from "./statement.ts";
import { threadStructs } from "../memory/structs.ts";

const data = workerData as ThreadData;
const loaded = Driver.load(data.library, data.entrypoint);
/** The one that was used last: a thread that serves one seat needs no other. */
let last: Connection | undefined;

/** Of messages that are written to a line, one after the other, while the next one may be there already. */
const blocksMax = 2;
/** Of one request. */
let memory = new MessageMemory(blocksMax);
/** Where the gateway reads large messages; undefined where there is no such memory. */
const blocks =
  data.line?.memory && new WritableBlocks(data.line.memory.descriptor, data.line.memory.line);

const control = new DriverControl(data.control);
const tools: StatementTools = {
  control,
  inspector:
    loaded.ok && data.inspect === "duckDb" ? new Inspector(loaded.value.library) : undefined,
  structs: threadStructs(),
  // A thread has no Host; only differences within it are looked at.
  nowMs: () => Number(hrtime.bigint() / 1_000n) / 1_000,
  unsent: [],
  flush: () => {
    const messages = tools.unsent.splice(0);
    if (messages.length > 0) post(messages, messages.flatMap(buffersOf));
  },
  // What is handed over is another's.
  memory: data.line === undefined ? undefined : (bytes) => memory.take(bytes),
  wholeMemory: data.line && wholeMemory(data.line),
};

/** Memory of messages that are passed on as they are: that which the gateway has as well, where some is free. */
function wholeMemory({ descriptor }: ThreadLine): TakeMemory {
  const read = reader(descriptor);
  const returns = {
    within: (ms: number) => (readableWithin(descriptor, ms) ? nextReturn(read) : undefined),
  };
  return (bytes) => blocks?.take(bytes, returns) ?? memory.take(bytes);
}

/** What is handed over instead of copied. */
function buffersOf(result: ResultMessage): readonly ArrayBuffer[] {
  switch (result.kind) {
    case "schema":
      return [result.message];
    case "batch":
      return [result.message.buffer];
    case "tables":
      return [];
  }
}

function blockOf(buffer: ArrayBuffer): number | undefined {
  return blocks?.numberOf(buffer);
}

function post(messages: readonly ThreadMessage[], transfer: readonly ArrayBuffer[]): void {
  if (data.line === undefined) return parentPort?.postMessage(messages, [...transfer]);
  // Told of a block, the gateway may give it back at once.
  const frames = messageFrames(messages, blockOf);
  for (const message of messages) {
    const block = message.kind === "batch" ? blockOf(message.message.buffer) : undefined;
    if (block !== undefined) blocks?.sent(block);
  }
  writeAll(data.line.descriptor, frames);
  for (const message of messages) {
    if (message.kind !== "batch" || blockOf(message.message.buffer) !== undefined) continue;
    memory.giveBack(message.message);
  }
}

/** Waits until the other side has taken everything: a slow reader stops the engine here. */
function writeAll(line: number, pieces: readonly Uint8Array[]): void {
  let waiting = pieces.filter(({ length }) => length > 0);
  while (waiting.length > 0) {
    let written = writevSync(line, waiting);
    const left: Uint8Array[] = [];
    for (const piece of waiting) {
      if (written < piece.length) left.push(piece.subarray(written));
      written = Math.max(written - piece.length, 0);
    }
    waiting = left;
  }
}

function serve(request: Request, number: number): void {
  let reply: AdbcResult<Reply>;
  try {
    reply = loaded.ok ? replyTo(loaded.value, request, seatIn(data.seats, number)) : loaded;
  } catch (bug) {
    // The thread itself is sound; what failed is this request.
    reply = err(
      failureOf("bug", bug instanceof Error ? (bug.stack ?? bug.message) : "a thrown value"),
    );
  }
  // What was made for a statement that then failed is nobody's any more.
  const results = reply.ok ? tools.unsent : [];
  const transfer = results.flatMap(buffersOf);
  if (reply.ok && reply.value.kind === "described") {
    const { schema } = reply.value.described;
    if (schema !== undefined) transfer.push(schema);
  }
  post([...results, { kind: "reply", reply }], transfer);
  tools.unsent.length = 0;
  memory = new MessageMemory(blocksMax);
  blocks?.answered();
  // Behind the reply: a thread that waits for its next request collects nothing by itself.
  if (getHeapStatistics().total_heap_size > heapKeptBytes) collect();
}

/** More than a thread needs between two statements; a result of thousands of columns leaves more. */
const heapKeptBytes = 48 << 20;

let collector: (() => void) | undefined;

/** Runs V8's own collector, which Node shows only to those who ask for it. */
function collect(): void {
  if (collector === undefined) {
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as () => void;
  }
  collector();
}

function reader(descriptor: number): (into: Uint8Array) => number {
  return (into) => readSync(descriptor, into, 0, into.length, null);
}

function onReturn(block: number): void {
  blocks?.returned(block);
}

/** Until the gateway's end of the line is gone. */
function serveLine({ descriptor }: ThreadLine): void {
  const read = reader(descriptor);
  for (;;) {
    const next = nextRequest(read, onReturn);
    if (next === undefined) return;
    control.enter(next.turn);
    serve(next.request, next.seat);
  }
}

function replyTo(driver: Driver, request: Request, seat: Seat): AdbcResult<Reply> {
  const at: DriverSeat = { driver, seat };
  switch (request.kind) {
    case "openDatabase": {
      const opened = openDatabase(driver, request.database);
      if (opened.ok && request.database.ofSeat === true) {
        vacate(at);
        seat.database = opened.value.address;
      }
      return opened.ok ? ok({ kind: "opened", opened: opened.value }) : opened;
    }
    case "closeDatabase": {
      const failure = closeDatabase(driver, request.database);
      return failure === undefined ? ok({ kind: "done" }) : err(failure);
    }
    case "connect":
      return connect(at, request.database, request.before);
    case "disconnect":
      disconnect(at);
      return ok({ kind: "done" });
    case "vacate":
      vacate(at);
      return ok({ kind: "done" });
    case "runAll":
    case "begin":
    case "end":
      return onOpenConnection(at, request);
    case "execute": {
      const executed = onConnection(at, request.statement, (connection) =>
        executeStatement(connection, request.statement, tools),
      );
      return executed.ok ? ok({ kind: "executed", executed: executed.value }) : executed;
    }
    case "describe": {
      const described = onConnection(at, request.statement, (connection) =>
        request.columnsOnly === true
          ? columnsOfStatement(connection, request.statement, tools)
          : describeStatement(connection, request.statement, tools),
      );
      return described.ok ? ok({ kind: "described", described: described.value }) : described;
    }
    case "objects": {
      const listed = onConnection(at, request.objects, (connection) =>
        listObjects(connection, request.objects, tools),
      );
      return listed.ok ? ok({ kind: "listed", complete: listed.value }) : listed;
    }
    case "catalogs": {
      const named = onConnection(at, request.catalogs, (connection) =>
        catalogNames(connection, tools),
      );
      return named.ok ? ok({ kind: "catalogs", names: named.value }) : named;
    }
    case "schemas": {
      const found = onConnection(at, request.schemas, (connection) =>
        tableSchemas(connection, request.schemas, tools),
      );
      return found.ok ? ok({ kind: "schemas", schemas: found.value }) : found;
    }
  }
}

/** A seat and its driver: the seat keeps a connection open, the driver calls it. */
interface DriverSeat {
  readonly driver: Driver;
  readonly seat: Seat;
}

function connect(
  at: DriverSeat,
  database: Address,
  before: readonly ConnectionStep[],
): AdbcResult<Reply> {
  disconnect(at);
  // Not a block: the next request of this seat may be another thread's.
  const address = allocate(handleStruct.bytes);
  const opened = Connection.keep(at.driver, database, address);
  const failure = opened.ok ? bring(opened.value, before) : opened.error;
  if (failure === undefined) {
    at.seat.connection = address;
    return ok({ kind: "done" });
  }
  if (opened.ok) opened.value[Symbol.dispose]();
  release(address);
  return err(failure);
}

function disconnect(at: DriverSeat): void {
  const connection = openConnection(at);
  if (connection === undefined) return;
  at.seat.connection = 0;
  last = undefined;
  connection[Symbol.dispose]();
  release(connection.address);
}

/** Closes what the seat has open. What a driver says to that is nobody's business any more. */
function vacate(at: DriverSeat): void {
  disconnect(at);
  const { database } = at.seat;
  at.seat.database = 0;
  if (database !== 0) closeDatabase(at.driver, database);
}

/** The connection that the seat keeps. */
function openConnection({ driver, seat }: DriverSeat): Connection | undefined {
  const address = seat.connection;
  if (address === 0) return undefined;
  if (last?.address !== address) last = Connection.at(driver, address);
  return last;
}

function onOpenConnection(
  at: DriverSeat,
  request: Extract<Request, { kind: "runAll" | "begin" | "end" }>,
): AdbcResult<Reply> {
  const connection = openConnection(at);
  if (connection === undefined) return err(noConnection);
  const failure =
    request.kind === "end"
      ? connection.end(request.how)
      : request.kind === "begin"
        ? connection.begin(request.statements)
        : bring(connection, request.statements);
  return failure === undefined ? ok({ kind: "done" }) : err(failure);
}

const noConnection = failureOf("bug", "the seat keeps no connection");

function onConnection<T>(
  at: DriverSeat,
  { database, before }: Pick<StatementRequest, "database" | "before">,
  use: (connection: Connection) => AdbcResult<T>,
): AdbcResult<T> {
  if (database === undefined) {
    const connection = openConnection(at);
    if (connection === undefined) return err(noConnection);
    const failure = bring(connection, before);
    return failure === undefined ? use(connection) : err(failure);
  }
  const opened = Connection.open(at.driver, database, tools.structs.connection);
  if (!opened.ok) return opened;
  using connection = opened.value;
  const failure = bring(connection, before);
  return failure === undefined ? use(connection) : err(failure);
}

function bring(connection: Connection, steps: readonly ConnectionStep[]): AdbcFailure | undefined {
  return takeSteps(connection, steps, () => catalogNames(connection, tools));
}

// At the end of the file: it does not come back while the line lives.
if (data.line === undefined) parentPort?.on("message", (request: Request) => serve(request, 0));
else serveLine(data.line);
