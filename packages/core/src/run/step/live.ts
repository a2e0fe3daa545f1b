/**
 * A query while it lives: its cancel signal, its time limit, what its record will say.
 *
 * `LiveQueries` is the list of all of them in this process: for cancel by id, for the admin API, and
 * for the drain. It decides nothing about the query's way.
 */
import type { QueryRecord, QueryStatus, RoutingStep } from "@gateway/contract/record.ts";
import { abortError, gatewayError, type GatewayError } from "../../error.ts";
import type { Backend } from "../../port/backend.ts";
import type { Clock } from "../../port/clock.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { Batch } from "../../type/vector.ts";
import { batchBytes } from "../../type/size.ts";
import { Canceller } from "../../tool/canceller.ts";
import { Members, type Membership } from "../../tool/members.ts";
import type { LastEvent, QueryStats } from "../../query/event.ts";
import { withSettings } from "../../query/mysqlCall.ts";
import type { Identified, Query, QueryId, QueryLimits, Session } from "../../query/query.ts";

/** Where a query is now, for lists. */
export interface LiveView {
  readonly query: Query;
  readonly state: "queued" | "running";
  /** In its queue, 1 is next; undefined where it does not wait for a slot. */
  readonly position: number | undefined;
  readonly group: string | undefined;
  readonly cluster: string | undefined;
  /** What the engine reads; undefined until there is one, and where it is not known. */
  readonly targetDialect: Dialect | undefined;
  /** Unix milliseconds at which the query came. */
  readonly createdAt: number;
  readonly rows: number;
}

/** For a record without any: one value for all, since nobody changes a record. */
const noTags: QueryRecord["tags"] = {};
const noActions: QueryRecord["policyActions"] = [];
const noStats: QueryRecord["engineStats"] = {};

export class LiveQuery implements LiveView {
  readonly query: Query;
  readonly createdAt: number;
  readonly #clock: Clock;
  readonly #controller = new Canceller();
  readonly #client: AbortSignal;
  readonly #onClientAbort = (): void => this.cancel(abortError(this.#client));
  #limit: Disposable | undefined;
  #startedMs: number | undefined;
  #grantedMs: number | undefined;
  #maxRows = Number.POSITIVE_INFINITY;
  readonly trace: RoutingStep[] = [];
  #actions: string[] | undefined;
  group: string | undefined;
  cluster: string | undefined;
  engine: string | undefined;
  targetDialect: Dialect | undefined;
  /** What the engine was given; kept in the record only when it is not the client's own text. */
  engineSql: string | undefined;
  identityMode: string | undefined;
  /** The client's, then also its group's. */
  tags: Session["tags"];
  principal: string | undefined;
  position: number | undefined;
  rows = 0;
  bytes = 0;
  /** What was answered last of its times. */
  #told: QueryStats | undefined;
  /** Its place among those that live. */
  membership: Membership<LiveQuery> | undefined;

  constructor(query: Query, clock: Clock, client: AbortSignal) {
    this.query = query;
    this.#clock = clock;
    this.#client = client;
    this.createdAt = query.receivedUnixMs ?? clock.unixMs();
    this.tags = query.session.tags;
    if (client.aborted) this.#onClientAbort();
    else client.addEventListener("abort", this.#onClientAbort, { once: true });
  }

  /** Aborted when the client left, the query was cancelled, or a limit was reached; the reason is a `GatewayError`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get state(): "queued" | "running" {
    return this.#startedMs === undefined ? "queued" : "running";
  }

  cancel(reason: GatewayError): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** A slot was granted: the time limit starts. Called again by a second attempt, which shares the first one's limit. */
  started(cluster: string, limits: QueryLimits): void {
    this.cluster = cluster;
    if (this.#startedMs !== undefined) return;
    this.#startedMs = this.#grantedMs ?? this.#clock.nowMs();
    this.#limited(limits, 0);
  }

  /** Guards allow it less than its group does, counted from its start. */
  narrowed(limits: QueryLimits): void {
    this.#limit?.[Symbol.dispose]();
    this.#limited(limits, this.#clock.nowMs() - (this.#startedMs ?? 0));
  }

  /** Notes what a policy did, for the record. */
  acted(action: string): void {
    this.#actions ??= [];
    this.#actions.push(action);
  }

  #limited({ maxRows, maxExecutionMs }: QueryLimits, goneMs: number): void {
    this.#maxRows = maxRows ?? Number.POSITIVE_INFINITY;
    if (maxExecutionMs === undefined) return;
    this.#limit = this.#clock.timer(Math.max(0, maxExecutionMs - goneMs), () =>
      this.cancel(gatewayError("query.timeout")),
    );
  }

  /** Notes the engine behind the slot, for the record. */
  ranOn({ engine, dialect }: Pick<Backend, "engine" | "dialect">): void {
    this.engine = engine;
    this.targetDialect = dialect;
  }

  /** Notes what the engine is given and as whom, for the record. */
  identified({ engineSql, backendIdentity, session }: Identified): void {
    this.tags = session.tags;
    this.engineSql = engineSql;
    this.identityMode = backendIdentity.mode;
    this.principal =
      backendIdentity.mode === "serviceAccount" ? undefined : backendIdentity.principal;
  }

  /** Counts a batch; returns the error when the row limit is passed. */
  counted(batch: Batch): GatewayError | undefined {
    this.rows += batch.rows;
    this.bytes += batchBytes(batch);
    return this.rows > this.#maxRows ? gatewayError("query.tooManyRows") : undefined;
  }

  stats(): QueryStats {
    const now = this.#clock.nowMs();
    const startedMs = this.#startedMs ?? now;
    this.#told = {
      queueMs: toMicros(startedMs - this.query.receivedAtMs),
      executionMs: toMicros(now - startedMs),
      rows: this.rows,
      bytes: this.bytes,
    };
    return this.#told;
  }

  /** Of a moment that the clock told: so a query never ends before it begins, whoever sets the system's clock. */
  #unixOf(ms: number): number {
    return this.createdAt + Math.round(ms - this.query.receivedAtMs);
  }

  /** A slot was granted. Tells how long it has waited for that, in milliseconds. */
  granted(): number {
    this.#grantedMs = this.#clock.nowMs();
    return (this.#startedMs ?? this.#grantedMs) - this.query.receivedAtMs;
  }

  /** Ends timers and listeners and returns the record. Hashes are left to whoever writes it. */
  close(
    last: LastEvent,
    { revision, worker }: { readonly revision: string; readonly worker: string | undefined },
  ): QueryRecord {
    this.#limit?.[Symbol.dispose]();
    this.#client.removeEventListener("abort", this.#onClientAbort);
    // What the client was told of its times is what the record says.
    const told = last.kind === "done" && last.stats === this.#told ? this.#told : this.stats();
    const { queueMs, executionMs } = told;
    const { id, sql, session, mysql } = this.query;
    const error = last.kind === "failed" ? last.error : undefined;
    return {
      proxyQueryId: id,
      backendQueryId: undefined,
      createdAt: this.createdAt,
      startedAt: this.#startedMs === undefined ? undefined : this.#unixOf(this.#startedMs),
      // Later than its client was told where that took long to read.
      finishedAt: this.#unixOf(this.#clock.nowMs()),
      worker,
      frontend: session.frontend,
      user: session.identity.user,
      clientAddress: session.clientAddress,
      clusterGroup: this.group,
      cluster: this.cluster,
      engine: this.engine,
      catalog: session.catalog,
      schema: session.schema,
      tags: this.tags.size === 0 ? noTags : Object.fromEntries(this.tags),
      sql: withSettings(sql, mysql),
      translatedSql: this.engineSql === sql ? undefined : this.engineSql,
      sourceDialect: session.dialect,
      targetDialect: this.targetDialect,
      status: statusOf(last),
      errorCode: error?.code,
      errorMessage: error?.message,
      rowsReturned: this.rows,
      bytesReturned: this.bytes,
      queueMs,
      executionMs,
      backendIdentityMode: this.identityMode,
      enginePrincipal: this.principal,
      routingTrace: this.trace,
      policyActions: this.#actions ?? noActions,
      engineStats: noStats,
      revision,
      // Whoever writes it fills them in.
      sqlHash: undefined,
      digestHash: undefined,
    };
  }
}

/** In whole microseconds: digits beyond mean nothing, and take most of what writing a record's numbers does. */
function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Every query of the process that has not ended. */
export class LiveQueries {
  readonly #queries = new Members<LiveQuery>();
  #onIdle: (() => void)[] = [];

  open(query: Query, clock: Clock, client: AbortSignal): LiveQuery {
    const live = new LiveQuery(query, clock, client);
    live.membership = this.#queries.add(live);
    return live;
  }

  closed({ membership }: LiveQuery): void {
    if (membership !== undefined) this.#queries.remove(membership);
    if (this.#queries.size > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  /** Looks at each: few are asked for, and only by people. */
  get(id: QueryId): LiveQuery | undefined {
    return this.#queries.values().find(({ query }) => query.id === id);
  }

  list(): readonly LiveView[] {
    return this.#queries.values();
  }

  /** Resolves when no query lives, or when `signal` is aborted. */
  idle(signal: AbortSignal): Promise<void> {
    if (this.#queries.size === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Cancels everything that lives, for the end of a drain. */
  cancelAll(reason: GatewayError): void {
    for (const live of this.#queries.values()) live.cancel(reason);
  }
}

function statusOf(last: LastEvent): QueryStatus {
  if (last.kind === "done") return "finished";
  switch (last.error.code) {
    case "query.cancelled":
    case "query.abandoned":
      return "cancelled";
    case "policy.denied":
    case "route.denied":
    case "route.forbidden":
    case "auth.noBackendIdentity":
      return "denied";
    default:
      return "failed";
  }
}
