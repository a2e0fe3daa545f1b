/**
 * The only thing a frontend may call. Every method answers with a value; none throws and none
 * rejects. What stands behind it is in run/.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { Login, Presented, PresentedAt, ScramChallenge } from "./authenticator.ts";
import type { AuthContext } from "../query/identity.ts";
import type { Answer } from "../query/course.ts";
import type { Description, ResultEvent, ResultStream } from "../query/event.ts";
import type { Query, QueryId, Session } from "../query/query.ts";
import type { TableListing } from "./backend.ts";
import type { ReachedEngine } from "../query/reached.ts";
import type { Statement } from "../sql/statement.ts";
import type { Parameter } from "../type/type.ts";
import type { TakenFormat } from "../type/vector.ts";

/** What the client tried; `user` is the name it claims. */
export interface UnjudgedLogin {
  readonly kind: Presented["kind"];
  readonly user: string | undefined;
}

export interface Door {
  /** True when a connection protocol must ask for a password. False only under provider `none`. */
  readonly asksPassword: boolean;
  /** True when clients may show access tokens. */
  readonly takesTokens?: boolean;
  /** Who issues those tokens: the address at which clients learn how to get one. */
  readonly tokenIssuer?: string | undefined;
  /** Catalog names that the engines the session may reach know; used for names given at connect. */
  catalogs(session: Session): readonly string[];
  /**
   * Waits until each engine was asked once what it has, or took too long to say so. Undefined when that is over. A
   * client that logs in to a connection has waited already.
   */
  learned?(): Promise<void> | undefined;
  /**
   * Whether what a statement says decides what becomes of it: then no engine may be given the text of one to run later
   * under a name. Absent: nobody knows, which is as true.
   */
  judgesTexts?(): boolean;
  /** The engines of all cluster groups, which any statement of the session may reach; without one, of those that come. */
  engines(session?: Session): readonly ReachedEngine[];

  /** The challenge for a login by SCRAM; undefined where the user is asked for the password itself. */
  scram?(user: string): ScramChallenge | undefined;

  authenticate(presented: Presented, at: PresentedAt): Promise<Result<Login, GatewayError>>;

  /** A login that the active configuration verified a moment ago, where it remembers one. Whoever gets none authenticates. */
  recall?(presented: Presented): Login | undefined;

  /** Counts and logs a login that the frontend refused by itself, because what was shown can not be judged. */
  refused(code: ErrorCode, shown: UnjudgedLogin, at: PresentedAt): void;

  /** Gives a statement, read in the session's dialect, its id and its time of receipt. `takes` is none unless said. */
  query(
    statement: Statement,
    parameters: readonly Parameter[],
    session: Session,
    takes?: readonly TakenFormat[],
  ): Query;

  /** Runs it. Aborting `signal` or ending the generator cancels; the engine's work ends too. */
  run(query: Query, signal: AbortSignal): ResultStream;

  /**
   * Begins it at once, for a client that is told nothing before the first row: resolves with all events where the whole
   * answer came in one piece, and with their stream otherwise. Whoever gets the stream reads it or ends it. Absent: `run`.
   */
  answer?(query: Query, signal: AbortSignal): Promise<Answer>;

  /** Types of parameters and columns without running; takes a slot like a query and leaves no record. */
  describe(query: Query, signal: AbortSignal): Promise<Result<Description, GatewayError>>;

  /**
   * The engines of the group where this statement would go, asked without taking a slot; in a transaction, the
   * one that holds it. Refuses like a query that may not run.
   */
  target(
    query: Query,
    signal: AbortSignal,
  ): Promise<Result<readonly ReachedEngine[], GatewayError>>;

  /** The tables of the cluster group where this statement would go. Refuses like a query that may not run. */
  tables(query: Query, signal: AbortSignal): Promise<Result<TableScope, GatewayError>>;

  /** Starts a query whose result is asked for piece by piece (HTTP protocols). */
  start(query: Query): PolledQuery;

  /** Finds a started query again. `query.unknown` when there is none or it belongs to somebody else. */
  resume(id: QueryId, owner: AuthContext): Result<PolledQuery | undefined, GatewayError>;

  /**
   * The number of the session (`Session.process`) whose statement the connection runs now that a server knows by this
   * number. Undefined where none does, and where servers of several clusters have one and `cluster` does not say which.
   */
  sessionAt?(process: number, cluster?: string): number | undefined;

  /** Cancels a running or queued query of any protocol. Only its owner or an operator may; to everybody else it is `query.unknown`. */
  cancel(id: QueryId, by: AuthContext): Promise<Result<void, GatewayError>>;
}

/** A query that is asked for piece by piece. What it promises beside this: `run/poll/polled.ts`. */
export interface PolledQuery {
  readonly query: Query;
  readonly owner: AuthContext;
  /**
   * The next event, or undefined when none came within `waitMs` (progress can be shown) or after the
   * last one. One call at a time. Aborting `signal` (the client hung up) cancels the query.
   *
   * `absorb`, when given, may see each event first. When it returns true the event is taken and the wait
   * goes on, which saves the caller a promise for each event that carries no rows.
   *
   * A call after the last event says that the client has seen the end: from then on the query stays
   * for `keepMs` only. A frontend that reads ahead makes this call once it has sent its last response.
   */
  next(waitMs: number, signal: AbortSignal, absorb?: Absorb): Promise<ResultEvent | undefined>;
  /** Ends the query for the client. Unless it is over already, its last event is `failed` with `query.cancelled` or the given reason. */
  cancel(reason?: GatewayError): void;
  /** The client got no handle to ask again with, so the query is not kept after its end. Absent where nothing is kept anyway. */
  forget?(): void;
}

/** True when it took the event. Never true for the last one. */
export type Absorb = (event: ResultEvent) => boolean;

/** The tables of the place a session's statements go to. */
export interface TableScope {
  /** Equal for all sessions that see the same tables; changes with every change of the configuration. */
  readonly key: string;
  /** Asks the engine. Takes a slot, and waits for it like a query. */
  list(signal: AbortSignal): Promise<Result<readonly TableListing[], GatewayError>>;
}
