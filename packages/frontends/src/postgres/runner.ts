/**
 * Starts statements of a connection, whoever answers them, and knows which one runs now.
 *
 * The door's statements become queries with an id; the frontend's own answers take the same events,
 * so that both are written by the same code.
 */
import type { Door } from "@gateway/core/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "./clientSession.ts";
import { encodeQueryId } from "./encode.ts";
import { Execution, type Announce, type Stop } from "./execution.ts";
import { answerLocal, type Forget } from "./localAnswer.ts";
import type { LocalStatement } from "./local.ts";
import type { Outbox } from "./outbox.ts";
import type { Statement } from "./statement.ts";

export interface RunnerParts {
  readonly door: Door;
  readonly host: Host;
  readonly session: ClientSession;
  readonly out: Outbox;
  /** Process number of the connection's cancel key. */
  readonly process: number;
  /** Drops prepared statements or portals, as DEALLOCATE and DISCARD ask. */
  forget(what: Forget): Promise<GatewayError | undefined>;
}

/** A statement with what it is run with. */
export interface Order {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  readonly formats: readonly Format[];
  /** The result as the client was told it. */
  readonly promised: readonly Column[] | undefined;
}

export class Runner {
  readonly #parts: RunnerParts;
  #current: { cancel(reason: GatewayError): void } | undefined;
  #left = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** An execution that has not begun. */
  prepare({ statement, parameters, formats, promised }: Order): Execution {
    const { door, session, out } = this.#parts;
    const { sql, kind } = statement;
    if (kind.kind === "local") {
      const start = () => this.#answer(kind.local);
      return this.#executionOf({ sql, queryId: undefined, formats, promised, start });
    }
    const query: Query = door.query(sql, parameters, session.value);
    const start = (signal: AbortSignal) => {
      encodeQueryId(query.id, session, out);
      return door.run(query, signal);
    };
    return this.#executionOf({ sql, queryId: query.id, formats, promised, start });
  }

  /** Lets an execution go on, as the one that a cancel request means. */
  async step(execution: Execution, maxRows: number, announce: Announce): Promise<Stop> {
    if (this.#left) return { kind: "failed", error: gatewayError("query.cancelled") };
    this.#current = execution;
    try {
      return await execution.step(maxRows, announce);
    } finally {
      this.#current = undefined;
    }
  }

  /** Types of a statement's parameters and columns, without running it. */
  async describe(
    sql: string,
    parameters: readonly Parameter[],
  ): Promise<Result<Description, GatewayError>> {
    if (this.#left) return err(gatewayError("query.cancelled"));
    const { door, session } = this.#parts;
    const controller = new AbortController();
    this.#current = { cancel: (reason) => controller.abort(reason) };
    try {
      return await door.describe(door.query(sql, parameters, session.value), controller.signal);
    } finally {
      this.#current = undefined;
    }
  }

  /** Ends what runs now, if anything does. */
  cancel(): void {
    this.#current?.cancel(gatewayError("query.cancelled"));
  }

  /** The client is gone: what runs ends, and nothing more begins. */
  leave(): void {
    this.#left = true;
    this.cancel();
  }

  #executionOf(plan: ConstructorParameters<typeof Execution>[0]): Execution {
    return new Execution(plan, this.#parts);
  }

  /** The frontend's own answer as events. */
  async *#answer(local: LocalStatement): ResultStream {
    const { session, process } = this.#parts;
    if (session.pin?.state === "aborted") {
      yield { kind: "failed", error: gatewayError("query.transactionAborted") };
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

const noStats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
