/**
 * A database behind an ADBC driver as a backend.
 *
 * Every driver runs in a process of its own, because a native call that hangs or crashes can not be
 * ended or survived otherwise (client/connections.ts says who shares one). Nothing of one session is
 * left to the next.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  EngineLogins,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { ForwardableKind } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { tagIn } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { TokenReader } from "@gateway/core/sql/longText.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import type { AdbcFailure } from "../native/driver.ts";
import { isFatalFailure } from "../duckDb/library/failure.ts";
import type { ConnectionStep } from "../native/message.ts";
import { messageBytesOf } from "../native/messageBytes.ts";
import { inMemoryPath, realDatabasePath } from "../native/reach/sharing.ts";
import { RunningTags } from "../running.ts";
import type { AdbcConfig } from "./config.ts";
import {
  Connections,
  processLimits,
  type ConnectionPlan,
  type SessionConnection,
  type Taken,
} from "./client/connections.ts";
import { errorOf } from "./errors.ts";
import { callerOf } from "./identity.ts";
import { TransactionLane } from "./lane.ts";
import { limitStatements } from "./limit.ts";
import { findLibrary } from "./client/library.ts";
import { tablesOf, textOf } from "./listing.ts";
import { listObjects } from "./client/objects.ts";
import { OwnAccount } from "./client/own.ts";
import { configuredProfile, databaseOptions } from "./options.ts";
import { KnownTexts } from "./client/known.ts";
import { preparedAhead, preparedFor } from "./client/prepared.ts";
import type { Profile } from "./profile.ts";
import { judgeAlong } from "./sql/guard.ts";
import { describeOn, runStatement, type RunContext } from "./client/run.ts";
import { ScopedConnections } from "./scope/scoped.ts";
import { scopePlanOf, type ScopePlan } from "./scope/scopePlan.ts";
import { runUse, speaksOfSession, usedName } from "./client/session.ts";
import { openingOf, type Opening } from "./sql/modes.ts";

/** Finds the driver. Connections are made when they are needed, so a database that can not be reached opens all the same. */
export async function open(
  cluster: string,
  config: AdbcConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const library = await findLibrary(config, host.libraryFolders ?? []);
  if (!library.ok) {
    return err(gatewayError("cluster.connectFailed", { detail: library.error }));
  }
  const profile = configuredProfile(config);
  const path = realDatabasePath(config.databasePath ?? inMemoryPath);
  const plan: AdbcPlan = {
    cluster,
    profile,
    library: library.value,
    size: config.poolSize,
    limits: processLimits,
    shared: {
      key: path === inMemoryPath ? `${profile.name}:${cluster}` : `file:${path}`,
      settings: JSON.stringify([library.value.library, config.dbKwargs]),
    },
    options: () => databaseOptions(cluster, profile, config, host.egress),
    ...(profile.name === "snowflake" ? { scoped: scopePlanOf(cluster, config, host) } : {}),
  };
  return ok(backendOf(plan, config.healthCheckQuery, host));
}

/** With `scoped`, callers and sessions that went elsewhere have connections of their own. */
export interface AdbcPlan extends ConnectionPlan {
  readonly scoped?: ScopePlan;
}

/** The backend of a plan: what `open` makes, and what a test makes with limits of its own. */
export function backendOf(plan: AdbcPlan, healthCheck: string | undefined, host: Host): Backend {
  const backend = new AdbcBackend(plan, healthCheck ?? "SELECT 1", host);
  const { shownDialect: dialect } = plan.profile;
  return dialect === undefined ? backend : Object.assign(backend, { dialect });
}

/** Callers whom the account itself lets in. */
function loginsOf(
  plan: ScopePlan | undefined,
  scoped: ScopedConnections | undefined,
): EngineLogins | undefined {
  if (plan?.account === undefined || scoped === undefined) return undefined;
  return { ...plan.account, logIn: (login) => scoped.logIn(login) };
}

/** A statement shows in the list as soon as it was taken up. */
const delayMs = 1_000;

class AdbcBackend implements Backend {
  readonly engine = "adbc";
  readonly runsIn: Backend["runsIn"];
  readonly limitsExecution: boolean;
  readonly forwards: readonly ForwardableKind[];
  readonly logins: EngineLogins | undefined;
  readonly cluster: string;
  readonly #profile: Profile;
  readonly #host: Host;
  readonly #connections: Connections;
  readonly #scoped: ScopedConnections | undefined;
  readonly #mode: ScopePlan["mode"];
  readonly #own: OwnAccount;
  #loads = false;
  readonly #healthCheck: string;
  readonly #running = new RunningTags();
  readonly #known: KnownTexts;
  #closed: Promise<void> | undefined;

  constructor(plan: AdbcPlan, healthCheck: string, host: Host) {
    this.cluster = plan.cluster;
    this.#profile = plan.profile;
    this.runsIn = plan.profile.isolated ? "engine" : "process";
    this.limitsExecution = plan.profile.limit !== undefined;
    this.#host = host;
    this.#known = new KnownTexts(host.clock);
    this.#healthCheck = healthCheck;
    this.#connections = new Connections(plan, host);
    const { scoped } = plan;
    this.#mode = scoped?.mode ?? "serviceAccount";
    const account = scoped ?? { hasAccount: true, catalogs: [] };
    this.#own = new OwnAccount(plan.profile, this.#connections, host.clock, account);
    this.forwards = scoped === undefined ? [] : ["password"];
    this.#scoped =
      scoped === undefined
        ? undefined
        : new ScopedConnections(plan, scoped, this.#connections, host);
    this.logins = loginsOf(scoped, this.#scoped);
  }

  readAhead(engineSql: string): Steps<void> {
    return preparedAhead(this.#profile, engineSql);
  }

  readAlong(engineSql: string): TokenReader | undefined {
    return judgeAlong(this.#profile, engineSql);
  }

  get catalogs(): readonly string[] {
    return this.#own.catalogs;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const use = usedName(this.#profile, query);
    const prepared = use === undefined ? preparedFor(this.#profile, query, false) : undefined;
    if (prepared?.ok === false) return yield { kind: "failed", error: prepared.error };
    const connection = await this.#take(query, false, signal);
    if (!connection.ok) return yield { kind: "failed", error: connection.error };
    const { taken } = connection.value;
    using _running = this.#running.begin(query);
    const context = this.#context(taken);
    const before = this.#before(connection.value, query);
    try {
      if (use !== undefined) {
        yield* runUse(context, use, before, signal);
      } else if (prepared?.ok === true) {
        if (prepared.value.judged.leaves) taken.spoil();
        const messageBytes = messageBytesOf(query);
        yield* runStatement(context, { ...prepared.value, before, messageBytes }, signal);
      }
    } finally {
      void taken.release();
    }
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    if (speaksOfSession(this.#profile, query.engineSql)) return ok({ parameters: [], columns: [] });
    const prepared = preparedFor(this.#profile, query, false, "describe");
    if (!prepared.ok) return prepared;
    const connection = await this.#take(query, false, signal);
    if (!connection.ok) return connection;
    const { taken } = connection.value;
    const before = this.#before(connection.value, query);
    try {
      return await describeOn(this.#context(taken), { ...prepared.value, before }, signal);
    } finally {
      void taken.release();
    }
  }

  async begin(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#profile.transactions === undefined) {
      const message = `${this.#profile.label} has no transactions here`;
      return err(gatewayError("query.unsupported", { message }));
    }
    const opening = openingOf(this.#profile, query);
    if (!opening.ok) return opening;
    const connection = await this.#take(query, true, signal);
    if (!connection.ok) return connection;
    const { taken, steps } = connection.value;
    const context = this.#context(taken);
    const failure = await this.#begun(taken, steps, opening.value, signal);
    if (failure === undefined) {
      const { backendIdentity: identity } = query;
      const { isolation } = opening.value;
      return ok(
        new TransactionLane({ ...context, pinned: true }, this.#running.begin(query), {
          identity,
          isolation,
        }),
      );
    }
    taken.spoil();
    void taken.release();
    return err(this.#error(failure));
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    if (this.#closed !== undefined) return "unhealthy";
    if (!this.#own.exists) {
      // Without an account nobody can ask the engine. What every caller needs first is the driver.
      this.#loads ||= await this.#connections.loads(signal);
      return this.#loads ? "healthy" : "unhealthy";
    }
    // All connections are at work, so the engine answers. A probe would only wait behind them.
    if (!this.#connections.free) return "healthy";
    const answer = await this.#own.ask(this.#healthCheck, signal);
    if (!answer.ok) return "unhealthy";
    await this.#own.learn(signal);
    return "healthy";
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    const { runningSql, isolated } = this.#profile;
    if (runningSql === undefined) return ok({ ...this.#running.list(), complete: !isolated });
    if (!this.#own.listingProved) await this.#own.learn(signal);
    const rows = await this.#own.ask(runningSql, signal);
    if (!rows.ok) return rows;
    const tags = rows.value.flatMap(([text]) => tagIn(textOf(text)) ?? []);
    return ok({ tags, complete: this.#own.listingProved, delayMs });
  }

  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const { endSql } = this.#profile;
    if (endSql === undefined) {
      return this.runsIn === "process" ? ok(undefined) : err(gatewayError("query.unsupported"));
    }
    const ended = await this.#own.ask(endSql(tag), signal);
    return ended.ok ? ok(undefined) : ended;
  }

  async listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const caller = callerOf(query, this.#mode);
    if (!caller.ok) return caller;
    await this.#own.learn(signal);
    const { tablesSql, plainTablesSql } = this.#profile;
    const connect = () =>
      caller.value === undefined ? this.#own.take(signal) : this.#take(query, false, signal);
    const connection = await connect();
    if (!connection.ok) return connection;
    if (tablesSql === undefined) {
      return await this.#own.listedOn(connection.value, listObjects, signal);
    }
    const rows = await this.#own.askedOn(connection.value, tablesSql, signal);
    if (rows.ok || plainTablesSql === undefined || !rows.error.code.startsWith("query.")) {
      return rows.ok ? ok(tablesOf(rows.value)) : rows;
    }
    const again = await connect();
    if (!again.ok) return again;
    const plain = await this.#own.askedOn(again.value, plainTablesSql, signal);
    return plain.ok ? ok(tablesOf(plain.value)) : plain;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#scoped?.close(), this.#connections.close()]);
  }

  /** A connection of the query's caller and session. */
  async #take(
    query: Identified,
    pinned: boolean,
    signal: AbortSignal,
  ): Promise<Result<SessionConnection, GatewayError>> {
    if (this.#scoped !== undefined) return await this.#scoped.take(query, pinned, signal);
    const caller = callerOf(query, this.#mode);
    if (!caller.ok) return caller;
    const steps = this.#profile.contextSteps(query.session);
    const taken = await this.#connections.take({ pinned, steps }, signal);
    return taken.ok ? ok({ taken: taken.value, steps }) : taken;
  }

  /** Steps that prepare the connection for the session and the query. */
  #before({ taken, steps }: SessionConnection, query: Identified): readonly ConnectionStep[] {
    return [...taken.goTo(steps), ...limitStatements(this.#profile, taken, query)];
  }

  async #begun(
    taken: Taken,
    steps: readonly ConnectionStep[],
    { begin, first }: Opening,
    signal: AbortSignal,
  ): Promise<AdbcFailure | undefined> {
    const { thread } = taken;
    const statements = taken.goTo(steps);
    const moved = await thread.ask({ kind: "runAll", statements }, signal);
    if (!moved.ok) return moved.error;
    const begun =
      this.#profile.transactions === "option"
        ? await thread.ask({ kind: "begin", statements: first }, signal)
        : await thread.ask({ kind: "runAll", statements: [begin, ...first] }, signal);
    return begun.ok ? undefined : begun.error;
  }

  #context(taken: Taken): RunContext {
    const { clock, log } = this.#host;
    return {
      cluster: this.cluster,
      profile: this.#profile,
      taken,
      pinned: false,
      known: this.#known,
      renamed: () => this.#known.forget(),
      contextSteps: (session) =>
        this.#scoped?.contextSteps(session) ?? this.#profile.contextSteps(session),
      clock,
      log,
      failed: (failure) => {
        // It may have failed before the limit was said.
        if (taken.limit.secs !== undefined) taken.limit.secs = "unknown";
        this.#failed(failure);
      },
    };
  }

  #failed(failure: AdbcFailure): void {
    if (this.#profile.name !== "duckdb" || !isFatalFailure(failure)) return;
    this.#connections.condemn();
    this.#host.log.write("warn", "adbc.fatal", { cluster: this.cluster });
  }

  #error(failure: AdbcFailure): GatewayError {
    return errorOf(this.#profile, failure, { sql: "", prefix: 0, original: "", writes: false });
  }
}
