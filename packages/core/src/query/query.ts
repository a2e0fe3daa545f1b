/**
 * The query: one value that only gains fields on its way from the client to the engine.
 *
 * Data only. The order of the stages is in the types: a backend takes an `Identified`, which cannot
 * exist before route, policy, slot and credential do.
 */
import type { Parameter } from "../type/type.ts";
import type { AuthContext, ClientCredential, BackendIdentity } from "./identity.ts";
import type { RoutingStep } from "@gateway/contract/record.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Statement } from "../sql/statement.ts";
import type { Slot } from "./slot.ts";
import type { TakenFormat } from "../type/vector.ts";
import type { MysqlCall } from "./mysqlCall.ts";
import type { Kept, Pin } from "./pin.ts";

declare const brand: unique symbol;
/** The proxy query id: shown to the client, in logs, in the record. */
export type QueryId = string & { readonly [brand]: "QueryId" };

/** What a connection (or one HTTP request) remembers. Immutable: a change makes a new value. */
export interface Session {
  readonly frontend: string;
  readonly identity: AuthContext;
  /** Apart from identity and from everything a client can set. */
  readonly credential: ClientCredential;
  /** Address of the client without its port. */
  readonly clientAddress: string;
  /** How the client's SQL is read by our lexer. */
  readonly dialect: Dialect;
  /** Whose grammar and functions the client writes, where its frontend hands on texts in another lexis; absent where `dialect` says it. */
  readonly grammar?: Dialect | undefined;
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  /** Lower-case names to values, as the client set them. */
  readonly settings: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
  /** Lower-case names of HTTP headers, for header routers; empty on other wires. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * The cluster group that the user chose, in place of the one a router names. Everything else is as ever: a router
   * that denies still does, and the group's lists say who may use it.
   */
  readonly chosenGroup?: string | undefined;
  /** By which number a client of PostgreSQL was told to know its session, where it speaks that protocol. */
  readonly process?: number | undefined;
  /** What such a client keeps prepared under names of its own, in the order in which it did. */
  readonly prepared?: (() => readonly PreparedText[]) | undefined;
  /** Set while the session is in a transaction: its statements run on one connection in one slot. */
  readonly pin: Pin | undefined;
  /** Set while a connection stays with the session: its statements and transactions run there. */
  readonly kept?: Kept | undefined;
}

/** A statement that a client of PostgreSQL keeps prepared: its text, and the object ids of types as it gave them. */
export interface PreparedText {
  readonly name: string;
  readonly text: string;
  readonly types: readonly number[];
}

/** What a client of ClickHouse's HTTP interface sent beside its statement, for a ClickHouse server. Never a credential. */
export interface Relay {
  /** Fields of the address in their order: settings, and values of named parameters. */
  readonly fields: readonly Field[];
  /** Fields that say in what form the answer comes. For an engine that was asked to answer in the client's own bytes. */
  readonly form: readonly Field[];
  /** The client's `Accept-Encoding`, with the same meaning. */
  readonly acceptEncoding: string | undefined;
  readonly body: RelayBody | undefined;
}

type Field = readonly [name: string, value: string];

/** Rows behind a statement. For one reader, once; what nobody reads is the frontend's. */
export interface RelayBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** `Content-Encoding`, which the server undoes. */
  readonly encoding: string | undefined;
  /** They stand in ClickHouse's compressed blocks. */
  readonly blocks: boolean;
}

/** One statement as a client sent it. Every later stage adds fields and removes none. */
export interface Query {
  readonly id: QueryId;
  readonly sql: string;
  /** What was read of that text, in the session's dialect. Nobody behind the frontend reads it again. */
  readonly statement: Statement;
  /** Typed values for `$1`, `$2`, …; frontends rewrite `?` before. Never spliced into text. */
  readonly parameters: readonly Parameter[];
  readonly session: Session;
  /** Formats of rows that the client's protocol carries as they are; an engine may answer in one of them. */
  readonly takes: readonly TakenFormat[];
  /**
   * What a client of PostgreSQL's protocol sent beside its text. Present where every engine that the session may
   * reach speaks that protocol; `parameters` are empty then, and any other engine refuses the query.
   */
  readonly call?: PostgresCall | undefined;
  /**
   * What a client of MySQL's protocol sent beside its text. Present where every engine that the session may reach
   * speaks that protocol; `parameters` are empty then, and any other engine refuses the query.
   */
  readonly mysql?: MysqlCall | undefined;
  /** What goes with the statement to an engine that speaks the client's own HTTP protocol; no other looks at it. */
  readonly relay?: Relay | undefined;
  /** Its text is never run: the engine is asked for its tables, and what it answers is narrowed to what the caller may see. */
  readonly lists?: true | undefined;
  /** Milliseconds on the host's monotonic clock. */
  readonly receivedAtMs: number;
  /** The same moment in Unix milliseconds, where whoever made the query looked. */
  readonly receivedUnixMs?: number | undefined;
}

/** Values and formats of PostgreSQL's extended protocol, as its client sent them. */
export interface PostgresCall {
  /** Object ids of the parameters' types; 0 or absence leaves one to the server. */
  readonly types: readonly number[];
  /** None (all text), one (for all), or one for each value; 0 is text, 1 is binary. */
  readonly formats: readonly (0 | 1)[];
  /** `undefined` is NULL. */
  readonly values: readonly (Uint8Array | undefined)[];
  /** None (all text), one (for all), or one for each column. */
  readonly resultFormats: readonly (0 | 1)[];
  /** A simple query: it has no values, and everything is text. */
  readonly simple: boolean;
  /** The name under which its client keeps it, to run it again; absent: it has none. */
  readonly statement?: string | undefined;
  /** Of a COPY: where the client's data comes from. */
  readonly copy?: CopySource;
  /**
   * Of a statement that names `pg_cancel_backend` or `pg_terminate_backend` within a query: signals a connection, if it
   * is one of the client's own user. False where it is not.
   */
  readonly signal?: ((to: BackendSignal) => boolean | Promise<boolean>) | undefined;
  /**
   * It came behind another execution of its statement in one series: where the pin says so (`streams`), it may be sent
   * before the answer to that one is here.
   */
  readonly behind?: boolean | undefined;
}

/** What SQL of PostgreSQL may do to a connection. */
export type SignalName = "pg_cancel_backend" | "pg_terminate_backend";

/** A connection by the number that a server gave its process. Another cluster may have the same number. */
export interface BackendSignal {
  readonly name: SignalName;
  readonly cluster: string;
  readonly process: number;
}

/** The client's side of a `COPY … FROM STDIN`. */
export interface CopySource {
  /** Tells the client that the server wants its data. `head` is the body of the server's CopyInResponse. */
  begin(head: Uint8Array): void;
  /** The next of its data, as whole messages without their heads; asked for one at a time. */
  next(): Promise<CopyPiece>;
  /** Nothing more is wanted: a `next` that waits ends with `left`. */
  stop(): void;
}

/** `failed`: the client gave up, with its reason. `left`: it is gone, or nobody wants more. */
export type CopyPiece =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "left" };

export interface Routed extends Query {
  readonly group: string;
  readonly trace: readonly RoutingStep[];
}
export interface Policed extends Routed {
  readonly allowedSql: string;
  /** What guards add to a query that they let through; absent where they have nothing to say. */
  readonly guarded?: Guarded | undefined;
  /** Clusters of the group, best first, as a script of its strategy says; absent where there is none, and where it failed. */
  readonly order?: readonly string[] | undefined;
}

export interface Admitted extends Policed {
  readonly slot: Slot;
}
export interface Translated extends Admitted {
  readonly engineSql: string;
  /** Time limit for the engine itself, in milliseconds: the group's, but never above that of the slot's lease. */
  readonly maxExecutionMs: number | undefined;
}
export interface Identified extends Translated {
  readonly backendIdentity: BackendIdentity;
}

/** What guards say of a query beside its text. */
export interface Guarded {
  /** For the client, one for each guard that only warns. */
  readonly warnings: readonly string[];
  /** The group's limits with those of the guards. */
  readonly limits: QueryLimits;
  /** What is asked before it runs, once its engine's text is known; absent where nothing is. */
  readonly late?: LateGuards | undefined;
}

/** Guards whose answer has to wait for the engine's text. */
export interface LateGuards {
  /** Names of those whose services are asked about that text. */
  readonly services: readonly string[];
  /** Limits of what the engine says it would read. */
  readonly scans: readonly ScanLimit[];
}

/** How much a statement may read, as the guard of that name has it. */
export interface ScanLimit {
  readonly name: string;
  /** What the client reads instead of the guard's own words. */
  readonly message: string | undefined;
  readonly maxBytes: number;
  /** A statement above the limit runs with a warning. */
  readonly warns: boolean;
  /** A statement whose engine can not estimate it runs. */
  readonly passesUnknown: boolean;
}

/** What a group allows each of its queries; undefined means no limit. Times in milliseconds. */
export interface QueryLimits {
  readonly maxExecutionMs: number | undefined;
  readonly maxRows: number | undefined;
  /** Longest life of a transaction; absent means none. */
  readonly maxTransactionMs?: number | undefined;
}
