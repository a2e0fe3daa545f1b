/** What is to run, how far a step of it goes, and why it stops there. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Answer } from "@gateway/core/query/course.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { PostgresCall } from "@gateway/core/query/query.ts";
import type { Column, Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { ReadStatement } from "../../read/statement.ts";
import type { ClientCopy } from "../../value/copySource.ts";
import type { Announce, ResultForm } from "./resultWriter.ts";

/** What is to run, and how its result is wanted. */
export interface ExecutionPlan extends ResultForm {
  readonly sql: string;
  /** Shown to the client; undefined for what the frontend answers itself. */
  readonly queryId: string | undefined;
  start(signal: AbortSignal): ResultStream | Promise<Answer>;
  /** The data of its client's, if it takes any. */
  readonly source?: ClientCopy | undefined;
}

/** How far one step goes, and what happens with its rows. */
export interface Step {
  /** 0 means all that are left. */
  readonly maxRows: number;
  readonly announce: Announce;
  /** As in a Bind message; absent where those of the plan hold. */
  readonly formats?: readonly Format[];
  /** Rows are passed over. */
  readonly silent?: boolean;
  /** Stops as soon as the columns are known. */
  readonly columnsOnly?: boolean;
}

export function mostOf({ maxRows }: Step): number {
  return maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows;
}

/** Why a step ended, with the rows of this step. The caller sends the command tag. */
export type Stop =
  | {
      readonly kind: "complete";
      readonly rows: number;
      readonly tag: string;
      /** The client was sent the tag, with the result. */
      readonly told?: true;
    }
  | { readonly kind: "suspended"; readonly rows: number }
  | { readonly kind: "failed"; readonly error: GatewayError };

/** How many rows; undefined when it was cut short. */
export type Written = number | undefined;

/** A step that wrote so many rows, and waits for the next to be taken. */
export interface Going {
  readonly sent: number;
  readonly writing?: Promise<Written>;
}

/** A statement with its values and the form of its result. */
export interface Order {
  readonly statement: ReadStatement;
  readonly parameters: readonly Parameter[];
  /** Of a statement that is relayed; a simple query has none of its own. */
  readonly call?: PostgresCall | undefined;
  readonly formats: readonly Format[];
  /** The result as the client was told it. */
  readonly promised: readonly Column[] | undefined;
}

/** As PostgreSQL says it. */
export function timeoutError(): GatewayError {
  return gatewayError("query.timeout", { message: "canceling statement due to statement timeout" });
}

/** Undefined behind the last one. */
export async function nextOf(events: ResultStream): Promise<ResultEvent | undefined> {
  const next = await events.next();
  return next.done === true ? undefined : next.value;
}

/** Whoever gets a stream has to end it. */
export async function left(begun: ResultStream | Promise<Answer>): Promise<void> {
  const answer = await begun;
  if (Symbol.asyncIterator in answer) await answer.return();
}
