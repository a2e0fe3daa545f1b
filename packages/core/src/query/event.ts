/**
 * What a client may be told about its query, in this order:
 * `(queued | progress | session | notice)* columns? (batch | progress | notice | session)* (done | failed)`.
 *
 * Nothing follows `done` or `failed`. `done` without `columns` is a statement without a result.
 */
import type { GatewayError, PostgresFields } from "../error.ts";
import type { Batch, NativeFormat } from "../type/vector.ts";
import type { Column, DataType } from "../type/type.ts";
import type { Division, TransactionModes } from "../sql/session/statement.ts";
import type { Kept, Pin } from "./pin.ts";

export interface QueryStats {
  /** Milliseconds from the receipt until a slot was granted. */
  readonly queueMs: number;
  /** Milliseconds in the engine so far. */
  readonly executionMs: number;
  readonly rows: number;
  readonly bytes: number;
  /** What the engine says of its work, where it says so. */
  readonly work?: EngineWork;
}

/** An engine's progress, for clients that draw a bar. Counts never fall while the query runs. */
export interface EngineWork {
  readonly splitsQueued: number;
  readonly splitsRunning: number;
  readonly splitsDone: number;
  readonly nodes: number;
  readonly cpuMs: number;
  /** Read from its sources so far. */
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly peakBytes: number;
  /** 0 to 100, where the engine says so. */
  readonly percent?: number;
}

/** A change the client's session takes over before its next statement. */
export type SessionChange =
  | {
      readonly kind: "catalog";
      readonly catalog: string | undefined;
      readonly schema: string | undefined;
    }
  | { readonly kind: "setting"; readonly name: string; readonly value: string | undefined }
  /** A transaction began: later statements of the session go to this pin. */
  | { readonly kind: "pinned"; readonly pin: Pin; readonly modes: TransactionModes }
  /** A savepoint was set, released or gone back to. */
  | { readonly kind: "divided"; readonly division: Division }
  /** The transaction is over, and another one with the same modes replaced it. */
  | { readonly kind: "chained"; readonly outcome: Outcome }
  /** The transaction is over, or the client sent COMMIT or ROLLBACK outside of one. */
  | { readonly kind: "unpinned"; readonly outcome: Outcome }
  /** A connection stays with the session from here on: because of what is on it, or of how its cluster is pooled. */
  | { readonly kind: "kept"; readonly kept: Kept }
  /** Nothing is left on it, or it is gone: statements go where they are routed again. */
  | { readonly kind: "released" };

/** How a transaction ended. One that failed or was taken away was rolled back. */
export type Outcome = "committed" | "rolledBack";

export interface Queued {
  readonly kind: "queued";
  /** Position in the queue, 1 is next. */
  readonly position: number;
  /** How many milliseconds the wait may still take, as far as that can be said. */
  readonly estimateMs?: number;
}

export interface ColumnsEvent {
  readonly kind: "columns";
  readonly columns: readonly Column[];
  /**
   * The engine's own description of them, where rows come in the format: for `trinoData` the JSON
   * array of columns, for `mysqlRows` the packets of the column definitions, for `postgresCopy` the server's
   * CopyOutResponse; for `clickHouseBody` nothing, and there are no columns then.
   */
  readonly native?: {
    readonly format: NativeFormat;
    readonly bytes: Uint8Array;
    /** Of MySQL: the server's status flags behind the definitions. */
    readonly status?: number;
    /** Of ClickHouse: the headers that the answer came with. */
    readonly headers?: Readonly<Record<string, string>>;
  };
}

export type DoneEvent = {
  readonly kind: "done";
  readonly stats: QueryStats;
  /** What the statement did, in upper case, when it was not a plain query: `INSERT`, `CREATE TABLE`, `SET`. */
  readonly updateType?: string | undefined;
  /** Rows changed, when the engine says so. */
  readonly updateCount?: number | undefined;
  /** PostgreSQL's own tag, where its client gets the answer as the server sent it. */
  readonly commandTag?: string | undefined;
  /** Present where the engine is of MySQL's family and says more than a count. */
  readonly report?: ServerReport | undefined;
  /**
   * Columns and rows that came in one piece with the end, in the place of their own events: only from an engine to a
   * driver that asked for it (`Backend.course`) and makes those events of it.
   */
  readonly whole?: WholeResult | undefined;
};

export interface WholeResult {
  readonly columns: ColumnsEvent;
  /** Undefined where there are no rows. */
  readonly batch: Batch | undefined;
  /** Columns, rows and how it ended as a server of PostgreSQL wrote them to be passed on: RowDescription to CommandComplete. */
  readonly written?: Uint8Array | undefined;
}

/** What a server of MySQL's family says of a statement at its end, for clients of its own protocol. */
export interface ServerReport {
  /** Rows that are other than before, where `updateCount` counts those that were found. */
  readonly changedCount: number;
  /** The id that a row got, or the last that it was given; 0 for none. */
  readonly insertId: bigint;
  /** How many there were; a server lists fewer where there are too many. */
  readonly warnings: number;
  /** The server's own line, such as `Rows matched: 1  Changed: 0  Warnings: 0`; mostly empty. */
  readonly info: string;
  /** Rows that there would be without a LIMIT, where the statement asked for that. */
  readonly foundRows: number | undefined;
  /** The server's status flags, to a client whose query has a `mysql` call. */
  readonly status?: number;
}
export type FailedEvent = { readonly kind: "failed"; readonly error: GatewayError };
export type LastEvent = DoneEvent | FailedEvent;

/** The code of a notice by which a policy that lets a statement run warns of it. */
export const warningCode = "policyWarning";

export type ResultEvent =
  | Queued
  | { readonly kind: "progress"; readonly state: "queued" | "running"; readonly stats: QueryStats }
  | { readonly kind: "session"; readonly change: SessionChange }
  | {
      readonly kind: "notice";
      readonly code: string;
      readonly text: string;
      /** Of a PostgreSQL server, by the letters of its protocol; for clients of the same. */
      readonly fields?: PostgresFields;
    }
  | ColumnsEvent
  | { readonly kind: "batch"; readonly batch: Batch }
  | LastEvent;

/** The events of one query. Ending the generator early (`return()`) cancels the query. */
export type ResultStream = AsyncGenerator<ResultEvent, void, void>;

/** A part of the line of a query: events for the client, then how it ended. */
export type Stage<Ended = LastEvent> = AsyncGenerator<ResultEvent, Ended, void>;

/** What a statement takes and gives, found without running it. */
export interface Description {
  /** Types of `$1`, `$2`, …; kind `null` where the engine can not tell. */
  readonly parameters: readonly DataType[];
  /** Empty for a statement without a result. */
  readonly columns: readonly Column[];
  /** PostgreSQL's object ids of the same parameters, where the query has a `call`. */
  readonly parameterOids?: readonly number[];
  /** The engine's own description of both, as in a `ColumnsEvent`: for `mysqlRows` the packets of their definitions. */
  readonly native?: {
    readonly format: NativeFormat;
    readonly parameters: Uint8Array;
    readonly columns: Uint8Array;
  };
}
