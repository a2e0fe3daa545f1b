/**
 * A Trino cluster as a backend. Every statement has a client of its own over a pool of connections; nothing
 * of one session stays for the next.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  ScanEstimate,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import type { Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { tlsTrust } from "../connect/tls.ts";
import type { TrinoConfig } from "./config.ts";
import { describeStatement } from "./describe.ts";
import { estimateStatement } from "./estimate.ts";
import { Health } from "./health.ts";
import { TrinoHttp } from "./client/http.ts";
import { beginTransaction } from "./lane.ts";
import { callersOf } from "./identity.ts";
import { Listing } from "./listing.ts";
import { AskedStatement } from "./client/asked.ts";
import { runStatement, type EngineStatement, type RunContext } from "./client/run.ts";
import { headsOf, ownHeaders, type HeadOf, type RequestHead } from "./client/session.ts";
import { placedStatement, sentStatement } from "./sql/statement.ts";

/** Opens the cluster without asking it anything. Refuses with `cluster.connectFailed` only when the CA file can not be read. */
export async function open(
  cluster: string,
  config: TrinoConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const tls = await tlsTrust(config.tls);
  if (!tls.ok) return tls;
  return ok(
    new TrinoBackend(cluster, config, { http: new TrinoHttp(config, tls.value, host), host }),
  );
}

class TrinoBackend implements Backend {
  readonly engine = "trino";
  readonly dialect = "trino";
  readonly readAhead = (sql: string): Steps<void> => placedStatement.ahead(sql);
  readonly runsIn = "engine";
  readonly limitsExecution = true;
  readonly forwards = ["password", "bearer"] as const;
  readonly cluster: string;
  readonly #context: RunContext;
  /** Every statement's user and credential come from here. */
  readonly #headOf: HeadOf;
  /** Of the gateway itself, where all users see what it sees. */
  readonly #everyone: RequestHead | undefined;
  readonly #listing: Listing;
  readonly #health: Health;
  #closed: Promise<void> | undefined;

  constructor(cluster: string, config: TrinoConfig, context: RunContext) {
    const callers = callersOf(config);
    const own =
      callers.own === undefined
        ? undefined
        : { headers: ownHeaders, tags: undefined, caller: callers.own };
    this.cluster = cluster;
    this.#context = context;
    this.#headOf = headsOf(config, callers);
    this.#listing = new Listing(context, config.catalog);
    const mode = config.queryAuth?.type ?? "serviceAccount";
    this.#everyone = mode === "serviceAccount" ? own : undefined;
    this.#health = new Health(context, { own, mode, checkSql: config.healthCheckQuery });
  }

  get catalogs(): readonly string[] {
    return this.#listing.catalogs;
  }

  execute(query: Identified, signal: AbortSignal): ResultStream {
    return streamOf(this.course(query, signal));
  }

  *course(query: Identified, signal: AbortSignal): Course {
    const statement = this.#statementOf(query);
    if (statement.ok) yield* runStatement(this.#context, statement.value, signal);
    else yield { kind: "failed", error: statement.error };
  }

  ask(query: Identified, signal: AbortSignal): Asked | undefined {
    if (signal.aborted || this.#closed !== undefined) return undefined;
    const statement = this.#statementOf(query);
    return statement.ok ? new AskedStatement(this.#context, statement.value, signal) : undefined;
  }

  #statementOf(query: Identified): Result<EngineStatement, GatewayError> {
    const head = this.#headOf(query);
    if (!head.ok) return head;
    const sent = sentStatement(query);
    if (!sent.ok) return sent;
    const { sql, offset } = sent.value;
    const { headers, tags, caller } = head.value;
    const { session, takes } = query;
    const native = takes.includes("trinoData");
    return ok({ sql, offset, headers, tags, caller, session, native });
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const head = this.#headOf(query);
    if (!head.ok) return head;
    return await describeStatement(this.#context, query.engineSql, head.value, signal);
  }

  async estimateScan(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>> {
    const head = this.#headOf(query);
    return head.ok ? await estimateStatement(this.#context, query, head.value, signal) : head;
  }

  begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    return beginTransaction(this.#context, this.#headOf, query, signal);
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    if (this.#closed !== undefined || !(await this.#health.probe(signal))) return "unhealthy";
    // Clients are told the catalogs at their login, which can not wait for an answer.
    if (this.#everyone !== undefined) await this.#listing.refresh(this.#everyone, signal);
    return "healthy";
  }

  running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    return this.#health.running(signal);
  }

  end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#health.end(tag, signal);
  }

  async listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const head = this.#headOf(query);
    return head.ok ? await this.#listing.tables(head.value, signal) : head;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#context.http.close();
    return this.#closed;
  }
}
