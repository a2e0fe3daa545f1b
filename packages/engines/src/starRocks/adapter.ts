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
import { tagIn, tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readSessionStatement } from "@gateway/core/sql/session.ts";
import { tlsTrust } from "../connect/tls.ts";
import { requiresTls, type StarRocksConfig } from "./config.ts";
import { ask, type Rows } from "./control.ts";
import { describeOn, runOn, TransactionLane, type Ground } from "./lane.ts";
import { tablesOf, tablesSql } from "./listing.ts";
import { logIn, type LoginOptions } from "./login.ts";
import { Member } from "./member.ts";
import { Pool } from "./pool.ts";
import { bringing, catalogName } from "./session.ts";

/** How long the server may take to end a statement, and how often its list is looked at. */
const endingMs = 10_000;
/** A statement shows in the list as soon as it was taken up. */
const delayMs = 1_000;
const endingTries = 50;
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
  const options: LoginOptions = {
    host: url.hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? defaultPort : Number(url.port),
    auth: config.auth,
    database: config.database,
    tls: trust?.value,
    connectTimeoutMs: config.connectTimeoutSecs * 1_000,
  };
  return ok(new StarRocksBackend(cluster, config, host, options));
}

class StarRocksBackend implements Backend {
  readonly engine = "starRocks";
  readonly dialect = "mysql";
  readonly catalogs: readonly string[] = [catalogName];
  readonly runsIn = "engine";
  readonly forwards = [];
  readonly cluster: string;
  readonly #config: StarRocksConfig;
  readonly #host: Host;
  readonly #login: LoginOptions;
  readonly #pool: Pool;
  readonly #control: Pool;
  readonly #ground: Ground;
  readonly #ownTag: string;
  #closed = false;

  constructor(cluster: string, config: StarRocksConfig, host: Host, login: LoginOptions) {
    this.cluster = cluster;
    this.#config = config;
    this.#host = host;
    this.#login = login;
    const pool = {
      idleMs: config.idleTimeoutSecs * 1_000,
      clock: host.clock,
      connect: () => this.#connect(),
    };
    this.#pool = new Pool({ ...pool, size: config.poolSize });
    this.#control = new Pool({ ...pool, size: 1 });
    this.#ground = {
      clock: host.clock,
      database: config.database,
      endIn: (member) => this.#endIn(member),
    };
    this.#ownTag = `${tagPrefix}own/${Buffer.from(host.randomBytes(8)).toString("hex")}/0`;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return yield { kind: "failed", error: taken.error };
    using held = taken.value;
    yield* runOn(held.member, query, this.#ground, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    return await describeOn(held.member, query, this.#ground, signal);
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    const taken = await this.#take(query, signal);
    if (!taken.ok) return taken;
    const found = readSessionStatement(query.sql, query.session.dialect);
    const readOnly = found?.kind === "begin" && found.modes.readOnly === true;
    const begun = await ask(
      taken.value.member,
      readOnly ? "START TRANSACTION READ ONLY" : "BEGIN",
      signal,
    );
    if (begun.ok) return ok(new TransactionLane(taken.value, this.#ground));
    taken.value.member.tainted = true;
    taken.value[Symbol.dispose]();
    return begun;
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    const answer = await this.#ask(this.#config.healthCheckQuery ?? "SELECT 1", signal);
    return answer.ok ? "healthy" : "unhealthy";
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    const answer = await this.#ask(`/* ${this.#ownTag} */ SHOW FULL PROCESSLIST`, signal);
    if (!answer.ok) return answer;
    const tags = answer.value.flatMap((row) => taggedWith(row) ?? []);
    // The list shows the statement that asked for it, so others of this account are shown as well.
    const complete = tags.includes(this.#ownTag);
    return ok({
      tags: tags.filter((tag) => !tag.startsWith(`${tagPrefix}own/`)),
      complete,
      delayMs,
    });
  }

  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const list = await this.#ask("SHOW FULL PROCESSLIST", signal);
    if (!list.ok) return list;
    for (const row of list.value.filter((cells) => taggedWith(cells) === tag)) {
      const killed = await this.#ask(`KILL QUERY ${Number(row[0])}`, signal);
      if (!killed.ok) return killed;
    }
    return ok(undefined);
  }

  async listTables(
    _query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const answer = await this.#ask(tablesSql, signal);
    return answer.ok ? ok(tablesOf(answer.value)) : answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#pool.close();
    this.#control.close();
  }

  /** A connection that can be brought where the session stands. */
  async #take({ session }: Identified, signal: AbortSignal) {
    for (;;) {
      const taken = await this.#pool.take(signal);
      if (!taken.ok || bringing(taken.value.member, session, this.#config.database) !== undefined)
        return taken;
      taken.value.member.tainted = true;
      taken.value[Symbol.dispose]();
    }
  }

  async #connect(): Promise<Result<Member, GatewayError>> {
    const made = await logIn(this.#login, this.#host);
    if (!made.ok) return made;
    const member = new Member(made.value, this.#config.database);
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(this.#login.connectTimeoutMs, () => limit.abort());
    const refused = await readsPlainly(member, limit.signal);
    if (refused === undefined) return ok(member);
    member.destroy();
    return err(gatewayError("cluster.connectFailed", { detail: refused.code }));
  }

  /**
   * Ends what a connection runs: `KILL QUERY` for an id that is this connection's until it is closed, then
   * looks at the list until it is gone. The connection is of no use afterwards.
   */
  async #endIn(member: Member): Promise<void> {
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(endingMs, () => limit.abort());
    if (!this.#closed && member.open) {
      await this.#ask(`KILL QUERY ${member.threadId}`, limit.signal);
      for (let tries = 0; tries < endingTries && !limit.signal.aborted; tries += 1) {
        const list = await this.#ask("SHOW FULL PROCESSLIST", limit.signal);
        if (!list.ok || !runs(list.value, member.threadId)) break;
      }
    }
    member.destroy();
  }

  async #ask(sql: string, signal: AbortSignal): Promise<Result<Rows, GatewayError>> {
    if (this.#closed) return err(gatewayError("cluster.connectFailed"));
    const taken = await this.#control.take(signal);
    if (!taken.ok) return taken;
    using held = taken.value;
    const answer = await ask(held.member, sql, signal);
    if (!answer.ok && answer.error.code === "engine.broken") held.member.destroy();
    return answer;
  }
}

/** Modes under which strings and names are read in another way than everything here writes them. */
const readingModes: ReadonlySet<string> = new Set(["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI"]);

/** Takes a new connection out of such a mode. A client's `SET sql_mode` never reaches it. */
async function readsPlainly(
  member: Member,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const asked = await ask(member, "SELECT @@sql_mode", signal);
  if (!asked.ok) return asked.error;
  const written = asked.value[0]?.[0];
  const modes = typeof written === "string" ? written.split(",") : [];
  if (!modes.some((mode) => readingModes.has(mode))) return undefined;
  const plain = modes.filter((mode) => /^\w+$/.test(mode) && !readingModes.has(mode));
  const set = await ask(member, `SET SESSION sql_mode = '${plain.join(",")}'`, signal);
  return set.ok ? undefined : set.error;
}

/** Columns of the list differ; a running statement's row holds its text, an idle connection's `Sleep`. */
/** The tag of the statement that a row of the list shows. */
function taggedWith(row: Rows[number]): string | undefined {
  return row.map((cell) => tagIn(String(cell))).find((tag) => tag !== undefined);
}

function runs(list: Rows, threadId: number): boolean {
  const row = list.find((cells) => cells.some((cell) => String(cell) === String(threadId)));
  return row !== undefined && !row.some((cell) => cell === "Sleep");
}
