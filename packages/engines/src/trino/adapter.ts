/** A Trino cluster as a backend: every statement is a conversation of its own over a pool of connections; nothing of one session stays for the next. */
import type { GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { tlsTrust } from "../connect/tls.ts";
import type { TrinoConfig } from "./config.ts";
import { describeStatement } from "./describe.ts";
import { Health } from "./health.ts";
import { TrinoHttp } from "./http.ts";
import { beginTransaction } from "./lane.ts";
import { Listing } from "./listing.ts";
import { runStatement, type Lane } from "./run.ts";
import { ownHeaders, statementHeaders } from "./session.ts";
import { sentStatement } from "./statement.ts";

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
  readonly runsIn = "engine";
  readonly forwards = [];
  readonly cluster: string;
  readonly #config: TrinoConfig;
  readonly #lane: Lane;
  readonly #listing: Listing;
  readonly #health: Health;
  #closed: Promise<void> | undefined;

  constructor(cluster: string, config: TrinoConfig, lane: Lane) {
    const headers = ownHeaders(config);
    this.cluster = cluster;
    this.#config = config;
    this.#lane = lane;
    this.#listing = new Listing(lane, headers, config.catalog);
    this.#health = new Health(lane, headers, config.healthCheckQuery);
  }

  get catalogs(): readonly string[] {
    return this.#listing.catalogs;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const sent = sentStatement(query.engineSql, query.parameters);
    if (!sent.ok) return yield { kind: "failed", error: sent.error };
    const { session, takes } = query;
    const headers = statementHeaders(this.#config, query);
    const native = takes.includes("trinoData");
    yield* runStatement(this.#lane, { ...sent.value, headers, session, native }, signal);
  }

  describe(query: Identified, signal: AbortSignal): Promise<Result<Description, GatewayError>> {
    const headers = statementHeaders(this.#config, query);
    return describeStatement(this.#lane, query.engineSql, headers, signal);
  }

  begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    return beginTransaction(this.#lane, this.#config, query, signal);
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    if (this.#closed !== undefined || !(await this.#health.probe(signal))) return "unhealthy";
    // Clients are told the catalogs at their login, which can not wait for an answer.
    if (this.#listing.catalogs.length <= 1) await this.#listing.refresh(signal);
    return "healthy";
  }

  running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    return this.#health.running(signal);
  }

  end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#health.end(tag, signal);
  }

  listTables(
    _query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    return this.#listing.tables(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#lane.http.close();
    return this.#closed;
  }
}
