/** A StarRocks cluster as a backend: a pool of connections for statements, and one for KILL and lists. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import type { ForwardableKind } from "@gateway/core/query/identity.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { tlsTrust } from "../connect/tls.ts";
import { asOf, Callers } from "./client/callers.ts";
import { requiresTls, type StarRocksConfig, type StarRocksMode } from "./config.ts";
import { connected } from "./client/connect.ts";
import { ask, type Rows } from "./client/control.ts";
import { endStatement, listSql, taggedWith } from "./client/ending.ts";
import { greets } from "./client/greeting.ts";
import { bring, describeOn, runOn, TransactionLane, type RunContext } from "./lane.ts";
import { EngineLimit } from "./limit.ts";
import { tablesOf, tablesSql } from "./listing.ts";
import type { Account, Server } from "./client/login.ts";
import type { Member } from "./client/member.ts";
import { placesAhead } from "./sql/parameters.ts";
import { Pool, type Taken } from "./client/pool.ts";
import { bringing, catalogName } from "./client/session.ts";

/** How long the server may take to end a statement. */
const endingMs = 10_000;
/** A statement shows in the list as soon as it was taken up. */
const delayMs = 1_000;
const defaultPort = 9030;

/** Makes the cluster's pools; an unreachable server opens and is unhealthy. */
export async function open(
  cluster: string,
  config: StarRocksConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const trust = requiresTls(config.endpoint) ? await tlsTrust(config.tls) : undefined;
  if (trust?.ok === false) return trust;
  const url = new URL(config.endpoint);
  const server: Server = {
    host: url.hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? defaultPort : Number(url.port),
    tls: trust?.value,
    connectTimeoutMs: config.connectTimeoutSecs * 1_000,
  };
  return ok(openOn(server, { cluster, config, host }));
}

/** A backend of any server of the family that was found otherwise. */
export function openOn(
  server: Server,
  {
    cluster,
    config,
    host,
  }: { readonly cluster: string; readonly config: StarRocksConfig; readonly host: Host },
): Backend {
  return new StarRocksBackend(cluster, config, host, server);
}

function beginSql({ statement: { modes } }: Identified): string {
  const characteristics = [
    ...(modes.consistentSnapshot ? ["WITH CONSISTENT SNAPSHOT"] : []),
    ...(modes.readOnly === true ? ["READ ONLY"] : []),
  ];
  return characteristics.length === 0 ? "BEGIN" : `START TRANSACTION ${characteristics.join(", ")}`;
}

/** A connection and what may be done on it. */
interface Stand {
  readonly taken: Taken;
  readonly context: RunContext;
}

class StarRocksBackend implements Backend {
  readonly engine = "starRocks";
  readonly dialect = "mysql";
  readonly readAhead = placesAhead;
  readonly catalogs: readonly string[] = [catalogName];
  readonly runsIn = "engine";
  readonly forwards: readonly ForwardableKind[] = ["password"];
  readonly cluster: string;
  readonly #config: StarRocksConfig;
  readonly #mode: StarRocksMode;
  readonly #host: Host;
  readonly #server: Server;
  readonly #pool: Pool;
  readonly #control: Pool;
  readonly #callers: Callers;
  readonly #limit = new EngineLimit();
  readonly #ownTag: string;
  #statuses: Member["greeted"] | undefined;
  #closed = false;

  constructor(cluster: string, config: StarRocksConfig, host: Host, server: Server) {
    this.cluster = cluster;
    this.#config = config;
    this.#mode = config.queryAuth?.type ?? "serviceAccount";
    this.#host = host;
    this.#server = server;
    const pool = {
      idleMs: config.idleTimeoutSecs * 1_000,
      clock: host.clock,
      connect: () => this.#connect(),
    };
    this.#pool = new Pool({ ...pool, size: config.poolSize });
    this.#control = new Pool({ ...pool, size: 1 });
    this.#callers = new Callers(server, this.#pool, host);
    this.#ownTag = `${tagPrefix}own/${Buffer.from(host.randomBytes(8)).toString("hex")}/0`;
  }

  get statuses(): Member["greeted"] | undefined {
    return this.#statuses;
  }

  /** Known when a statement was sent with one. */
  get limitsExecution(): boolean {
    return this.#limit.holds;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const stand = await this.#take(query, signal);
    if (!stand.ok) return yield { kind: "failed", error: stand.error };
    const { taken, context } = stand.value;
    using held = taken;
    yield* runOn(held.member, query, context, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const stand = await this.#take(query, signal);
    if (!stand.ok) return stand;
    const { taken, context } = stand.value;
    using held = taken;
    return await describeOn(held.member, query, context, signal);
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    const stand = await this.#take(query, signal);
    if (!stand.ok) return stand;
    const { taken, context } = stand.value;
    // Before it begins: the isolation of the session is that of its next transaction.
    const refused = await bring(taken.member, query.session, context, signal);
    const begun = refused ? err(refused) : await ask(taken.member, beginSql(query), signal);
    if (begun.ok) return ok(new TransactionLane(taken, context, query.backendIdentity));
    taken.member.tainted = true;
    taken[Symbol.dispose]();
    return begun;
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    const healthy = this.#hasAccount
      ? (await this.#ask(this.#config.healthCheckQuery ?? "SELECT 1", signal)).ok
      : !this.#closed && (await greets(this.#server, this.#host, signal));
    return healthy ? "healthy" : "unhealthy";
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    if (!this.#hasAccount) return ok({ tags: [], complete: false, delayMs });
    const answer = await this.#ask(`/* ${this.#ownTag} */ ${listSql}`, signal);
    if (!answer.ok) return answer;
    const tags = answer.value.flatMap((row) => taggedWith(row) ?? []);
    // The list shows the statement that asked for it, so others of this account are shown as well; of callers' own accounts that says nothing.
    const complete = this.#mode === "serviceAccount" && tags.includes(this.#ownTag);
    return ok({
      tags: tags.filter((tag) => !tag.startsWith(`${tagPrefix}own/`)),
      complete,
      delayMs,
    });
  }

  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    if (!this.#hasAccount) return err(gatewayError("query.unsupported"));
    const list = await this.#ask(listSql, signal);
    if (!list.ok) return list;
    for (const row of list.value.filter((cells) => taggedWith(cells) === tag)) {
      const killed = await this.#ask(`KILL QUERY ${Number(row[0])}`, signal);
      if (!killed.ok) return killed;
    }
    return ok(undefined);
  }

  async listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const answer = await this.#listed(query, signal);
    return answer.ok ? ok(tablesOf(answer.value)) : answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#pool.close();
    this.#control.close();
  }

  /**
   * Under `serviceAccount` a cluster without `auth` logs in however the server lets it. Under any other mode
   * there is no account to log in as.
   */
  get #hasAccount(): boolean {
    return this.#mode === "serviceAccount" || this.#config.auth !== undefined;
  }

  async #listed(query: Identified, signal: AbortSignal): Promise<Result<Rows, GatewayError>> {
    const as = asOf(query, this.#mode);
    if (!as.ok) return as;
    if (as.value.kind === "service") return await this.#ask(tablesSql, signal);
    const stand = await this.#take(query, signal);
    if (!stand.ok) return stand;
    using held = stand.value.taken;
    return await ask(held.member, tablesSql, signal);
  }

  /** A connection of the query's identity that can be brought where the session stands. */
  async #take(query: Identified, signal: AbortSignal): Promise<Result<Stand, GatewayError>> {
    const as = asOf(query, this.#mode);
    if (!as.ok) return as;
    const { session } = query;
    const { database } = this.#config;
    if (as.value.kind === "caller") {
      const { account } = as.value;
      const taken = await this.#callers.take(account, session.schema ?? database, query, signal);
      return taken.ok ? ok({ taken: taken.value, context: this.#context(account) }) : taken;
    }
    for (;;) {
      const taken = await this.#pool.take(signal);
      if (!taken.ok) return taken;
      const { member } = taken.value;
      // A limit, like a variable, has no way back to what the server had before.
      const fits = member.limit === undefined || query.maxExecutionMs !== undefined;
      if (fits && bringing(member, session, database) !== undefined)
        return ok({ taken: taken.value, context: this.#context(undefined) });
      member.tainted = true;
      taken.value[Symbol.dispose]();
    }
  }

  #context(account: Account | undefined): RunContext {
    return {
      clock: this.#host.clock,
      database: this.#config.database,
      limit: this.#limit,
      endIn: (member) => this.#endIn(member, account),
    };
  }

  async #connect(): Promise<Result<Member, GatewayError>> {
    const { auth, database } = this.#config;
    const account =
      auth === undefined
        ? undefined
        : { user: auth.username, password: new Secret(secretText(auth.password)) };
    const made = await connected({ server: this.#server, account, database }, this.#host);
    if (!made.ok) return err(gatewayError("cluster.connectFailed", { detail: made.error.code }));
    this.#statuses = made.value.greeted;
    return made;
  }

  /**
   * Ends what a connection runs, as the account that runs it, or else as the service account. The
   * connection is of no use afterwards.
   */
  async #endIn(member: Member, account: Account | undefined): Promise<void> {
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(endingMs, () => limit.abort());
    member.discard();
    if (!this.#closed && member.open) {
      const { signal } = limit;
      const done = account !== undefined && (await this.#callers.end(member, account, signal));
      if (!done && this.#hasAccount) {
        const { threadId } = member;
        const { clock } = this.#host;
        await endStatement({ threadId, clock, ask: (sql, until) => this.#ask(sql, until) }, signal);
      }
    }
    member.destroy();
  }

  /** Asks as the service account. */
  async #ask(sql: string, signal: AbortSignal): Promise<Result<Rows, GatewayError>> {
    if (this.#closed || !this.#hasAccount) return err(gatewayError("cluster.connectFailed"));
    const taken = await this.#control.take(signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    const answer = await ask(held.member, sql, signal);
    if (!answer.ok && answer.error.code === "engine.broken") held.member.destroy();
    return answer;
  }
}
