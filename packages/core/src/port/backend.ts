/** An engine is a kind of backend (code); a backend is one cluster of it, opened. */
import type { GatewayError } from "../error.ts";
import type { Course } from "../query/course.ts";
import type { Asked } from "../query/asked.ts";
import type { Description, ResultStream } from "../query/event.ts";
import type { ForwardableKind } from "../query/identity.ts";
import type { Identified, Session } from "../query/query.ts";
import type { KeptListener } from "../query/pin.ts";
import type { Result } from "../result.ts";
import type { Secret } from "../secret.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { TokenReader } from "../sql/longText.ts";
import type { Division } from "../sql/session/statement.ts";
import type { Statement } from "../sql/statement.ts";
import type { Steps } from "../sql/reading/steps.ts";
import type { Column } from "../type/type.ts";
import type { Host } from "./host.ts";

/** Statements of one session in order: its own connection, where the engine keeps a transaction. */
export interface Lane {
  /**
   * Runs one statement. Never throws on abort: the stream then ends with `failed`. A failure to
   * connect before the first event is `cluster.connectFailed`; everything later is final.
   */
  execute(query: Identified, signal: AbortSignal): ResultStream;
  /** Parameter and column types without running. */
  describe(query: Identified, signal: AbortSignal): Promise<Result<Description, GatewayError>>;
  /**
   * How many bytes the statement would read, asked of the engine under the query's own identity, where it would run.
   * Nothing of it runs. In a transaction an error ends the transaction as one of the statement would. Present on all
   * lanes of an engine that can say so, and on no other's.
   */
  estimateScan?(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>>;
}

/** 0 for what reads no table. `unknown`: why nobody can say, in a few words that name nothing of the statement's. */
export type ScanEstimate = { readonly bytes: number } | { readonly unknown: string };

/** A connection of its own with an open transaction. Disposing rolls it back and returns the connection; it never rejects. */
export interface PinnedLane extends Lane, AsyncDisposable {
  /** By which number its server knows the connection, as a statement there may ask. Missing where it has none. */
  readonly process?: number | undefined;
  /** The same as `execute`, as a course, where the engine is asked so. */
  course?(query: Identified, signal: AbortSignal): Course;
  /**
   * Whether the statement, which ran here last, may be given to `course` again, behind others of its series (`behind` in
   * their call), before those are over. They are answered in the order in which they came. Missing where none may.
   */
  streams?(statement: Statement): boolean;
  /**
   * Ends the transaction. It is over even when this fails. `chains`: another one follows on this lane's connection, which
   * an engine that has `again` may begin with the same statement, as alike to this one as only the engine knows how. It
   * is the session as it is now, which may have asked for something that no statement brought to the engine yet.
   */
  commit(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>>;
  rollback(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>>;
  /**
   * `PREPARE TRANSACTION`: the transaction leaves the connection, and waits in the engine until some session commits it
   * or rolls it back. Missing where the engine has no such thing.
   */
  prepare?(statement: Statement, signal: AbortSignal): Promise<Result<void, GatewayError>>;
  /**
   * Whether the transaction goes on, and its last statement, if it failed, changed nothing. Missing where
   * nobody can say so, or where a statement that reads as a query may still change something.
   */
  goesOn?(signal: AbortSignal): Promise<boolean>;
  /**
   * Sets, releases or goes back to a savepoint of the engine's own, with everything done behind it. Missing
   * where the engine has none; `goesOn` then decides. The session may have chosen what the engine has to know first.
   */
  divide?(
    division: Division,
    signal: AbortSignal,
    session: Session,
  ): Promise<Result<void, GatewayError>>;
  /**
   * Clients of this dialect speak the engine's own protocol, and the engine itself refuses what changes something in
   * a read-only transaction, with everything that follows there. Missing where we refuse it.
   */
  readonly refusesWritesOf?: Dialect;
  /** Begins another transaction on the same connection once this one is over. Missing where a new connection will do. */
  again?(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>>;
  /**
   * Takes the connection out of a transaction that is over, when something is left there that its session was
   * promised. Undefined when nothing is, and for a connection that was a session's before.
   */
  kept?(signal: AbortSignal): Promise<KeptLane | undefined>;
}

/** A connection that stays with one session. Disposing cleans it and returns it; it never rejects. */
export interface KeptLane extends Lane, AsyncDisposable {
  /** Why it has to stay, in a word or two for records; undefined when nothing of the session is left on it. */
  readonly keeps: string | undefined;
  /** As a transaction's. */
  readonly process?: number | undefined;
  begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>>;
  hear(listener: KeptListener): void;
}

export interface Backend extends Lane, AsyncDisposable {
  /**
   * The same as `execute`, as a course, where the engine is asked so: what is there already takes no turn. `whole`: a
   * result that is there with its end may come with it (`DoneEvent.whole`).
   */
  course?(query: Identified, signal: AbortSignal, whole?: boolean): Course;
  /**
   * Sends a statement whose answer is likely to come whole, if nothing has to be waited for before. Undefined where it
   * is not sent, and nothing was begun. An abort is the caller's to hear, who then takes the answer as a course.
   */
  ask?(query: Identified, signal: AbortSignal): Asked | undefined;
  readonly cluster: string;
  readonly engine: string;
  /** What the engine reads, for records; undefined where no lexer of ours knows it. */
  readonly dialect?: Dialect;
  /** Set where it takes a query's `call` (PostgreSQL) or `mysql` as it is. */
  readonly speaks?: "postgres" | "mysql";
  /** What its server reports of itself, beside `speaks`; undefined until one was reached. */
  readonly statuses?: ReadonlyMap<string, string> | undefined;
  /** Reads a long text in steps for what the lane's statements will ask of it. Its class and digest are known already. */
  readAhead?(engineSql: string): Steps<void>;
  /** What the adapter asks of each token of a long text, read in the walk that finds its class. What was not read so, as when no walk was needed, `readAhead` reads. */
  readAlong?(engineSql: string): TokenReader | undefined;
  /** Opens a lane and begins a transaction with the modes of `query.statement`, the client's own BEGIN. `query.unsupported` where the engine has none. */
  begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>>;
  /** Whether connections stay with sessions, beside `speaks`. Present with the next two only. */
  readonly keeps?: "asked" | "always" | undefined;
  /** True when the statement may leave something on its connection that its session was promised. Asked before it runs. */
  mayKeep?(query: Identified): boolean;
  /**
   * The number of the session (`Session.process`) whose statement the connection runs now that the server knows by this
   * number; undefined where none is. Missing where a client of another protocol could ask only.
   */
  sessionAt?(process: number): number | undefined;
  /** A connection for this statement and, if that leaves anything, for what its session does next. */
  keep?(query: Identified, signal: AbortSignal): Promise<Result<KeptLane, GatewayError>>;
  probe(signal: AbortSignal): Promise<"healthy" | "unhealthy">;
  /**
   * Tags (query/tag.ts) of our statements, from every instance, that the engine runs now.
   * `complete` only when the engine has been proved to show the statements of all users and nodes.
   */
  running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>>;
  /**
   * Ends every statement that runs under a tag, in the engine, as the service account. Resolves when
   * the engine was told; whether it obeyed, `running` says.
   */
  end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>>;
  /** Where statements run. Those that run in this `process` end with it; those in an `engine` live on. */
  readonly runsIn: "engine" | "process";
  /**
   * True when the engine itself holds each statement's `maxExecutionMs`: it ends the statement at that limit,
   * whatever it is doing, and no text or setting of a client can raise it. False until that is known.
   */
  readonly limitsExecution: boolean;
  /** Kinds of credentials that the engine takes from a client, for `passthrough`. */
  readonly forwards: readonly ForwardableKind[];
  /** Where it verifies its callers itself, by letting them in: in the place of the gateway's own provider. */
  readonly logins?: EngineLogins | undefined;
  /** The tables that the identity of `query` sees, for catalogs and listings. */
  listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>>;
  /** Catalog names the engine knows; the first is the default. */
  readonly catalogs: readonly string[];
}

/** An account whose engine is asked who a client is. */
export interface EngineLogins {
  /** As clients name it; they may write it in other letters. */
  readonly account: string;
  /** Equal exactly for clusters of one account at one address. Public, and short. */
  readonly realm: string;
  /**
   * Opens a new connection with the login, and answers the user's name in the one spelling that tells this user from
   * all others of the account. Refuses with `auth.refused`, with the engine's own number in `vendor`, or
   * `auth.unavailable` when nobody could be asked in time.
   */
  logIn(login: {
    readonly user: string;
    readonly password: Secret;
  }): Promise<Result<string, GatewayError>>;
}

export interface RunningStatements {
  readonly tags: readonly string[];
  readonly complete: boolean;
  /** Milliseconds after which a statement that was accepted shows for certain. */
  readonly delayMs: number;
}

export interface TableListing {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: "table" | "view";
  readonly columns: readonly Column[];
  /** Keys of a table, where the engine knows of any. */
  readonly keys?: readonly TableKey[];
  /** Its indexes beside those of its keys, where the engine tells them. */
  readonly indexes?: readonly TableIndex[];
}

/** An index of all rows by plain columns. */
export interface TableIndex {
  readonly name: string;
  readonly unique: boolean;
  readonly columns: readonly string[];
}

/** A primary key (at most one), a unique key, or a foreign key to another table of the same schema. */
export type TableKey =
  | {
      readonly kind: "primary" | "unique";
      /** Where the engine names its constraints. */
      readonly name?: string;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: "foreign";
      readonly name?: string;
      readonly columns: readonly string[];
      readonly table: string;
      readonly tableColumns: readonly string[];
    };

/** What an engine's adapter module exports as `open`. Rejects only for a bug; an unreachable cluster opens and is unhealthy. */
export type OpenBackend<Config> = (
  cluster: string,
  config: Config,
  host: Host,
) => Promise<Result<Backend, GatewayError>>;
