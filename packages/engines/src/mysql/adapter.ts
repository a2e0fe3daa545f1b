/**
 * A MySQL or MariaDB cluster as a backend. Statements of MySQL's own clients are relayed on connections of their
 * kind; those of other protocols are answered as by every server of the family.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import { courseOf, waited, type Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { ForwardableKind } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import { Secret } from "@gateway/core/secret.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { Logins } from "../connect/logins.ts";
import { asOf, errorOfLogin } from "../starRocks/client/callers.ts";
import { ask } from "../starRocks/client/control.ts";
import { catalogName } from "../starRocks/client/session.ts";
import type { Account, Server } from "../starRocks/client/login.ts";
import type { StarRocksConfig } from "../starRocks/config.ts";
import { placesAhead } from "../starRocks/sql/parameters.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { judgeAhead } from "./sql/guard.ts";
import { bring, sayNext } from "./client/bring.ts";
import { killQuery } from "./client/killing.ts";
import { serversOf } from "./client/reach.ts";
import type { Seat } from "./client/seat.ts";
import { SeatPool } from "./client/seatPool.ts";
import { Seating, type Login } from "./client/seating.ts";
import type { MysqlConfig } from "./config.ts";
import { isCalled, type Called, type RunContext } from "./admission.ts";
import { askedOn, type AskedParts } from "./asked.ts";
import { courseOn, describeOn, MysqlLane } from "./lane.ts";
import { beginSql } from "./sql/begin.ts";

/** Makes the cluster's pools; an unreachable server opens and is unhealthy. */
export async function open(
  cluster: string,
  config: MysqlConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const servers = await serversOf(config);
  if (!servers.ok) return servers;
  const [first] = servers.value;
  if (first === undefined) return err(gatewayError("cluster.connectFailed"));
  const { openOn } = await import("../starRocks/adapter.ts");
  const plain = openOn(first, { cluster, config: plainConfig(config, first), host });
  return ok(new MysqlBackend({ cluster, config, host, servers: servers.value, plain }));
}

/** What clients of other protocols find is one server of the family: the first. */
function plainConfig(config: MysqlConfig, { host, port, tls }: Server): StarRocksConfig {
  const name = host.includes(":") ? `[${host}]` : host;
  const query = tls === undefined ? "" : "?require_ssl=true";
  return { ...config, engine: "starRocks", endpoint: `mysql://${name}:${port}${query}` };
}

interface Parts {
  readonly cluster: string;
  readonly config: MysqlConfig;
  readonly host: Host;
  readonly servers: readonly Server[];
  readonly plain: Backend;
}

class MysqlBackend implements Backend {
  readonly engine = "mysql";
  readonly dialect = "mysql";
  readonly speaks = "mysql";
  readonly runsIn = "engine";
  /** A limit of the server's own does not hold for every statement, and a client's hint may raise it. */
  readonly limitsExecution = false;
  readonly catalogs: readonly string[] = [catalogName];
  readonly forwards: readonly ForwardableKind[] = ["password"];
  readonly cluster: string;
  readonly #parts: Parts;
  readonly #logins: Logins;
  readonly #pool: SeatPool;
  readonly #seating: Seating;
  readonly #context: RunContext;
  /** Of statements on connections of the pool's. */
  readonly #shared: RunContext;
  readonly #sharedWhole: RunContext;
  /** Of those that are sent at once. */
  readonly #asking: AskedParts;

  constructor(parts: Parts) {
    const { cluster, config, host, servers } = parts;
    const { database, localFiles, globalVariables } = config;
    this.cluster = cluster;
    this.#parts = parts;
    const idleMs = config.idleTimeoutSecs * 1_000;
    const { poolMode, poolSize: size } = config;
    const keptMax = poolMode === "session" ? size : Math.max(1, size - 1);
    this.#logins = new Logins(host, config.connectTimeoutSecs * 1_000);
    const { clock } = host;
    this.#pool = new SeatPool({ size, keptMax, idleMs, clock, logins: this.#logins });
    this.#seating = new Seating({ cluster, servers, pool: this.#pool, host, database, localFiles });
    this.#context = {
      clock: host.clock,
      slices: host.slices,
      database,
      localFiles,
      globalVariables,
      keep: (seat, query, reason) => this.#keep(seat, query, reason),
      cancel: (seat) => killQuery(seat, host),
    };
    const lend = (seat: Seat, { mysql }: Called) => this.#seating.lend(seat, mysql.home);
    this.#shared = { ...this.#context, lend };
    this.#sharedWhole = { ...this.#shared, whole: true };
    this.#asking = { context: this.#sharedWhole, leave: (seat) => this.#leave(seat) };
  }

  get statuses(): ReadonlyMap<string, string> | undefined {
    return this.#seating.greeted ?? this.#parts.plain.statuses;
  }

  *readAhead(sql: string): Steps<void> {
    yield* placesAhead(sql);
    yield* judgeAhead(sql, this.#context);
  }

  execute(query: Identified, signal: AbortSignal): ResultStream {
    return streamOf(this.course(query, signal));
  }

  *course(query: Identified, signal: AbortSignal, whole: boolean = false): Course {
    if (!isCalled(query)) return yield* courseOf(this.#parts.plain.execute(query, signal));
    const now = this.#takenNow(query, signal);
    const taken = now === undefined ? yield* waited(this.#take(query, signal)) : ok(now);
    if (!taken.ok) {
      yield { kind: "failed", error: taken.error };
      return;
    }
    try {
      const context = whole ? this.#sharedWhole : this.#shared;
      yield* courseOn(taken.value, query, context, signal);
    } finally {
      this.#leave(taken.value);
    }
  }

  ask(query: Identified, signal: AbortSignal): Asked | undefined {
    const seat = isCalled(query) ? this.#takenNow(query, signal) : undefined;
    if (seat === undefined || !isCalled(query)) return undefined;
    let asked: Asked | undefined;
    try {
      asked = askedOn(seat, query, this.#asking, signal);
    } finally {
      // It is the next to be taken.
      if (asked === undefined) this.#leave(seat);
    }
    return asked;
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    if (!isCalled(query)) return await this.#parts.plain.describe(query, signal);
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    try {
      return await describeOn(taken.value, query, this.#context, signal);
    } finally {
      this.#leave(taken.value);
    }
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#parts.config.poolMode === "statement") {
      const message = "the cluster's connections are shared by statements: it has no transactions";
      return err(gatewayError("query.unsupported", { message }));
    }
    if (!isCalled(query)) return await this.#parts.plain.begin(query, signal);
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    const seat = taken.value;
    const begun = await beginOn(seat, query, this.#context, signal);
    if (!begun.ok) {
      seat.used = true;
      this.#leave(seat);
      return begun;
    }
    const identity = query.backendIdentity;
    const giveBack = async () => {
      // It is nobody else's while a cursor waits on it.
      if (seat.bound > 0) seat.member.destroy();
      await this.#seating.leave(seat);
    };
    return ok(new MysqlLane({ seat, identity, giveBack }, { ...this.#context, lend: bind }));
  }

  probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    return this.#parts.plain.probe(signal);
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    const listed = await this.#parts.plain.running(signal);
    // One server's list shows nothing of another's.
    return listed.ok && this.#parts.servers.length > 1
      ? ok({ ...listed.value, complete: false })
      : listed;
  }

  end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#parts.plain.end(tag, signal);
  }

  listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    return this.#parts.plain.listTables(query, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#logins.close();
    this.#pool.close();
    await this.#parts.plain[Symbol.asyncDispose]();
  }

  /** One of the service account that is at rest and stands where the session does; undefined where `#take` has to see. */
  #takenNow(query: Called, signal: AbortSignal): Seat | undefined {
    const { poolMode, queryAuth } = this.#parts.config;
    const shared = (queryAuth?.type ?? "serviceAccount") === "serviceAccount";
    if (!shared || query.backendIdentity.mode !== "serviceAccount" || poolMode === "session")
      return undefined;
    return this.#seating.takenNow(query, signal);
  }

  /** A connection of the query's identity. */
  async #take(query: Called, signal: AbortSignal): Promise<Result<Seat, GatewayError>> {
    const login = this.#loginOf(query);
    if (!login.ok) return login;
    const taken = await this.#seating.take(query, login.value, signal);
    if (!taken.ok || taken.value.kept || this.#parts.config.poolMode !== "session") return taken;
    const refused = this.#seating.keep(taken.value, query.mysql.home, "its connection");
    if (refused === undefined) return taken;
    this.#leave(taken.value);
    return err(refused);
  }

  #loginOf(query: Called): Result<Login, GatewayError> {
    const { config } = this.#parts;
    const as = asOf(query, config.queryAuth?.type ?? "serviceAccount");
    if (!as.ok) return as;
    if (as.value.kind === "caller") {
      const { account } = as.value;
      return ok({ account, own: true, errorOf: (failure) => errorOfLogin(failure, query.group) });
    }
    return ok({
      account: this.#account,
      own: false,
      errorOf: ({ code }) => gatewayError("cluster.connectFailed", { detail: code }),
    });
  }

  get #account(): Account {
    const { auth } = this.#parts.config;
    // The config of a service account has one.
    if (auth === undefined) throw new Error("a service account without a login");
    return { user: auth.username, password: new Secret(secretText(auth.password)) };
  }

  /** In the background where the connection has to be cleaned: the client's answer does not wait for that. */
  #leave(seat: Seat): void {
    this.#seating.leave(seat)?.catch((bug: unknown) => this.#parts.host.log.bug(bug));
  }

  #keep(seat: Seat, query: Called, reason: string): GatewayError | undefined {
    if (this.#parts.config.pinning === "allow")
      return this.#seating.keep(seat, query.mysql.home, reason);
    const message = `${reason} would be gone with the next statement: sessions share connections here`;
    return gatewayError("query.unsupported", { message });
  }
}

/** A cursor of the transaction waits on its connection. */
function bind(seat: Seat): Disposable {
  seat.bound += 1;
  return onDispose(() => {
    seat.bound -= 1;
  });
}

async function beginOn(
  seat: Seat,
  query: Called,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<unknown, GatewayError>> {
  // Before it begins: the isolation of the session is that of its next transaction.
  const refused =
    (await bring(seat, query, context, signal)) ?? (await sayNext(seat, query, signal));
  return refused === undefined ? await ask(seat.member, beginSql(query), signal) : err(refused);
}
