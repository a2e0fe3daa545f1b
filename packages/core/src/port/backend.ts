/** An engine is a kind of backend (code); a backend is one cluster of it, opened. */
import type { GatewayError } from "../error.ts";
import type { Description, ResultStream } from "../query/event.ts";
import type { ForwardableKind } from "../query/identity.ts";
import type { Identified } from "../query/query.ts";
import type { Result } from "../result.ts";
import type { Dialect } from "../sql/dialect.ts";
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
}

/** A connection of its own with a transaction begun on it. Disposing rolls back what is open and gives it back; it never rejects. */
export interface PinnedLane extends Lane, AsyncDisposable {
  /** Ends the transaction. After an error it is over too. */
  commit(signal: AbortSignal): Promise<Result<void, GatewayError>>;
  rollback(signal: AbortSignal): Promise<Result<void, GatewayError>>;
  /**
   * Whether the transaction goes on, and its last statement changed nothing if it failed. Missing where
   * a statement that only reads by its words may change something: the transaction is then not divided.
   */
  goesOn?(signal: AbortSignal): Promise<boolean>;
}

export interface Backend extends Lane, AsyncDisposable {
  readonly cluster: string;
  readonly engine: string;
  /** What the engine reads, for records; undefined where no lexer of ours knows it. */
  readonly dialect?: Dialect;
  /** Reads of a long text, in steps, what the lane's statements will ask of it. Its class and digest are read already. */
  readAhead?(engineSql: string): Steps<void>;
  /** Opens a lane and begins a transaction with the modes of `query.statement`, the client's own BEGIN. `query.unsupported` where the engine has none. */
  begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>>;
  probe(signal: AbortSignal): Promise<"healthy" | "unhealthy">;
  /**
   * Tags (query/tag.ts) of the statements of ours, of every instance, that the engine runs now.
   * `complete` only when the engine was proved to show the statements of all users and nodes.
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
   * Every statement with a `maxExecutionMs` was sent with it as the engine's own limit, which no text and no
   * setting of a client raises, and by which the engine ends it wherever it stands. False until that is known.
   */
  readonly limitsExecution: boolean;
  /** Kinds of credentials that the engine takes from a client, for `passthrough`. */
  readonly forwards: readonly ForwardableKind[];
  /** What there is to query, as the identity of `query` sees it, for catalogs and listings. */
  listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>>;
  /** Catalog names the engine knows; the first is the default. */
  readonly catalogs: readonly string[];
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
}

/** Columns that tell the rows of a table apart (at most one primary key), or that are such columns of another table of the same schema. */
export type TableKey =
  | { readonly kind: "primary" | "unique"; readonly columns: readonly string[] }
  | {
      readonly kind: "foreign";
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
