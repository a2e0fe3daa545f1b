/**
 * The answer to one series of messages, in the order in which the protocol has it. A message out of order, rows that
 * nobody asked for, or a result for another statement end the connection: nothing behind them can be believed.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { waited, type Reading } from "@gateway/core/query/course.ts";
import type { FailedEvent, ResultEvent } from "@gateway/core/query/event.ts";
import type { FrameRun } from "@gateway/wire/postgres/frame.ts";
import type { ServerField, ServerReport } from "@gateway/wire/postgres/server.ts";
import { brokenError, endsConnection } from "../errors.ts";
import type { Member, Piece } from "./member.ts";
import { endOf } from "./reading.ts";

/** What a statement is, or why it is not. `outcome`: what the simple protocol says at once. */
export type Head =
  | {
      readonly kind: "described";
      readonly fields: readonly ServerField[];
      readonly hasRows: boolean;
      readonly outcome?: Outcome;
    }
  | FailedEvent;

/** How the rows ended, or that a COPY begins. */
export type Outcome =
  | { readonly kind: "complete"; readonly tag: string }
  | { readonly kind: "copyIn"; readonly body: Uint8Array }
  | { readonly kind: "copyOut"; readonly body: Uint8Array }
  | FailedEvent;

/** Notices kept between two looks; a statement may raise millions. */
const noticesMax = 1_000;

function rowless(outcome: Outcome): Head {
  return { kind: "described", fields: [], hasRows: false, outcome };
}

export class Conversation {
  readonly member: Member;
  readonly #errorOf: (report: ServerReport) => GatewayError;
  /** The client takes part in a COPY; nobody else is asked for one. */
  readonly #copies: boolean;
  #notices: ServerReport[] = [];
  #failed: FailedEvent | undefined;

  constructor(
    member: Member,
    errorFor: (report: ServerReport) => GatewayError,
    copies: boolean = false,
  ) {
    this.member = member;
    this.#copies = copies;
    this.#errorOf = errorFor;
  }

  /** True when notices came that nobody took. */
  get noticed(): boolean {
    return this.#notices.length > 0;
  }

  /** Takes the notices that came. */
  *notices(): Generator<ResultEvent, void, unknown> {
    for (const fields of this.#notices.splice(0)) {
      const text = fields.get("M") ?? "";
      yield { kind: "notice", code: `postgres ${fields.get("C") ?? "00000"}`, text, fields };
    }
  }

  /** Waits for this message. Undefined when it came. */
  *expect(
    kind: "parseComplete" | "bindComplete" | "closeComplete" | "parameterDescription",
  ): Reading<FailedEvent | undefined> {
    const message = yield* this.#next();
    if (message?.kind === kind) return undefined;
    return this.#wrong(message);
  }

  /** Types of the parameters. */
  *parameters(): Reading<readonly number[] | FailedEvent> {
    const message = yield* this.#next();
    return message?.kind === "parameterDescription" ? message.types : this.#wrong(message);
  }

  /** The columns, or that there are none. */
  *described(): Reading<Head> {
    const message = yield* this.#next();
    if (message?.kind === "noData") return { kind: "described", fields: [], hasRows: false };
    if (message?.kind === "rowDescription")
      return { kind: "described", fields: message.fields, hasRows: true };
    return this.#wrong(message);
  }

  /** The same in the simple protocol, where a statement without columns says that it is done. */
  *answered(): Reading<Head> {
    const message = yield* this.#next();
    switch (message?.kind) {
      case "rowDescription":
        return { kind: "described", fields: message.fields, hasRows: true };
      case "commandComplete":
        return rowless({ kind: "complete", tag: message.tag });
      case "emptyQuery":
        return rowless({ kind: "complete", tag: "" });
      case "copyIn":
      case "copyOut":
        return this.#copies ? rowless(message) : this.#wrong(message);
      default:
        return this.#wrong(message);
    }
  }

  /** The next rows, or how they ended. `columns` is undefined where there are none. */
  *rows(
    columns: number | undefined,
  ): Reading<{ readonly kind: "rows"; readonly run: FrameRun } | Outcome> {
    const piece = yield* this.#nextPiece(columns);
    switch (piece?.kind) {
      case "rows":
        return piece;
      case "commandComplete":
        return { kind: "complete", tag: piece.tag };
      case "emptyQuery":
        return { kind: "complete", tag: "" };
      case "copyIn":
      case "copyOut":
        return this.#copies ? piece : this.#wrong(piece);
      default:
        return this.#wrong(piece);
    }
  }

  /** The next data of a COPY to the client, or how it ended. */
  *copied(): Reading<{ readonly kind: "rows"; readonly run: FrameRun } | Outcome> {
    for (;;) {
      const piece = yield* waited(this.member.copyPiece());
      if (piece?.kind === "rows") return piece;
      if (piece?.kind === "copyDone") return yield* this.rows(undefined);
      if (piece?.kind !== "notice") return this.#wrong(piece);
      this.#keep(piece.report);
    }
  }

  /**
   * Reads up to the server's ReadyForQuery, past whatever is left. Undefined when it came as it should. A statement
   * that was complete can still fail with its transaction, by a constraint that is checked then.
   */
  *ready(): Reading<FailedEvent | undefined> {
    let late: FailedEvent | undefined;
    for (;;) {
      const message = yield* this.#next();
      if (message?.kind === "ready") return late;
      if (message?.kind === "error" && this.#failed === undefined) late = this.#wrong(message);
      else if (message === undefined || this.#failed === undefined) return this.#wrong(message);
    }
  }

  #next(): Reading<Exclude<Piece, { kind: "rows" }> | undefined> {
    return this.#nextPiece(undefined) as Reading<Exclude<Piece, { kind: "rows" }> | undefined>;
  }

  *#nextPiece(columns: number | undefined): Reading<Piece | undefined> {
    for (;;) {
      const piece = this.member.here(columns);
      if (piece === "waits") yield this.member.more();
      else if (piece?.kind === "notice") this.#keep(piece.report);
      else return piece;
    }
  }

  #keep(report: ServerReport): void {
    if (this.#notices.length < noticesMax) this.#notices.push(report);
  }

  /** The server's error, or the end of a connection that makes no sense any more. The first one stands. */
  #wrong(message: Piece | undefined): FailedEvent {
    const { member } = this;
    if (message?.kind === "error") {
      if (endsConnection(message.report)) member.tainted = true;
      this.#failed ??= { kind: "failed", error: this.#errorOf(message.report) };
      return this.#failed;
    }
    member.destroy();
    const error =
      message === undefined ? endOf(member) : brokenError(`an unexpected ${message.kind}`);
    this.#failed ??= { kind: "failed", error };
    return this.#failed;
  }
}
