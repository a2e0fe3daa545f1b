/** A PostgreSQL cluster as a backend: a pool of connections for statements, and one for lists and what has to end. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  KeptLane,
  PinnedLane,
  RunningStatements,
  ScanEstimate,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { waited, type Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import type { ForwardableKind } from "@gateway/core/query/identity.ts";
import { tagIn, tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { ask, type Answer } from "./client/ask.ts";
import { requestCancel } from "./client/cancel.ts";
import { connected, failureText, isFull, isGreeting, type Destination } from "./client/connect.ts";
import type { Account } from "./client/login/login.ts";
import type { Member } from "./client/member.ts";
import { Pool, type Taken } from "./client/pool.ts";
import { hostOf } from "@gateway/contract/config/server.ts";
import { Logins, type Refused } from "../connect/logins.ts";
import { serverTls, type ServerTls } from "../connect/tls.ts";
import { defaultPort, type PostgresqlConfig, type PostgresqlMode } from "./config.ts";
import { estimateOn } from "./estimate.ts";
import { asOf, errorOfLogin } from "./identity.ts";
import { askedOn } from "./asked.ts";
import { judgedIn } from "./call.ts";
import { courseNow, describeOn, type RunContext } from "./lane.ts";
import { KeptConnection } from "./kept.ts";
import { tablesOf, tablesSql } from "./listing.ts";
import { judgeAhead } from "./sql/guard.ts";
import { hidden, runsPrepared, tagOfPrepared } from "./sql/preparedTag.ts";
import { quoteText } from "./sql/quote.ts";
import { begunOn } from "./transaction.ts";

/** A statement shows in the list as soon as it was taken up. */
const delayMs = 1_000;

/** What runs now, of everybody whose statements the asking account may see. */
const listSql =
  "SELECT query, application_name FROM pg_catalog.pg_stat_activity WHERE state = 'active'";

/** Makes the cluster's pools; an unreachable server opens and is unhealthy. */
export async function open(
  cluster: string,
  config: PostgresqlConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const tls = await serverTls(config.tls);
  return tls.ok ? ok(new PostgresqlBackend(cluster, config, host, tls.value)) : tls;
}

class PostgresqlBackend implements Backend {
  readonly engine = "postgresql";
  readonly dialect = "postgres";
  readonly speaks = "postgres";
  readonly keeps: "asked" | "always" | undefined;
  readonly readAhead = judgeAhead;
  readonly runsIn = "engine";
  /** Its limit of a statement can be raised in a function, and by a server's own configuration of it. */
  readonly limitsExecution = false;
  readonly forwards: readonly ForwardableKind[] = ["password"];
  readonly catalogs: readonly string[];
  readonly cluster: string;
  readonly #config: PostgresqlConfig;
  readonly #mode: PostgresqlMode;
  readonly #host: Host;
  readonly #destination: Omit<Destination, "account">;
  readonly #pool: Pool;
  readonly #control: Pool;
  readonly #logins: Logins;
  readonly #ownTag: string;
  /** The server's last word to the gateway's own account was that it takes nobody more. */
  #saidFull = false;
  readonly #perStatement: RunContext;
  readonly #perStatementWhole: RunContext;
  #statuses: ReadonlyMap<string, string> | undefined;
  /** Open connections by the server's numbers of their processes. */
  readonly #peers = new Map<number, Member>();
  #closed = false;

  constructor(cluster: string, config: PostgresqlConfig, host: Host, tls: ServerTls | undefined) {
    this.cluster = cluster;
    this.catalogs = [config.database];
    this.#config = config;
    this.keeps = keepsOf(config);
    this.#mode = config.queryAuth?.type ?? "serviceAccount";
    this.#host = host;
    const connectTimeoutMs = config.connectTimeoutSecs * 1_000;
    this.#destination = {
      servers: config.hosts.flatMap((text) => {
        const found = hostOf(text, defaultPort);
        return found === undefined ? [] : [{ ...found, tls, connectTimeoutMs }];
      }),
      wanted: config.targetSessionAttrs,
      database: config.database,
    };
    this.#logins = new Logins(host, connectTimeoutMs);
    const pool = {
      logins: this.#logins,
      idleMs: config.idleTimeoutSecs * 1_000,
      clock: host.clock,
      connect: () => this.#connect(),
    };
    this.#pool = new Pool({ ...pool, size: config.poolSize });
    // It says at once that the server is full: a check that waits would find it dead.
    const logins = new Logins(host, 0);
    this.#control = new Pool({ ...pool, size: 1, logins, before: this.#logins });
    this.#perStatement = this.#context("statement");
    this.#perStatementWhole = { ...this.#perStatement, whole: true };
    this.#ownTag = `${tagPrefix}own/${Buffer.from(host.randomBytes(8)).toString("hex")}/0`;
  }

  get statuses(): ReadonlyMap<string, string> | undefined {
    return this.#statuses;
  }

  execute(query: Identified, signal: AbortSignal): ResultStream {
    return streamOf(this.course(query, signal));
  }

  *course(query: Identified, signal: AbortSignal, whole: boolean = false): Course {
    const taking = this.#take(query, signal);
    const taken = taking instanceof Promise ? yield* waited(taking) : taking;
    if (!taken.ok) {
      yield { kind: "failed", error: taken.error };
      return;
    }
    const held = taken.value;
    try {
      const context = whole ? this.#perStatementWhole : this.#perStatement;
      yield* courseNow(held.member, query, context, signal);
    } finally {
      held[Symbol.dispose]();
    }
  }

  ask(query: Identified, signal: AbortSignal): Asked | undefined {
    const { call, backendIdentity } = query;
    if (call === undefined || this.#mode !== "serviceAccount") return undefined;
    if (backendIdentity.mode !== "serviceAccount") return undefined;
    const taken = this.#pool.takeNow(signal, query.session.identity.user);
    if (taken === undefined) return undefined;
    let asked: Asked | undefined;
    try {
      asked = askedOn(taken, query, this.#perStatementWhole, signal);
    } finally {
      // It is the next to be taken.
      if (asked === undefined) taken[Symbol.dispose]();
    }
    return asked;
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    const described = await describeOn(held.member, query, this.#context("statement"), signal);
    // Whoever gets the connection next brings it where its own session stands.
    held.member.settled = false;
    return described;
  }

  async estimateScan(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>> {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    const estimated = await estimateOn(held.member, query, this.#context("statement"), signal);
    held.member.settled = false;
    return estimated;
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#config.poolMode === "statement") {
      const message = "the cluster's connections are shared by statements: it has no transactions";
      return err(gatewayError("query.unsupported", { message }));
    }
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    const context = { ...this.#context("transaction"), lent: false };
    return await begunOn(taken.value, query, context, signal);
  }

  /** In transaction mode only a statement that may leave something; reading it is remembered by the text. */
  mayKeep(query: Identified): boolean {
    if (this.keeps === undefined || query.call === undefined) return false;
    if (this.keeps === "always") return true;
    const judged = judgedIn(query, { until: "session", pins: this.keeps });
    return judged.ok && (judged.value.lasting !== undefined || judged.value.unsure);
  }

  sessionAt(process: number): number | undefined {
    const member = this.#peers.get(process);
    return member?.busy === true ? member.session : undefined;
  }

  async keep(query: Identified, signal: AbortSignal): Promise<Result<KeptLane, GatewayError>> {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    return ok(new KeptConnection(taken.value, query.backendIdentity, this.#context("session")));
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    const healthy = this.#hasAccount
      ? (await this.#ask(this.#config.healthCheckQuery ?? "SELECT 1", signal)).ok
      : !this.#closed && (await this.#greets(signal));
    // A server that says that it is full is there: statements wait for a place, as long as they may wait for a connection.
    return healthy || this.#saidFull ? "healthy" : "unhealthy";
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    if (!this.#hasAccount) return ok({ tags: [], complete: false, delayMs });
    const answer = await this.#ask(`/* ${this.#ownTag} */ ${listSql}`, signal);
    if (!answer.ok) return answer;
    const found = answer.value.rows.map(
      ([text, name]) => tagOfPrepared(text ?? "", name ?? "") ?? tagIn(text ?? ""),
    );
    const tags = found.flatMap((tag) => (tag === hidden ? [] : (tag ?? [])));
    // The list shows the statement that asked for it, so others of this account are shown as well; of callers'
    // own accounts, and of another server, that says nothing.
    const own = this.#mode === "serviceAccount" && this.#config.hosts.length === 1;
    const complete = own && tags.includes(this.#ownTag) && !found.includes(hidden);
    return ok({
      tags: tags.filter((tag) => !tag.startsWith(`${tagPrefix}own/`)),
      complete,
      delayMs,
    });
  }

  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    if (!this.#hasAccount) return err(gatewayError("query.unsupported"));
    const begins = `pg_catalog.strpos(query, ${quoteText(`/* ${tag} */`)}) = 1`;
    const sql = `SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND (${begins} OR ${runsPrepared(tag)})`;
    const done = await this.#ask(sql, signal);
    return done.ok ? ok(undefined) : done;
  }

  async listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const as = asOf(query, this.#mode);
    if (!as.ok) return as;
    if (as.value.kind === "service") {
      const answer = await this.#ask(tablesSql, signal);
      return answer.ok ? ok(tablesOf(answer.value.rows)) : answer;
    }
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    const answer = await ask(held.member, tablesSql, signal);
    return answer.ok ? ok(tablesOf(answer.value.rows)) : answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#logins.close();
    this.#pool.close();
    this.#control.close();
  }

  /** Under `passthrough` there may be no account of the gateway's own. */
  get #hasAccount(): boolean {
    return this.#config.auth !== undefined;
  }

  #context(until: RunContext["until"]): RunContext {
    return {
      cluster: this.cluster,
      clock: this.#host.clock,
      until,
      pins: this.keeps,
      prepares: preparesOf(this.#config),
      keep: (taken, identity, early) =>
        new KeptConnection(taken, identity, this.#context("session"), early),
      cancel: (member) => requestCancel(member, this.#host),
    };
  }

  /** A connection of the query's identity. A promise only where none is at rest. */
  #take(query: Identified, signal: AbortSignal): Taking | Promise<Taking> {
    const as = asOf(query, this.#mode);
    if (!as.ok) return as;
    if (as.value.kind === "service") {
      const { user } = query.session.identity;
      const taken = this.#pool.takeNow(signal, user);
      return taken === undefined ? this.#pool.take(signal, user) : ok(taken);
    }
    const { account } = as.value;
    const connect = async (): Promise<Result<Member, Refused>> => {
      const made = await connected({ ...this.#destination, account, signal }, this.#host);
      if (made.ok) return this.#met(made.value);
      if (signal.aborted) return err({ error: gatewayError("query.cancelled"), full: false });
      return err({ error: errorOfLogin(made.error, query.group), full: isFull(made.error) });
    };
    return this.#pool.takeOwn(connect, signal);
  }

  #met(member: Member): Result<Member, Refused> {
    // As it greets: what a session sets on the connection later is that session's alone.
    this.#statuses = new Map(member.statuses);
    const process = member.key?.process;
    if (process !== undefined) {
      member.peers = this.#peers;
      this.#peers.set(process, member);
      member.whenClosed(() => {
        if (this.#peers.get(process) === member) this.#peers.delete(process);
      });
    }
    return ok(member);
  }

  get #account(): Account | undefined {
    const { auth } = this.#config;
    if (auth === undefined) return undefined;
    return { user: auth.username, password: new Secret(secretText(auth.password)) };
  }

  async #connect(): Promise<Result<Member, Refused>> {
    const account = this.#account;
    if (account === undefined)
      return err({ error: gatewayError("cluster.connectFailed"), full: false });
    const made = await connected({ ...this.#destination, account }, this.#host);
    this.#saidFull = !made.ok && made.error.sqlState === "53300";
    if (made.ok) return this.#met(made.value);
    const error = gatewayError("cluster.connectFailed", { detail: failureText(made.error) });
    return err({ error, full: isFull(made.error) });
  }

  /** For a gateway without an account: a server that refuses nobody's login is there. */
  async #greets(signal: AbortSignal): Promise<boolean> {
    const account = { user: "gateway", password: new Secret("") };
    const made = await connected({ ...this.#destination, account, signal }, this.#host);
    if (!made.ok) return isGreeting(made.error);
    made.value.destroy();
    return true;
  }

  /** Asks as the service account. */
  async #ask(sql: string, signal: AbortSignal): Promise<Result<Answer, GatewayError>> {
    if (this.#closed || !this.#hasAccount) return err(gatewayError("cluster.connectFailed"));
    const taken = await this.#control.take(signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    return await ask(held.member, sql, signal);
  }
}

type Taking = Result<Taken, GatewayError>;

/** In session mode it costs nobody anything. */
const preparedMaxOfSession = 200;

function preparesOf({ poolMode, preparedStatementsMax }: PostgresqlConfig): RunContext["prepares"] {
  const shared = poolMode !== "session";
  const max = preparedStatementsMax ?? (shared ? 0 : preparedMaxOfSession);
  return max === 0 ? undefined : { max, shared };
}

/** Whether connections stay with sessions. */
function keepsOf({ poolMode, pinning }: PostgresqlConfig): Backend["keeps"] {
  if (poolMode === "session") return "always";
  return poolMode === "transaction" && pinning === "allow" ? "asked" : undefined;
}
