/** A plane over fakes for tests of the pipeline: one group, clusters with scripted backends, everything counted. */
import { sessionOf } from "../../rig/session.ts";
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Backend, PinnedLane } from "../../port/backend.ts";
import type { AdmitRequest, Capacity } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import { virtualHost, type VirtualHost } from "../../rig/virtual.ts";
import { err, ok, type Result } from "../../result.ts";
import { Generations, type Generation } from "../../snapshot/generation.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { Queued, ResultStream } from "../../query/event.ts";
import { LiveQueries } from "../step/live.ts";
import { queryMetrics } from "../step/metrics.ts";
import type { DataPlane } from "../step/plane.ts";
import type { Dialect } from "../../sql/dialect.ts";
import { readStatement } from "../../sql/statement.ts";
import type { BackendIdentity } from "../../query/identity.ts";
import type {
  Identified,
  Query,
  QueryId,
  Routed,
  Session,
  QueryLimits,
} from "../../query/query.ts";

/** What a cluster answers to `execute`. */
export type Execute = (query: Identified, signal: AbortSignal) => ResultStream;

export interface TestPlane extends DataPlane {
  readonly host: VirtualHost;
  readonly records: QueryRecord[];
  /** Slots held now. */
  readonly slots: Set<string>;
  /** What happened to lanes, in order: `begin main`, `commit`, `rollback`, `closed`. */
  readonly lanes: string[];
  /** What the breaker was told, in order: `main true`. */
  readonly reached: string[];
  drainNow(): void;
}

export interface PlaneOptions {
  readonly clusters: Readonly<Record<string, Execute>>;
  readonly limits?: QueryLimits;
  readonly refuse?: {
    readonly route?: GatewayError;
    readonly police?: GatewayError;
    readonly admit?: GatewayError;
    readonly translate?: GatewayError;
    readonly identify?: GatewayError;
  };
  /** Policies have to wait for somebody, as a policy server. */
  readonly policedLater?: boolean;
  /** What policies note of every query. */
  readonly acted?: readonly string[];
  readonly routeThrows?: boolean;
  /** The way is found without a wait. */
  readonly routesAtOnce?: boolean;
  /** What is left to be done behind an answer. */
  readonly behind?: DataPlane["behind"];
  /** The clusters' engines send at once what may come whole. */
  readonly ask?: NonNullable<Backend["ask"]>;
  readonly limitsThrow?: boolean;
  /** What the clusters read, by their names; DuckDB's unless told. */
  readonly dialects?: Readonly<Record<string, Dialect>>;
  /** What the translator makes of every statement; the client's own text unless told. */
  readonly engineSql?: string;
  /** A slot is there, and given back, without a wait. */
  readonly slotsAtOnce?: boolean;
  /** Positions shown before the slot. */
  readonly positions?: readonly number[];
  /** Whether a transaction goes on, and whether one can be begun. Without it none is divided. */
  readonly transactions?: {
    goesOn(): boolean;
    begins(): boolean;
    /** The engine's own savepoints, where it has them. */
    readonly divide?: NonNullable<PinnedLane["divide"]>;
  };
  /** Whose writes in a read-only transaction the engine itself refuses. */
  readonly refusesWritesOf?: Dialect;
  /** What guards say of the engine's text; nobody is asked without it. */
  readonly late?: Generation["late"];
  /** What an engine says of how much a statement would read, on every lane; without it, it can not say. */
  readonly estimateScan?: (cluster: string) => ReturnType<NonNullable<Backend["estimateScan"]>>;
  /** What an engine does when it is asked to describe; without it, it knows of no columns. */
  readonly describe?: Backend["describe"];
  /** As whom the engine sees a query; the service account unless told. */
  readonly identity?: BackendIdentity;
  /** No generation is active. */
  readonly notReady?: boolean;
}

export function planeOf(options: PlaneOptions): TestPlane {
  const host = virtualHost(1);
  const records: QueryRecord[] = [];
  const slots = new Set<string>();
  const lanes: string[] = [];
  const reached: string[] = [];
  let draining = false;
  const generations = new Generations();
  const generation = generationOf(options, lanes, reached);
  if (options.notReady !== true) void generations.swap(generation);
  return {
    host,
    generations,
    capacity: capacityOf(options, slots),
    history: { append: (record) => void records.push(record) },
    live: new LiveQueries(),
    metrics: queryMetrics(host.metrics),
    worker: undefined,
    idleInTransactionMs: 60_000,
    ...(options.behind !== undefined && { behind: options.behind }),
    draining: () => draining,
    drainNow: () => {
      draining = true;
    },
    records,
    slots,
    lanes,
    reached,
  };
}

function generationOf(options: PlaneOptions, lanes: string[], reached: string[]): Generation {
  const backends = Object.entries(options.clusters).map(([cluster, execute]) =>
    backendOf(cluster, execute, lanes, options),
  );
  return {
    revision: "1.1.test",
    judgesTexts: false,
    authenticator: {
      asksPassword: false,
      renew: (identity) => identity,
      authenticate: async () => err(gatewayError("auth.refused")),
    },
    renew: (identity) => identity,
    authorizer: { mayUse: async () => true, mayCancel: async () => false },
    route: (query, trace) => {
      const routed = (): Result<Routed, GatewayError> => {
        if (options.routeThrows === true) throw new Error("a bug in a router");
        if (options.refuse?.route !== undefined) return err(options.refuse.route);
        trace.push({ step: "fallback", outcome: "main" });
        return ok({ ...query, group: "main", trace });
      };
      return options.routesAtOnce === true ? routed() : Promise.resolve().then(routed);
    },
    tagged: (query) => query,
    police: (query, log) => {
      for (const action of options.acted ?? []) log.acted(action);
      const refusal = options.refuse?.police;
      const policed =
        refusal === undefined ? ok({ ...query, allowedSql: query.sql }) : err(refusal);
      return options.policedLater === true ? Promise.resolve(policed) : policed;
    },
    shown: (_query, tables) => tables,
    admission: (query, excluded) => {
      const left = backends.filter(({ cluster }) => !excluded.has(cluster));
      if (left.length === 0) return err(gatewayError("cluster.unavailable"));
      const candidates = left.map(({ cluster }) => ({
        cluster,
        clusterCap: undefined,
        groupCap: 1,
      }));
      const request: AdmitRequest = {
        query,
        group: "main",
        weight: 1,
        maxQueued: undefined,
        waitTimeoutMs: 1000,
        candidates: () => candidates,
      };
      return ok(request);
    },
    translate: (query) => {
      if (options.refuse?.translate !== undefined) return err(options.refuse.translate);
      return ok({
        ...query,
        engineSql: options.engineSql ?? query.allowedSql,
        maxExecutionMs: options.limits?.maxExecutionMs,
      });
    },
    identify: (query) => {
      if (options.refuse?.identify !== undefined) return err(options.refuse.identify);
      return ok({ ...query, backendIdentity: options.identity ?? { mode: "serviceAccount" } });
    },
    late: options.late ?? (() => undefined),
    audience: () => "",
    backend: (name) => {
      const found = backends.find(({ cluster }) => cluster === name);
      if (found === undefined) throw new Error(`no cluster ${name}`);
      return found;
    },
    backends: () => backends,
    health: () => [],
    members: () => backends,
    catalogs: () => ["memory"],
    limits: () => {
      if (options.limitsThrow === true) throw new Error("a bug in a group");
      return options.limits ?? { maxExecutionMs: undefined, maxRows: undefined };
    },
    attempt: (_group, cluster) => (outcome) => void reached.push(`${cluster} ${outcome}`),
    close: async () => {},
  };
}

function backendOf(
  cluster: string,
  execute: Execute,
  lanes: string[],
  {
    transactions,
    dialects,
    refusesWritesOf,
    describe = async () => ok({ parameters: [], columns: [] }),
    estimateScan,
    ask,
  }: PlaneOptions,
): Backend {
  const estimates =
    estimateScan === undefined ? {} : { estimateScan: async () => await estimateScan(cluster) };
  const pinned: PinnedLane = {
    execute,
    describe,
    ...estimates,
    commit: async () => logged(lanes, "commit"),
    rollback: async () => logged(lanes, "rollback"),
    ...(transactions === undefined ? {} : { goesOn: async () => transactions.goesOn() }),
    ...(refusesWritesOf === undefined ? {} : { refusesWritesOf }),
    ...(transactions?.divide === undefined ? {} : { divide: transactions.divide }),
    [Symbol.asyncDispose]: async () => void lanes.push("closed"),
  };
  return {
    cluster,
    engine: "duckDb",
    dialect: dialects?.[cluster] ?? "duckdb",
    catalogs: ["memory", cluster],
    execute,
    describe,
    ...estimates,
    ...(ask === undefined ? {} : { ask }),
    begin: async () => {
      if (transactions?.begins() === false) return err(gatewayError("cluster.connectFailed"));
      lanes.push(`begin ${cluster}`);
      return ok(pinned);
    },
    probe: async () => "healthy",
    running: async () => ok({ tags: [], complete: true, delayMs: 0 }),
    end: async () => ok(undefined),
    runsIn: "engine",
    limitsExecution: false,
    forwards: ["password", "bearer"],
    listTables: async () => ok([]),
    [Symbol.asyncDispose]: async () => {},
  };
}

function logged(lanes: string[], what: string): Result<void, GatewayError> {
  lanes.push(what);
  return ok(undefined);
}

function capacityOf(options: PlaneOptions, slots: Set<string>): Capacity {
  let fence = 0;
  function slotFor(request: AdmitRequest): Slot | undefined {
    const [candidate] = request.candidates(() => 0);
    if (candidate === undefined) return undefined;
    fence += 1;
    const key = `${candidate.cluster}#${fence}`;
    slots.add(key);
    return {
      cluster: candidate.cluster,
      fence,
      holder: `test/${fence}`,
      ...(options.slotsAtOnce === true && { release: () => void slots.delete(key) }),
      [Symbol.asyncDispose]: async () => void slots.delete(key),
    };
  }
  async function* admit(
    request: AdmitRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Queued, Result<Slot, GatewayError>, void> {
    for (const position of options.positions ?? []) yield { kind: "queued", position };
    if (options.refuse?.admit !== undefined) return err(options.refuse.admit);
    if (signal.aborted) return err(gatewayError("query.cancelled"));
    const slot = slotFor(request);
    return slot === undefined ? err(gatewayError("cluster.unavailable")) : ok(slot);
  }
  const admitNow = (request: AdmitRequest): Slot | undefined =>
    options.slotsAtOnce === true ? slotFor(request) : undefined;
  return { admitNow, admit, wake: () => {}, counts: () => [] };
}

/** A query of alice over PostgreSQL. */
export function queryOf(sql: string, session: Partial<Session> = {}): Query {
  return {
    id: `query ${sql}` as QueryId,
    sql,
    statement: readStatement(sql, session.dialect ?? "postgres"),
    parameters: [],
    takes: [],
    receivedAtMs: 0,
    session: sessionOf({
      identity: { user: "alice", groups: [], roles: [], method: "none" },
      ...session,
    }),
  };
}
