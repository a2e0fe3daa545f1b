/**
 * The only thing a frontend may call. Every method answers with a value; none throws and none
 * rejects. What it is made of is in query/, route/ and the ports.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "./error.ts";
import type { Result } from "./result.ts";
import type {
  AuthContext,
  Login,
  Presented,
  PresentedAt,
  ScramChallenge,
} from "./port/authenticator.ts";
import type { Description, ResultStream } from "./query/event.ts";
import type { Query, QueryId, Session } from "./query/query.ts";
import type { PolledQuery } from "./query/polled.ts";
import type { TableScope } from "./query/tables.ts";
import type { Parameter } from "./type/type.ts";
import type { NativeFormat } from "./type/vector.ts";

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
  /** Catalog names that the engines the session may reach know; used for names given at connect. */
  catalogs(session: Session): readonly string[];

  /** The challenge for a login by SCRAM; undefined where the user is asked for the password itself. */
  scram?(user: string): ScramChallenge | undefined;

  authenticate(presented: Presented, at: PresentedAt): Promise<Result<Login, GatewayError>>;

  /** Counts and logs a login that the frontend refused by itself, because what was shown can not be judged. */
  refused(code: ErrorCode, shown: UnjudgedLogin, at: PresentedAt): void;

  /** Gives a statement its id and its time of receipt. `takes` is none unless said. */
  query(
    sql: string,
    parameters: readonly Parameter[],
    session: Session,
    takes?: readonly NativeFormat[],
  ): Query;

  /** Runs it. Aborting `signal` or ending the generator cancels; the engine's work ends too. */
  run(query: Query, signal: AbortSignal): ResultStream;

  /** Types of parameters and columns without running; takes a slot like a query and leaves no record. */
  describe(query: Query, signal: AbortSignal): Promise<Result<Description, GatewayError>>;

  /** What there is to query where this statement would go. Refuses like a query that may not run. */
  tables(query: Query, signal: AbortSignal): Promise<Result<TableScope, GatewayError>>;

  /** Starts a query whose result is asked for piece by piece (HTTP protocols). */
  start(query: Query): PolledQuery;

  /** Finds a started query again. `query.unknown` when there is none or it belongs to somebody else. */
  resume(id: QueryId, owner: AuthContext): Result<PolledQuery, GatewayError>;

  /** Cancels a running or queued query of any protocol. Only its owner or an operator may; to everybody else it is `query.unknown`. */
  cancel(id: QueryId, by: AuthContext): Promise<Result<void, GatewayError>>;
}
