/**
 * Starts the statements of a connection, whoever answers them, and knows which one runs now.
 *
 * Statements for the door become queries with an id. The frontend's own answers come as the same events, so
 * that the same code writes both.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { Answer } from "@gateway/core/query/course.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { PostgresCall, Query } from "@gateway/core/query/query.ts";
import { sentWith } from "@gateway/core/query/stages.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { mirrorValues, type SessionCatalog } from "../catalog/sessionCatalog.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { encodeQueryId } from "../encode.ts";
import { ClientCopy, type CopyInbox } from "../value/copySource.ts";
import { Execution } from "./execution/execution.ts";
import type { Order, Step, Stop } from "./execution/step.ts";
import { answerLocal, type Forget } from "../commands/localAnswer.ts";
import { ownStatement, undone } from "../commands/ownStatements.ts";
import { answeredIf, signalled } from "../commands/signalled.ts";
import type { LocalStatement, NamedValue } from "../commands/local.ts";
import { notFollowed, refusal } from "../failure.ts";
import type { Outbox } from "../outbox.ts";
import type { AsideRoom } from "./execution/rowsAside.ts";
import type { Prepared, ReadStatement } from "../read/statement.ts";
import { sendSignal, signalling, type Signaller } from "./signaller.ts";
import { nativeAmong } from "../session/settings.ts";
import { ownColumns } from "../value/ownTypes.ts";

export interface ExecutorParts extends Signaller {
  readonly door: Door;
  readonly host: Host;
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly asideRoom: AsideRoom;
  readonly catalog: SessionCatalog;
  readonly inbox: CopyInbox;
  /** What a session leaves on a connection of its own is kept there. */
  readonly keeping: () => boolean;
  readonly serverTimes: () => boolean;
  /** Every engine of the session speaks its client's protocol. */
  readonly relays: () => boolean;
  /** Drops prepared statements or portals, as DEALLOCATE and DISCARD ask. */
  forget(what: Forget): Promise<GatewayError | undefined>;
}

export class Executor {
  readonly #parts: ExecutorParts;
  #current: { cancel(reason: GatewayError): void } | undefined;
  #left = false;
  /** A cancel that came while this series, or this text, was answered. */
  #cancelled: GatewayError | undefined;
  /** An execution whose result is not read to its end, and which therefore holds the transaction's connection. */
  #reading: Execution | undefined;
  /** What was begun behind the one that is stepped. */
  begun: { cancel(reason: GatewayError): void } | undefined;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /** Makes an execution, which begins with its first step. */
  prepare({ statement, parameters, call = simpleCall, formats, promised }: Order): Execution {
    const { door, session, out, keeping } = this.#parts;
    const { kind } = statement;
    const copy = kind.kind === "copy" ? kind.form : undefined;
    if (kind.kind === "local") {
      const { sql } = statement;
      const start = (signal: AbortSignal) =>
        this.#hasConnection && session.status !== "E" && isForgetting(kind.local) && keeping()
          ? this.#forgetBoth(kind.local, statement.statement, signal)
          : this.#answer(kind.local, this.#asks(statement, kind.local) ? signal : undefined);
      return this.#executionOf({ sql, queryId: undefined, formats, promised, copy, start });
    }
    const { catalog } = this.#parts;
    if (catalog.takes(statement)) {
      const { sql } = statement;
      const start = (signal: AbortSignal) =>
        catalog.run(statement, mirrorValues(parameters), { formats, signal });
      return this.#executionOf({ sql, queryId: undefined, formats, promised, copy, start });
    }
    const ends = kind.kind === "transaction" && kind.ends;
    const asked = ends && session.refuses ? undone(statement.statement) : statement.statement;
    const { sql } = asked;
    const made: Query = door.query(asked, parameters, session.value);
    const source = statement.copies === true ? new ClientCopy(this.#parts.inbox, out) : undefined;
    const own = source === undefined ? this.#sentCall(statement, call) : { ...call, copy: source };
    // Where a session has a connection of its own, it has it from a BEGIN on.
    const begins = kind.kind === "transaction" && !kind.ends && keeping();
    const query =
      statement.relayed === true || begins
        ? sentWith(made, { takes: relayedRows, call: own })
        : made;
    const division = kind.kind === "division" ? kind.division : undefined;
    const passes = ends || division?.kind === "rollbackToSavepoint";
    const start = (signal: AbortSignal) => {
      if (session.refuses && !passes) return refusal();
      // A second BEGIN is a warning in a transaction that goes on, and an error in one that failed.
      if (session.status === "E" && kind.kind === "transaction" && !kind.ends) return refusal();
      const beyond = statement.relayed === true ? undefined : nativeAmong(session.value.settings);
      if (beyond !== undefined && kind.kind !== "transaction" && kind.kind !== "division")
        return notFollowed(beyond);
      if (statement.signal !== undefined && session.status === "E") return refusal();
      const sent = statement.signal && sendSignal(this.#parts, statement.signal, call);
      if (statement.signal && sent === true) return signalled(statement.signal);
      encodeQueryId(query.id, session, out, statement.relayed === true);
      if (statement.signal && sent instanceof Promise)
        return answeredIf(sent, statement.signal, () => door.run(query, signal));
      return door.answer?.(query, signal) ?? door.run(query, signal);
    };
    return this.#executionOf({ sql, queryId: query.id, formats, promised, copy, source, start });
  }

  /** Steps an execution. Meanwhile it is the one that a cancel request ends. */
  step(execution: Execution, wish: Step): Promise<Stop> {
    const over = this.#over;
    if (over !== undefined) return Promise.resolve({ kind: "failed", error: over });
    const busy = this.#reading !== undefined && this.#reading !== execution;
    if (busy) return this.#stepAlone(execution, wish);
    this.#current = execution;
    return execution.step(wish, this.#stepped);
  }

  /**
   * Starts the only step of an execution, of which `answered` is the rest: whoever waits for the answer in between spares
   * a promise. Undefined where it has to wait for something: then `step` does.
   */
  start(execution: Execution): ReturnType<Execution["start"]> | undefined {
    if (!this.mayBegin) return undefined;
    this.#current = execution;
    return execution.start();
  }

  answered(execution: Execution, answer: Answer, wish: Step): Stop | Promise<Stop> {
    return execution.answered(answer, wish, this.#stepped);
  }

  /** The same once the connection is free. */
  async #stepAlone(execution: Execution, wish: Step): Promise<Stop> {
    const refused = await this.#freeConnection(execution);
    if (refused !== undefined) return { kind: "failed", error: refused };
    return await this.step(execution, wish);
  }

  /** Called by the step, whose promise would otherwise have another one behind it for each statement. */
  readonly #stepped = (execution: Execution, stop: Stop | undefined): void => {
    this.#current = undefined;
    if (stop === undefined) return;
    const parked = stop.kind === "suspended" && this.#hasConnection;
    if (parked) this.#reading = execution;
    else if (this.#reading === execution) this.#reading = undefined;
    if (stop.kind === "complete") this.#parts.catalog.completed(stop.tag);
  };

  /** Types of a statement's parameters and columns, without running it. */
  async describe(
    prepared: Prepared,
    parameters: readonly Parameter[],
  ): Promise<Result<Description, GatewayError>> {
    const over = this.#over;
    if (over !== undefined) return err(over);
    const { door, session } = this.#parts;
    const { statement, relayed, types } = prepared;
    if (session.status === "E") return err(gatewayError("query.transactionAborted"));
    const refused = await this.#freeConnection(undefined);
    if (refused !== undefined) return err(refused);
    const controller = new Canceller();
    this.#current = { cancel: (reason) => controller.abort(reason) };
    try {
      const query = door.query(statement, relayed === true ? [] : parameters, session.value);
      const call = this.#sentCall(prepared, { ...simpleCall, types });
      const described = await door.describe(
        relayed === true ? { ...query, takes: relayedRows, call } : query,
        controller.signal,
      );
      if (!described.ok || relayed === true) return described;
      return ok({ ...described.value, columns: ownColumns(described.value.columns) });
    } finally {
      this.#current = undefined;
    }
  }

  /** The same for a statement over catalogs. Its parameters get the types of the answer. */
  async describeCatalog(prepared: Prepared): Promise<Result<Description, GatewayError>> {
    const controller = new Canceller();
    this.#current = { cancel: (reason) => controller.abort(reason) };
    try {
      return await this.#parts.catalog.describe(prepared, controller.signal);
    } finally {
      this.#current = undefined;
    }
  }

  /** Runs a BEGIN, COMMIT or ROLLBACK of our own, of which the client is told nothing. */
  async control(word: "BEGIN" | "COMMIT" | "ROLLBACK"): Promise<GatewayError | undefined> {
    const over = word === "BEGIN" ? this.#over : this.#whenLeft;
    if (over !== undefined) return over;
    const { door, session } = this.#parts;
    const controller = new Canceller();
    this.#current = { cancel: (reason) => controller.abort(reason) };
    try {
      for await (const event of door.run(
        door.query(ownStatement(word), [], session.value),
        controller.signal,
      )) {
        if (event.kind === "session") session.apply(event.change);
        if (event.kind === "failed") return event.error;
        if (event.kind === "done") return undefined;
      }
      return gatewayError("engine.broken");
    } finally {
      this.#current = undefined;
    }
  }

  /**
   * Ends what runs now, if anything does. `series`: and whatever its client sent behind it, because an engine may
   * be done with the one statement before it hears of the cancel.
   */
  cancel(series: boolean): void {
    const reason = gatewayError("query.cancelled");
    if (series) this.#cancelled = reason;
    this.#current?.cancel(reason);
    if (series) this.begun?.cancel(reason);
  }

  /** The cancel of the series that is answered now: nothing more of it runs or is committed. */
  get cancelled(): GatewayError | undefined {
    return this.#cancelled;
  }

  /** The series is over, and its cancel with it. */
  endSeries(): void {
    this.#cancelled = undefined;
  }

  /** The client is gone: what runs ends, and nothing more begins. */
  leave(): void {
    this.#left = true;
    this.cancel(true);
  }

  get #whenLeft(): GatewayError | undefined {
    return this.#left ? gatewayError("query.cancelled") : undefined;
  }

  /** An execution may begin behind the one that is stepped: no result is open that holds the connection. */
  get mayBegin(): boolean {
    return this.#over === undefined && this.#reading === undefined;
  }

  get #over(): GatewayError | undefined {
    return this.#whenLeft ?? this.#cancelled;
  }

  /** The session's statements run on one connection, of a transaction or its own. */
  get #hasConnection(): boolean {
    const { pin, kept } = this.#parts.session;
    return pin !== undefined || kept !== undefined;
  }

  /** There is one connection: a result that is open there is read to its end and set aside. */
  async #freeConnection(next: Execution | undefined): Promise<GatewayError | undefined> {
    const reading = this.#reading;
    if (reading === undefined || reading === next) return undefined;
    this.#reading = undefined;
    if (reading.state !== "parked" || !this.#hasConnection) return undefined;
    this.#current = reading;
    try {
      return await reading.setAside();
    } finally {
      this.#current = undefined;
    }
  }

  /** Whether the server has to hear of a setting now: to judge it, or because it would end what is open and at rest. */
  #asks({ asked }: ReadStatement, local: LocalStatement): boolean {
    if (asked === true || local.kind !== "set" || this.#parts.session.pin === undefined) {
      return asked === true;
    }
    return this.#parts.relays() && local.changes.some(({ name }) => restingLimits.test(name));
  }

  /** Asks the server whether it would take a setting, which it then forgets: the session keeps it. */
  async #judge(
    changes: readonly NamedValue[],
    signal: AbortSignal,
  ): Promise<GatewayError | undefined> {
    const { door, session } = this.#parts;
    for (const { name, value } of changes) {
      if (value === undefined) continue;
      const made = door.query(settingQuestion, [], session.value);
      const values = [name, value].map((text) => Buffer.from(text, "utf8"));
      const call = { ...simpleCall, simple: false, values };
      for await (const event of door.run({ ...made, takes: relayedRows, call }, signal)) {
        if (event.kind === "session") session.apply(event.change);
        if (event.kind === "failed") return event.error;
      }
    }
    return undefined;
  }

  /**
   * DEALLOCATE and DISCARD ALL of a session that keeps its connection: some of what they name is here, and some there.
   * A name that is not known here is the server's.
   */
  async *#forgetBoth(local: LocalStatement, sent: Statement, signal: AbortSignal): ResultStream {
    const { door, session } = this.#parts;
    const forget = (what: Forget) => this.#parts.forget(what);
    const made = door.query(sent, [], session.value);
    const server = () => door.run({ ...made, takes: relayedRows, call: simpleCall }, signal);
    if (local.kind === "deallocate" && local.name !== undefined) {
      const unknown = await forget({ kind: "statement", name: local.name });
      if (unknown === undefined) yield { kind: "done", stats: noStats, updateType: "DEALLOCATE" };
      else yield* server();
      return;
    }
    for await (const event of server()) {
      if (event.kind === "done") {
        if (local.kind === "discardAll") session.resetAll();
        await forget({ kind: local.kind === "discardAll" ? "everything" : "statements" });
      }
      yield event;
    }
  }

  /** What goes with the statement to a server of its client's protocol. */
  #sentCall({ signals }: ReadStatement, call: PostgresCall): PostgresCall {
    return signals === true ? signalling(call, this.#parts) : call;
  }

  #executionOf(plan: ConstructorParameters<typeof Execution>[0]): Execution {
    return new Execution(plan, this.#parts);
  }

  /** The frontend's own answer as events. */
  async *#answer(local: LocalStatement, asking: AbortSignal | undefined): ResultStream {
    const { session, process } = this.#parts;
    if (session.status === "E") {
      yield { kind: "failed", error: gatewayError("query.transactionAborted") };
      return;
    }
    const wrong = asking && local.kind === "set" && (await this.#judge(local.changes, asking));
    if (wrong !== undefined && wrong !== false) {
      yield { kind: "failed", error: wrong };
      return;
    }
    const answered = answerLocal(local, session, { process });
    if (!answered.ok) {
      yield { kind: "failed", error: answered.error };
      return;
    }
    const { columns, rows, tag, warning } = answered.value;
    const refused = answered.value.forget && (await this.#parts.forget(answered.value.forget));
    if (refused !== undefined) {
      yield { kind: "failed", error: refused };
      return;
    }
    if (warning !== undefined) yield { kind: "notice", code: "setLocal", text: warning };
    if (columns !== undefined) {
      yield { kind: "columns", columns };
      yield { kind: "batch", batch: batchOf(columns, rows) };
    }
    yield { kind: "done", stats: noStats, updateType: tag };
  }
}

/** Limits of a transaction that nobody asks anything of. */
const restingLimits = /^(?:idle_in_transaction_session|transaction)_timeout$/;
const relayedRows: readonly NativeFormat[] = ["postgresRows", "postgresCopy"];
const settingQuestion = readStatement("SELECT pg_catalog.set_config($1, $2, true)", "postgres");
const simpleCall: PostgresCall = {
  types: [],
  formats: [],
  values: [],
  resultFormats: [],
  simple: true,
};

function isForgetting({ kind }: LocalStatement): boolean {
  return kind === "deallocate" || kind === "discardAll";
}

const noStats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
