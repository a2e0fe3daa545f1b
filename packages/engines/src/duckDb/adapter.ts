/**
 * A DuckDB cluster as a backend: one shared database object, in a process of its own or in this one, a
 * pool of threads there, a new connection for every statement. A process that ends is replaced at once.
 *
 * A new connection costs microseconds here, and nothing a statement leaves behind on one (settings,
 * temporary tables, prepared statements) can reach another session. Transactions keep theirs
 * (lane.ts).
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ProcessEnd } from "@gateway/core/port/threads.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { TransactionModes } from "@gateway/core/sql/session/statement.ts";
import type { AdbcFailure } from "../native/driver.ts";
import type { DriverThread } from "../native/reach/driverThread.ts";
import type { ProcessLimits } from "../native/reach/driverThread.ts";
import { messageBytesOf } from "../native/messageBytes.ts";
import { processHome, threadHome, type Home } from "../native/reach/home.ts";
import type { DriverLibrary, SetupStatement } from "../native/message.ts";
import { ThreadPool } from "../native/reach/pool.ts";
import { inMemoryPath, type DatabaseShare } from "../native/reach/sharing.ts";
import type { Contents } from "../descriptor.ts";
import { RunningTags } from "../running.ts";
import type { DuckDbConfig } from "./config.ts";
import { setupOf } from "./client/contents.ts";
import { databaseKeyOf, objectKey, shareDatabase, type DatabaseKey } from "./client/database.ts";
import { isFatalFailure, readFailure } from "./library/failure.ts";
import { guardAhead, guardAlong, guardStatement } from "./library/guard.ts";
import { TransactionLane } from "./lane.ts";
import { duckDbDriver } from "./library/library.ts";
import { catalogsSql, tablesOf, tablesSql, textOf } from "./listing.ts";
import { databaseOptions, processMemoryMax } from "./client/options.ts";
import {
  describeOn,
  failureOf,
  notTaken,
  rowsOf,
  runStatement,
  type RunContext,
} from "./client/run.ts";
import { useFor, runUse, speaksOfSession, usedPath } from "./client/session.ts";
import { ownStatement } from "./library/statementTypes.ts";
import { beginRefusal, changeRefusal } from "./sql/isolation.ts";

/**
 * Opens the cluster's database, or takes a share in it when it is open already. Refuses with
 * `cluster.connectFailed` and the reason as detail: a file that can not be opened will not open by
 * itself.
 */
export async function open(
  cluster: string,
  config: DuckDbConfig,
  host: Host,
  contents: Contents = { kind: "none" },
): Promise<Result<Backend, GatewayError>> {
  const driver = duckDbDriver();
  if (!driver.ok) return unopened(driver.error);
  const setup = await setupOf(contents, config);
  if (!setup.ok) return unopened(setup.error);
  const key = await databaseKeyOf(cluster, config);
  const backend = new DuckDbBackend(key, host, driver.value, setup.value);
  const failure = await backend.connect();
  if (failure === undefined) return ok(backend);
  await backend[Symbol.asyncDispose]();
  return unopened(messageOf(failure));
}

/** A statement that ignores its cancel for longer ends with the engine's process: planning can not be interrupted. */
const processLimits: ProcessLimits = { cancelMs: 2_000, cancelAgainMs: 20, connectMs: undefined };

function unopened(detail: string): Result<Backend, GatewayError> {
  return err(gatewayError("cluster.connectFailed", { detail }));
}

function messageOf(failure: AdbcFailure): string {
  return failure.code === "driver" ? readFailure(failure.message).message : failure.message;
}

class DuckDbBackend implements Backend {
  readonly engine = "duckDb";
  readonly dialect = "duckdb";
  readonly runsIn = "process";
  readonly limitsExecution: boolean = false;
  readonly readAhead = guardAhead;
  readonly readAlong = guardAlong;
  readonly forwards = [];
  readonly cluster: string;
  readonly #key: DatabaseKey;
  readonly #host: Host;
  readonly #library: DriverLibrary;
  readonly #pool: ThreadPool;
  readonly #setup: readonly SetupStatement[];
  readonly #running = new RunningTags();
  #home: Home;
  #share: DatabaseShare | undefined;
  #catalogs: readonly string[] = [];
  /** The engine refuses everything, or is gone, until its database was opened again. */
  #fatal = false;
  #reopening: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    key: DatabaseKey,
    host: Host,
    library: DriverLibrary,
    setup: readonly SetupStatement[],
  ) {
    this.cluster = key.cluster;
    this.#key = key;
    this.#host = host;
    this.#library = library;
    this.#setup = setup;
    this.#home = this.#newHome();
    const limits = { sizeMax: key.config.poolSize };
    this.#pool = new ThreadPool(() => this.#home.thread(), host.clock, limits);
  }

  get catalogs(): readonly string[] {
    return this.#catalogs;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const path = usedPath(query);
    const guarded =
      path === undefined ? guardStatement(query.engineSql, { pinned: false }) : undefined;
    if (guarded?.ok === false) return yield { kind: "failed", error: guarded.error };
    const refused = guarded?.value.writes === true ? changeRefusal(query.session) : undefined;
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    if (this.#fatal) await this.#reopen();
    using taken = await this.#pool.take(signal);
    if (taken === undefined) return yield { kind: "failed", error: notTaken(signal) };
    using _running = this.#running.begin(query);
    const context = this.#context(taken.thread);
    if (context === undefined)
      return yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
    const before = this.#before(query.session);
    if (guarded === undefined) {
      yield* runUse(context, { path: path ?? [], before }, signal);
      return;
    }
    const { engineSql: sql, parameters } = query;
    const messageBytes = messageBytesOf(query);
    const statement = { sql, parameters, before, guarded: guarded.value, messageBytes };
    yield* runStatement(context, statement, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const { engineSql: sql, parameters, session } = query;
    if (speaksOfSession(sql)) return ok({ parameters: [], columns: [] });
    const guarded = guardStatement(sql, { pinned: false });
    if (!guarded.ok) return guarded;
    if (this.#fatal) await this.#reopen();
    using taken = await this.#pool.take(signal);
    if (taken === undefined) return err(notTaken(signal));
    const context = this.#context(taken.thread);
    if (context === undefined) return err(gatewayError("cluster.connectFailed"));
    const before = this.#before(session);
    return await describeOn(context, { sql, parameters, before, guarded: guarded.value }, signal);
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    const refused = beginRefusal(query);
    if (refused !== undefined) return err(refused);
    if (this.#fatal) await this.#reopen();
    const taken = await this.#pool.take(signal);
    if (taken === undefined) return err(notTaken(signal));
    const shared = this.#context(taken.thread);
    const database = this.#share?.address;
    if (shared === undefined || database === undefined) {
      taken[Symbol.dispose]();
      return err(gatewayError("cluster.connectFailed"));
    }
    const use = useFor(query.session, this.#defaultCatalog);
    const before = [...this.#before(query.session), beginStatement(query.statement.modes)];
    const answer = await taken.thread.ask({ kind: "connect", database, before }, signal);
    const context: RunContext = { ...shared, database: undefined };
    if (answer.ok && !signal.aborted) {
      const running = this.#running.begin(query);
      const stands = { use, defaultCatalog: this.#defaultCatalog, running };
      return ok(new TransactionLane(taken, context, stands));
    }
    await taken.thread.ask({ kind: "disconnect" });
    taken[Symbol.dispose]();
    if (answer.ok) return err(notTaken(signal));
    return err(failureOf(context, answer.error, { sql: "", writes: false }));
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    if (this.#closed !== undefined) return "unhealthy";
    if (this.#fatal) await this.#reopen();
    // When every thread is at work the engine answers; a probe in line behind them would say nothing more.
    if (!this.#pool.free) return this.#fatal ? "unhealthy" : "healthy";
    const answer = await this.#ask("SELECT 1", signal);
    return answer.ok ? "healthy" : "unhealthy";
  }

  async running(): Promise<Result<RunningStatements, GatewayError>> {
    return ok(this.#running.list());
  }

  /** What runs here ends with this process: nothing is left over for others to end. */
  async end(): Promise<Result<void, GatewayError>> {
    return ok(undefined);
  }

  async listTables(
    _query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const answer = await this.#ask(tablesSql, signal);
    return answer.ok ? ok(tablesOf(answer.value)) : answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#pool.close(async (thread) => {
      const failure = await this.#share?.giveBack(thread);
      if (failure !== undefined) this.#warn("duckDb.closeFailed", failure);
    });
    this.#home.release();
  }

  /** Opens the database and learns its catalogs. Called once by `open`, and after a fatal fault or the end of its process. */
  async connect(): Promise<AdbcFailure | undefined> {
    const home = this.#home;
    // Not one of the pool: those may all be held by transactions that ended with the last process.
    const thread = home.thread();
    const failure = await this.#connectOn(home, thread);
    this.#pool.adopt(thread);
    return failure;
  }

  async #connectOn(home: Home, thread: DriverThread): Promise<AdbcFailure | undefined> {
    const { path, config } = this.#key;
    const options = databaseOptions(path, config, this.#setup);
    const shared = await shareDatabase(this.#key, options, { home, thread });
    if (!shared.ok) return shared.error;
    this.#share = shared.value;
    for (const { label, failure } of shared.value.skipped) {
      this.#warn("duckDb.fileSkipped", failure, label);
    }
    const request = ownStatement(catalogsSql, shared.value.address);
    const catalogs = await rowsOf(thread, request, new AbortController().signal);
    if (!catalogs.ok) return catalogs.error;
    this.#catalogs = catalogs.value.map(([name]) => textOf(name));
    return undefined;
  }

  #newHome(): Home {
    const { threads, clock } = this.#host;
    const plan = { threads, clock, library: this.#library };
    const { isolation, poolSize } = this.#key.config;
    if (isolation === "thread") return threadHome(plan);
    // Twice: the generation before this one may still use all of its own.
    const lines = 2 * poolSize;
    const memoryMax = processMemoryMax(this.#key.config);
    const wish = { key: objectKey(this.#key), lines, memoryMax, limits: processLimits };
    const home = processHome(plan, wish);
    home.onEnd((end) => this.#crashed(home, end));
    return home;
  }

  /** Everything in the process is gone and everybody in it was told. The next process is started at once. */
  #crashed(home: Home, { how }: ProcessEnd): void {
    if (home !== this.#home || this.#closed !== undefined) return;
    this.#host.log.write("error", "driver.crashed", { cluster: this.cluster, reason: how });
    home.release();
    this.#fatal = true;
    this.#share = undefined;
    this.#home = this.#newHome();
    void this.#reopen();
  }

  get #defaultCatalog(): string {
    return this.#catalogs[0] ?? "memory";
  }

  /** Opens the database anew after a fatal fault, as soon as nothing uses the old object any more. */
  async #reopen(): Promise<void> {
    this.#reopening ??= this.#reopenNow().finally(() => {
      this.#reopening = undefined;
    });
    await this.#reopening;
  }

  async #reopenNow(): Promise<void> {
    const share = this.#share;
    // An object that broke is closed first, once nobody uses it.
    if (share !== undefined && !this.#pool.quiet) return;
    this.#share = undefined;
    if (share !== undefined) {
      using taken = await this.#pool.take(new AbortController().signal);
      if (taken !== undefined) await share.giveBack(taken.thread);
    }
    const failure = await this.connect();
    if (failure === undefined) this.#fatal = false;
    else this.#warn("duckDb.reopenFailed", failure);
  }

  #before(session: Session): readonly string[] {
    const use = useFor(session, this.#defaultCatalog);
    return use === undefined ? [] : [use];
  }

  #context(thread: DriverThread): RunContext | undefined {
    if (this.#share === undefined || this.#fatal) return undefined;
    const { clock, log } = this.#host;
    return {
      cluster: this.cluster,
      thread,
      database: this.#share.address,
      clock,
      log,
      afterCrash: this.#afterCrash,
      failed: (failure) => this.#failed(failure),
    };
  }

  get #afterCrash(): string | undefined {
    if (this.#key.path !== inMemoryPath) return undefined;
    return this.#setup.length === 0
      ? "The database lived in its memory: its contents are gone."
      : "The database lived in its memory: it is filled from its source again, changes since then are gone.";
  }

  #failed(failure: AdbcFailure): void {
    if (this.#fatal || !isFatalFailure(failure)) return;
    this.#fatal = true;
    this.#share?.condemn();
    this.#warn("duckDb.fatal", failure);
  }

  async #ask(sql: string, signal: AbortSignal) {
    using taken = await this.#pool.take(signal);
    if (taken === undefined) return err(notTaken(signal));
    const context = this.#context(taken.thread);
    if (context === undefined) return err(gatewayError("cluster.connectFailed"));
    const answer = await rowsOf(taken.thread, ownStatement(sql, context.database), signal);
    return answer.ok ? answer : err(failureOf(context, answer.error, { sql, writes: false }));
  }

  #warn(event: string, failure: AdbcFailure, file?: string): void {
    const type = failure.code === "driver" ? readFailure(failure.message).type : failure.code;
    this.#host.log.write("warn", event, { cluster: this.cluster, type, file });
  }
}

/** Its one isolation is no less than what `beginRefusal` lets through; read-only is its own. */
function beginStatement({ readOnly }: TransactionModes): string {
  return readOnly === true ? "BEGIN TRANSACTION READ ONLY" : "BEGIN TRANSACTION";
}
