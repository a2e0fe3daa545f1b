/**
 * One statement on a connection: looked at, bound, run, and its stream turned into messages.
 *
 * Synchronous from one end to the other, on the driver's thread. A cancel reaches it through the
 * control block: between two native calls it is seen here, inside one the driver is told by the main
 * thread.
 */
import { err, ok } from "@gateway/core/result.ts";
import { handleStruct, statusNotImplemented } from "../memory/abi.ts";
import { bindRow, type BoundRow } from "../arrow/bind.ts";
import { isPresent, readSchema, releaseSchema, type ArrowField } from "../arrow/cdata.ts";
import type { Connection } from "./connection.ts";
import type { DriverControl } from "../memory/control.ts";
import { failureOf, type AdbcFailure, type AdbcResult, type Driver } from "../driver.ts";
import { Gatherer } from "../arrow/gather.ts";
import { isArrowLayout, type TakeMemory } from "../arrow/ipc.ts";
import type { Inspector } from "./inspect.ts";
import type { Described, Executed, ResultMessage, StatementRequest } from "../message.ts";
import { countIn, type Address, type MemoryBlock } from "../memory/native.ts";
import {
  layoutsOf,
  messageOf,
  nextOf,
  releaseStream,
  streamFailure,
  streamSchema,
} from "./stream.ts";
import type { Structs } from "../memory/structs.ts";

/** What a statement is run with. */
export interface StatementTools {
  readonly control: DriverControl;
  readonly inspector: Inspector | undefined;
  readonly structs: Structs;
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Messages of the result that go with the next ones, or with the answer. */
  readonly unsent: ResultMessage[];
  /** Sends everything unsent. */
  flush(): void;
  /** Where rows are written; undefined: each message in memory of its own. */
  readonly memory: TakeMemory | undefined;
  /** The same for messages that their client takes as they are. */
  readonly wholeMemory: TakeMemory | undefined;
}

const cancelled = failureOf("cancelled", "the statement was cancelled");
const unknownLibrary = failureOf(
  "library",
  "the library is not the version this gateway was built for",
);

/** Runs a statement and sends its schema and rows; answers when the last row has been sent. */
export function executeStatement(
  connection: Connection,
  request: StatementRequest,
  tools: StatementTools,
): AdbcResult<Executed> {
  using statement = new DriverStatement(connection, tools);
  const ready = statement.prepare(request);
  if (!ready.ok) return ready;
  const bound = statement.bind(request, ready.value);
  if (bound !== undefined) return err(bound);
  return statement.run(ready.value, request);
}

/** Types of parameters and columns; nothing runs. */
export function describeStatement(
  connection: Connection,
  request: StatementRequest,
  tools: StatementTools,
): AdbcResult<Described> {
  using statement = new DriverStatement(connection, tools);
  const ready = statement.prepare(request);
  if (!ready.ok) return ready;
  return statement.describe(ready.value);
}

/** The columns that a statement has with these values; nothing runs. */
export function columnsOfStatement(
  connection: Connection,
  request: StatementRequest,
  tools: StatementTools,
): AdbcResult<Described> {
  using statement = new DriverStatement(connection, tools);
  const ready = statement.prepare(request);
  if (!ready.ok) return ready;
  const bound = statement.bind(request, ready.value);
  return bound === undefined ? statement.columns(ready.value) : err(bound);
}

/** What is known of a statement once its text was taken. */
interface Ready {
  readonly statementType: number | undefined;
  /** The prepared statement of the C API; undefined without an inspector. */
  readonly prepared: Address | undefined;
}

class DriverStatement implements Disposable {
  readonly #driver: Driver;
  readonly #connection: Connection;
  readonly #tools: StatementTools;
  readonly #control: DriverControl;
  readonly #handle: MemoryBlock;
  readonly #created: AdbcFailure | undefined;
  #bound: BoundRow | undefined;

  constructor(connection: Connection, tools: StatementTools) {
    this.#driver = connection.driver;
    this.#connection = connection;
    this.#tools = tools;
    this.#control = tools.control;
    this.#handle = tools.structs.statement;
    this.#handle.clear();
    this.#created = this.#driver.call("StatementNew", connection.address, this.#handle.address);
    if (this.#created === undefined) this.#control.begin(this.#handle.address);
  }

  /** Gives the text to the driver, after the engine's own parser was asked what it holds. */
  prepare({ sql, expected, options = [] }: StatementRequest): AdbcResult<Ready> {
    const { inspector } = this.#tools;
    if (this.#created !== undefined) return err(this.#created);
    if (this.#control.cancelled) return err(cancelled);
    for (const [key, value] of options) {
      const refused = this.#driver.call("StatementSetOption", this.#handle.address, key, value);
      if (refused !== undefined) return err({ ...refused, message: `${key}: ${refused.message}` });
    }
    if (expected === undefined || inspector === undefined) {
      const failure = this.#driver.call("StatementSetSqlQuery", this.#handle.address, sql);
      return failure === undefined
        ? ok({ statementType: undefined, prepared: undefined })
        : err(failure);
    }
    const inspected = inspector.connection(this.#connection.privateData, this.#privateData);
    if (inspected === undefined) return err(unknownLibrary);
    const counted = inspector.count(inspected, sql, expected.expandedType);
    if (!counted.ok) return counted;
    const failure = this.#driver.call("StatementSetSqlQuery", this.#handle.address, sql);
    if (failure !== undefined) return err(failure);
    const prepared = inspector.prepared(inspected, this.#privateData);
    if (prepared === undefined) return err(unknownLibrary);
    const statementType = inspector.statementType(prepared);
    if (expected.types.includes(statementType)) return ok({ statementType, prepared });
    return err(failureOf("refused", "a statement of this kind may not run"));
  }

  bind({ parameters }: StatementRequest, { prepared }: Ready): AdbcFailure | undefined {
    const { inspector } = this.#tools;
    if (prepared !== undefined && inspector !== undefined) {
      const wanted = inspector.parameterCount(prepared);
      if (wanted !== parameters.length) {
        const text = `the statement has ${wanted} parameters, ${parameters.length} were given`;
        return failureOf("parameters", text);
      }
    }
    if (parameters.length === 0) return undefined;
    // Some drivers take values of a prepared statement only, and others have no such call.
    if (prepared === undefined) {
      const failure = this.#prepareNative();
      if (failure !== undefined) return failure;
    }
    this.#bound = bindRow(parameters);
    return this.#driver.call(
      "StatementBind",
      this.#handle.address,
      this.#bound.array,
      this.#bound.schema,
    );
  }

  run(
    { statementType }: Ready,
    { rowless = false, messageBytes }: StatementRequest,
  ): AdbcResult<Executed> {
    if (this.#control.cancelled) return err(cancelled);
    const { stream, affected } = this.#tools.structs;
    stream.clear();
    affected.put(0, -1);
    const failure = this.#driver.call(
      "StatementExecuteQuery",
      this.#handle.address,
      rowless ? 0 : stream.address,
      affected.address,
    );
    if (failure !== undefined) return err(failure);
    try {
      const sent = rowless ? undefined : this.#sendStream(stream, { statementType, messageBytes });
      if (sent !== undefined) return err(sent);
    } finally {
      releaseStream(stream);
    }
    const rows = countIn(affected.view, 0);
    return ok({ rowsAffected: rows < 0 ? undefined : rows, statementType });
  }

  describe({ statementType, prepared }: Ready): AdbcResult<Described> {
    // Drivers know types only of a prepared statement.
    if (prepared === undefined) {
      const failure = this.#prepareNative();
      if (failure !== undefined) return err(failure);
    }
    const parameters = this.#parameters(prepared);
    if (!parameters.ok) return parameters;
    return this.columns({ statementType, prepared }, parameters.value);
  }

  columns(
    { statementType }: Ready,
    parameters: Described["parameters"] = [],
  ): AdbcResult<Described> {
    const columns = this.#schema("StatementExecuteSchema");
    if (!columns.ok && columns.error.status === statusNotImplemented) {
      return ok({ schema: undefined, parameters, statementType });
    }
    if (!columns.ok) {
      // Drivers refuse to name columns that depend on a parameter whose type nobody knows yet.
      if (!parameters.includes(undefined)) return columns;
      return ok({ schema: undefined, parameters, statementType });
    }
    const shape = layoutsOf(columns.value);
    if (!shape.ok) return shape;
    const schema = messageOf(columns.value, shape.value);
    return ok({ schema, parameters, statementType });
  }

  [Symbol.dispose](): void {
    if (this.#created === undefined) this.#control.end();
    this.#driver.call("StatementRelease", this.#handle.address);
    this.#bound?.[Symbol.dispose]();
  }

  #prepareNative(): AdbcFailure | undefined {
    const failure = this.#driver.call("StatementPrepare", this.#handle.address);
    return failure?.status === statusNotImplemented ? undefined : failure;
  }

  get #privateData(): Address {
    return this.#handle.pointer(handleStruct.privateData);
  }

  #parameters(prepared: Address | undefined): AdbcResult<Described["parameters"]> {
    const { inspector } = this.#tools;
    if (prepared !== undefined && inspector !== undefined)
      return ok(inspector.parameters(prepared));
    const schema = this.#schema("StatementGetParameterSchema");
    if (!schema.ok) return schema.error.status === statusNotImplemented ? ok([]) : schema;
    const shape = layoutsOf(schema.value);
    if (!shape.ok) return shape;
    return ok(shape.value.map(({ type }) => (type.kind === "null" ? undefined : type)));
  }

  #schema(
    name: "StatementExecuteSchema" | "StatementGetParameterSchema",
  ): AdbcResult<readonly ArrowField[]> {
    const { schema } = this.#tools.structs;
    schema.clear();
    const failure = this.#driver.call(name, this.#handle.address, schema.address);
    if (failure !== undefined) return err(failure);
    const { children } = readSchema(schema.address);
    releaseSchema(schema.address);
    return ok(children);
  }

  #sendStream(
    stream: MemoryBlock,
    { statementType, messageBytes }: Sending,
  ): AdbcFailure | undefined {
    const startedMs = this.#tools.nowMs();
    const fields = streamSchema(this.#driver, this.#tools.structs);
    if (!fields.ok) return fields.error;
    const shape = layoutsOf(fields.value);
    if (!shape.ok) return shape.error;
    const message = messageOf(fields.value, shape.value);
    // It travels with the first rows: a message of its own costs a small query a tenth of its time.
    this.#tools.unsent.push({ kind: "schema", message, statementType });
    const isWhole =
      messageBytes !== undefined && shape.value.every(({ type }) => isArrowLayout(type));
    using gatherer = new Gatherer(shape.value, this.#tools.structs.arrays, {
      bytesWanted: messageBytes,
      memory: isWhole ? this.#tools.wholeMemory : this.#tools.memory,
    });
    return this.#sendRows(stream, gatherer, startedMs);
  }

  #sendRows(stream: MemoryBlock, gatherer: Gatherer, startedMs: number): AdbcFailure | undefined {
    const getNext = nextOf(stream);
    let [sends, heldSinceMs] = [0, 0];
    for (;;) {
      if (this.#control.cancelled) return cancelled;
      const calledMs = this.#tools.nowMs();
      if (gatherer.rows === 0) heldSinceMs = calledMs;
      if (Number(getNext(stream.address, gatherer.next)) !== 0) {
        return streamFailure(this.#driver, stream);
      }
      const nowMs = this.#tools.nowMs();
      const last = !isPresent(gatherer.next);
      if (!last) gatherer.take();
      // No clock decides about room: behind the last place lies somebody else's memory.
      const { crowded } = gatherer;
      // Rows of a slow query are not kept waiting for more of them; those of a quick one wait for
      // its end, which is likely the next thing to come.
      const due = gatherer.full && (nowMs - startedMs > quickMs || gatherer.rows >= fewRows);
      // Late ones of a long result may be late by what a busy processor does to any call.
      const late = sends < promptSends ? nowMs - calledMs > slowMs : nowMs - heldSinceMs > lingerMs;
      const wanted = last || crowded || late || due;
      if (wanted && !this.#gathered(gatherer)) return cancelled;
      if (last) return undefined;
      if (!wanted) continue;
      this.#tools.flush();
      sends += 1;
    }
  }

  /** False when the query was cancelled while the reader was being waited for. */
  #gathered(gatherer: Gatherer): boolean {
    for (const message of gatherer.messages()) {
      if (this.#tools.unsent.length >= unsentMax) this.#tools.flush();
      if (!this.#control.takeCredit()) return false;
      this.#tools.unsent.push({ kind: "batch", message });
    }
    return true;
  }
}

/** How a result is sent. */
interface Sending extends Pick<StatementRequest, "messageBytes"> {
  readonly statementType: number | undefined;
}

/** A driver call that takes longer than this holds its rows up. */
const slowMs = 2;
/** So many times rows are sent without waiting for more; then they may wait so long, since the call was made that brought the first of them. */
const promptSends = 8;
const lingerMs = 20;
/** A result of fewer rows than this, as early as this, is expected to end with the next call. */
const fewRows = 1_000;
const quickMs = 2;
/** The schema and one batch: more are not kept back. */
const unsentMax = 2;
