/**
 * The engines' own metadata as a catalog. The clusters of the group where a statement goes are asked about each table,
 * and have to agree: a statement is policed before anybody knows which of them will run it.
 *
 * They are asked as the gateway, in an identity that no statement of a user ever has, and what they say is shown to
 * nobody but through a decision. Like their health, it takes no slot; few are asked at once.
 */
import type { EngineCatalogConfig } from "@gateway/contract/config/catalogProvider.ts";
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { lower } from "@gateway/core/police/names.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Catalog, CatalogAnswer } from "@gateway/core/port/sql/catalog.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, QueryId } from "@gateway/core/query/query.ts";
import { unreachable } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { deferred } from "@gateway/core/tool/pause.ts";
import { columnsOn, columnsSql, namePartsIn } from "./metadata.ts";
import { RememberedTables, type Said } from "./remembered.ts";

/** Statements for metadata that run on one cluster at once. Further ones wait, within their time limit. */
const askedMax = 4;
/** How long it counts that there is no such table. */
const absentMs = 5_000;

/** An open cluster, and how its queries are identified. */
export interface AskedCluster {
  readonly backend: Pick<Backend, "cluster" | "engine" | "dialect" | "execute">;
  readonly queryAuth: QueryAuth | undefined;
}

/** Those of a group that a statement may reach. Asked for each table. */
export type ClustersOf = (group: string) => readonly AskedCluster[];

/** Opens nothing before it is asked. `all`: the clusters that may be asked at all, for the length of names. */
export function engineCatalog(
  config: EngineCatalogConfig,
  host: Pick<Host, "clock" | "log">,
  { all, of }: { readonly all: readonly AskedCluster[]; readonly of: ClustersOf },
): Catalog {
  const clusters = new Map<string, ClusterTables>();
  const tablesOf = (asked: AskedCluster): ClusterTables => {
    const { cluster } = asked.backend;
    const own = clusters.get(cluster) ?? new ClusterTables(asked, config, host);
    clusters.set(cluster, own);
    return own;
  };
  return {
    perGroup: true,
    nameParts: Math.max(2, ...all.map(({ backend }) => namePartsIn(backend.dialect) ?? 2)),
    table: (path, signal, group) => {
      const said = of(group).map((asked) => tablesOf(asked).table(path, signal));
      const settled = said.filter((one): one is CatalogAnswer => !(one instanceof Promise));
      if (settled.length === said.length) return agreed(settled, host.log, group);
      return Promise.all(said.map(async (one) => await one)).then((answers) =>
        agreed(answers, host.log, group),
      );
    },
  };
}

/** What all of them say; unavailable where one says nothing, or something else. */
function agreed(answers: readonly CatalogAnswer[], log: Host["log"], group: string): CatalogAnswer {
  const [first, ...others] = answers;
  if (first === undefined || first.kind === "unavailable") return unavailable;
  let untilMs = first.untilMs ?? Number.POSITIVE_INFINITY;
  for (const other of others) {
    if (other.kind === "unavailable") return unavailable;
    if (!isSame(first, other)) {
      log.write("warn", "catalog.disagrees", { group });
      return unavailable;
    }
    untilMs = Math.min(untilMs, other.untilMs ?? Number.POSITIVE_INFINITY);
  }
  return { ...first, untilMs };
}

const unavailable = { kind: "unavailable" } as const;

type Answered = Exclude<CatalogAnswer, { kind: "unavailable" }>;

/** Types have other names in other engines. */
function isSame(one: Answered, other: Answered): boolean {
  if (one.kind === "unknown" || other.kind === "unknown") return one.kind === other.kind;
  return (
    one.isView === other.isView &&
    one.columns.length === other.columns.length &&
    one.columns.every((name, index) => lower(name) === lower(other.columns[index] ?? ""))
  );
}

/** What one cluster said. */
class ClusterTables {
  readonly #asked: AskedCluster;
  readonly #identity: BackendIdentity | undefined;
  readonly #host: Pick<Host, "clock" | "log">;
  readonly #timeoutMs: number;
  readonly #tables: RememberedTables;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(asked: AskedCluster, config: EngineCatalogConfig, host: Pick<Host, "clock" | "log">) {
    const { timeoutMs, cacheTtlMs: ttlMs, staleMs, account } = config;
    this.#asked = asked;
    this.#identity = identityOf(asked.queryAuth, account);
    this.#host = host;
    this.#timeoutMs = timeoutMs;
    const ages = { ttlMs, behindMs: (ttlMs * 3) / 4, absentMs: Math.min(absentMs, ttlMs), staleMs };
    const about = { cluster: asked.backend.cluster };
    this.#tables = new RememberedTables(host, ages, (path) => this.#said(path), about);
  }

  table(path: readonly string[], signal: AbortSignal): CatalogAnswer | Promise<CatalogAnswer> {
    return this.#tables.table(path, signal);
  }

  async #said(path: readonly string[]): Promise<Said> {
    const { backend } = this.#asked;
    const { dialect } = backend;
    if (namePartsIn(dialect) === undefined) return "the engine's dialect is not known";
    if (this.#identity === undefined) return "no account to ask as";
    const sql = columnsSql(dialect ?? "generic", path);
    if (sql === undefined) return undefined;
    const limit = new AbortController();
    const slow = deferred<"slow">();
    // A driver may hear the signal late.
    using _timer = this.#host.clock.timer(this.#timeoutMs, () => {
      limit.abort();
      slow.resolve("slow");
    });
    const query = queryOf(sql, { backend, identity: this.#identity, timeoutMs: this.#timeoutMs });
    return await Promise.race([this.#run(query, path, limit.signal), slow.promise]);
  }

  /** A turn is given on when the engine is done, not when nobody waits for it any more. */
  async #run(query: Identified, path: readonly string[], signal: AbortSignal): Promise<Said> {
    if (this.#running >= askedMax) {
      const turn = deferred<void>();
      this.#waiting.push(() => turn.resolve());
      await turn.promise;
    } else {
      this.#running += 1;
    }
    try {
      return signal.aborted ? "slow" : await columnsOn(this.#asked.backend, query, path, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** As whom a cluster is asked; undefined where the configuration names nobody who could. */
function identityOf(
  queryAuth: QueryAuth | undefined,
  account: EngineCatalogConfig["account"],
): BackendIdentity | undefined {
  const type = queryAuth?.type ?? "serviceAccount";
  switch (type) {
    case "serviceAccount":
      return { mode: type };
    case "impersonate":
      return account && { mode: type, principal: account.user };
    case "passthrough": {
      if (account?.password === undefined) return undefined;
      const { user } = account;
      const password = new Secret(secretText(account.password));
      return {
        mode: type,
        principal: user,
        credential: { kind: "password", user, password },
      };
    }
    case "tokenExchange":
      return undefined;
    default:
      return unreachable(type);
  }
}

let asked = 0;

/** A query that no client sent. Its slot is nobody's: it stands for no right to run. */
function queryOf(
  sql: string,
  {
    backend,
    identity,
    timeoutMs,
  }: {
    readonly backend: AskedCluster["backend"];
    readonly identity: BackendIdentity;
    readonly timeoutMs: number;
  },
): Identified {
  const dialect: Dialect = backend.dialect ?? "generic";
  return {
    id: `catalog${(asked += 1)}` as QueryId,
    sql,
    statement: readStatement(sql, dialect),
    allowedSql: sql,
    engineSql: sql,
    parameters: [],
    takes: [],
    receivedAtMs: 0,
    group: "catalog",
    trace: [],
    maxExecutionMs: timeoutMs,
    backendIdentity: identity,
    slot: {
      cluster: backend.cluster,
      fence: 0,
      holder: "catalog/0",
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    session: {
      frontend: "catalog",
      identity: { user: "gateway", groups: [], roles: [], method: "none" },
      credential: { kind: "none" },
      clientAddress: "",
      dialect,
      catalog: undefined,
      schema: undefined,
      settings: new Map(),
      tags: new Map(),
      headers: new Map(),
      pin: undefined,
    },
  };
}
