/**
 * The connections of one cluster: opened when they are needed, used again only when nothing of the
 * last session is left on them.
 *
 * Every driver is in a process of its own. One that talks to a network has a process for each connection,
 * with a database object of its own, because a call that hangs ends with its process; connections of many
 * callers share a few. An embedded one has one process and one object for all, in which each statement has
 * a connection of its own.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import type { DriverThread, ProcessLimits } from "../../native/reach/driverThread.ts";
import {
  ownProcess,
  processHome,
  type Home,
  type HomePlan,
  type SharedProcesses,
} from "../../native/reach/home.ts";
import type { DatabaseOptions, DriverLibrary, ConnectionStep } from "../../native/message.ts";
import type { Address } from "../../native/memory/native.ts";
import { ThreadPool, type TakenThread } from "../../native/reach/pool.ts";
import { shareObject, type DatabaseShare } from "../../native/reach/sharing.ts";
import { connectError, errorOf } from "../errors.ts";
import type { LimitState } from "../limit.ts";
import type { Profile } from "../profile.ts";
import { covers, sameSteps, undone } from "./steps.ts";

/** What a driver's process may take. */
export interface ConnectionLimits extends ProcessLimits {
  /** Without use, in a pool. Milliseconds. */
  readonly idleMs: number;
}

/** The limits, unless a test sets smaller ones. A cancel asks the server over a connection of its own. */
export const processLimits: ConnectionLimits = {
  cancelMs: 5_000,
  cancelAgainMs: 250,
  connectMs: 20_000,
  idleMs: 300_000,
};
/** An embedded database asks no server, and a large file may take long to open. */
const embeddedLimits: ProcessLimits = { cancelMs: 2_000, cancelAgainMs: 20, connectMs: undefined };
/** A connection unused for longer is asked whether it still lives: servers and firewalls drop them silently. */
const pingAfterMs = 30_000;

/** How connections are made. */
export interface ConnectionPlan {
  readonly cluster: string;
  readonly profile: Profile;
  readonly library: DriverLibrary;
  readonly size: number;
  readonly limits: ConnectionLimits;
  /** Names the shared object of an embedded driver, and what it was opened with. */
  readonly shared: { readonly key: string; readonly settings: string };
  /** Processes for connections of an isolated driver; absent: each has one to itself. */
  readonly processes?: SharedProcesses;
  /** Asked for each new database object, because addresses change. */
  options(): Promise<Result<DatabaseOptions, string>>;
  /** The error of a connection that could not be made; absent: with what the driver said, for the operator. */
  readonly connectError?: (failure: AdbcFailure) => GatewayError;
}

/** What is known of one thread's driver. */
interface Link {
  database: Address;
  connected: boolean;
  /** The steps that the connection took last. */
  steps: readonly ConnectionStep[];
  /** Steps of which nobody knows whether they still count. */
  doubtful: readonly ConnectionStep[];
  readonly limit: LimitState;
  usedMs: number;
}

/** What a connection is taken for. */
export interface Use {
  /** For a transaction, which has a connection of its own. */
  readonly pinned: boolean;
  /** Steps that give it the session's catalog, schema and settings. */
  readonly steps: readonly ConnectionStep[];
}

/** A connection taken for one statement or one transaction. */
export interface Taken {
  readonly thread: DriverThread;
  /** Where a statement opens a connection of its own; undefined means the kept one. */
  readonly database: Address | undefined;
  /** The steps that the connection still has to take: none when it took the same ones last. */
  goTo(steps: readonly ConnectionStep[]): readonly ConnectionStep[];
  /** The engine may have undone some of the steps. */
  stray(): void;
  /** The steps that it took last. */
  standsAt(): readonly ConnectionStep[];
  /** How long its statements may run in the engine. */
  readonly limit: LimitState;
  /** The connection may be in any state and is not used again. */
  spoil(): void;
  /** Gives it back; settled when it was cleaned, which nobody has to wait for. It never rejects. */
  release(): Promise<void>;
}

/** A connection, and the steps that give it the session's catalog, schema and settings. */
export interface SessionConnection {
  readonly taken: Taken;
  readonly steps: readonly ConnectionStep[];
}

export class Connections {
  readonly #plan: ConnectionPlan;
  readonly #host: Host;
  readonly #pool: ThreadPool;
  #links = new WeakMap<DriverThread, Link>();
  readonly #tasks = new Set<Promise<void>>();
  #share: Promise<Result<DatabaseShare, AdbcFailure>> | undefined;
  #condemned = false;
  #home: Home | undefined;

  constructor(plan: ConnectionPlan, host: Host) {
    this.#plan = plan;
    this.#host = host;
    const { profile, limits, size: sizeMax } = plan;
    this.#pool = profile.isolated
      ? new ThreadPool(() => this.#isolated(), host.clock, { sizeMax, idleMs: limits.idleMs })
      : new ThreadPool(() => this.#sharedHome().thread(), host.clock, { sizeMax });
  }

  get #homePlan(): HomePlan {
    const { threads, clock } = this.#host;
    return { threads, clock, library: this.#plan.library };
  }

  #isolated(): DriverThread {
    const { processes, limits } = this.#plan;
    return processes?.thread() ?? ownProcess(this.#homePlan, limits);
  }

  /** The process of an embedded driver, started with the first connection and anew after its end. */
  #sharedHome(): Home {
    if (this.#home !== undefined) return this.#home;
    const { shared, size } = this.#plan;
    // Twice: the generation before this one may still use all of its own.
    const wish = { key: shared.key, lines: 2 * size, limits: embeddedLimits };
    const home = processHome(this.#homePlan, wish);
    home.onEnd(({ how }) => {
      if (this.#home !== home) return;
      this.#host.log.write("error", "driver.crashed", { cluster: this.#plan.cluster, reason: how });
      home.release();
      this.#home = undefined;
      this.#share = undefined;
      this.#condemned = false;
      this.#links = new WeakMap();
    });
    this.#home = home;
    return home;
  }

  /** True when a connection can be had without waiting. */
  get free(): boolean {
    return this.#pool.free;
  }

  /** Waits for a connection and opens it. `cluster.connectFailed` when it can not be. */
  async take(use: Use, signal: AbortSignal): Promise<Result<Taken, GatewayError>> {
    await this.#reopened();
    const taken = await this.#pool.take(signal);
    if (taken === undefined) {
      return err(gatewayError(signal.aborted ? "query.cancelled" : "cluster.unavailable"));
    }
    const link = await this.#linked(taken.thread, use, signal);
    if (link.ok && !signal.aborted) return ok(this.#takenOf(taken, link.value, use.pinned));
    if (this.#plan.profile.isolated) await taken.thread.end();
    taken[Symbol.dispose]();
    // What was killed because it was cancelled did not fail by itself.
    if (link.ok || signal.aborted) return err(gatewayError("query.cancelled"));
    return link;
  }

  /**
   * Opens a first connection and takes the steps on it, or says why that fails. It has the time limits of a
   * connection.
   */
  async tryOut(steps: readonly ConnectionStep[]): Promise<Result<void, GatewayError>> {
    const never = new AbortController().signal;
    const taken = await this.take({ pinned: false, steps }, never);
    if (!taken.ok) return taken;
    const { thread, database } = taken.value;
    const statements = database === undefined ? taken.value.goTo(steps) : [];
    const gone =
      statements.length === 0
        ? ok(undefined)
        : await thread.ask({ kind: "runAll", statements }, never);
    if (!gone.ok) taken.value.spoil();
    await taken.value.release();
    if (gone.ok) return ok(undefined);
    const text = { sql: "", prefix: 0, original: "", writes: false };
    return err(errorOf(this.#plan.profile, gone.error, text));
  }

  /** The database object refuses everything; it is opened anew when nobody uses it. */
  condemn(): void {
    if (this.#plan.profile.isolated) return;
    this.#condemned = true;
    void this.#share?.then((share) => share.ok && share.value.condemn());
  }

  async close(): Promise<void> {
    const giveBack = async (thread: DriverThread): Promise<void> => {
      const share = await this.#share;
      if (share?.ok === true) await share.value.giveBack(thread);
    };
    // What a process opened ends with it.
    await this.#pool.close(this.#plan.profile.isolated ? undefined : giveBack);
    const home = this.#home;
    this.#home = undefined;
    home?.release();
    await Promise.all(this.#tasks);
  }

  /** Whether the driver's library can be loaded. A process tries it; nothing connects. */
  async loads(signal: AbortSignal): Promise<boolean> {
    using taken = await this.#pool.take(signal);
    if (taken === undefined) return false;
    const database = { options: [], setup: [], untried: true };
    const answer = await taken.thread.ask({ kind: "openDatabase", database }, signal);
    await taken.thread.end();
    // A driver that complains of missing options was loaded.
    return answer.ok || answer.error.code === "driver";
  }

  async #linked(
    thread: DriverThread,
    { pinned, steps }: Use,
    signal: AbortSignal,
  ): Promise<Result<Link, GatewayError>> {
    const link = this.#links.get(thread);
    if (link === undefined) return await this.#opened(thread, pinned, signal);
    if (!covers(steps, link.steps)) link.connected = false;
    if (!this.#keeps(pinned)) return ok(link);
    if (link.connected && this.#host.clock.nowMs() - link.usedMs > pingAfterMs) {
      const alive = await thread.ask({ kind: "runAll", statements: ["SELECT 1"] }, signal);
      link.connected = alive.ok;
    }
    return link.connected ? ok(link) : await this.#connected(thread, link, signal);
  }

  async #opened(
    thread: DriverThread,
    pinned: boolean,
    signal: AbortSignal,
  ): Promise<Result<Link, GatewayError>> {
    const options = await this.#plan.options();
    if (!options.ok) return err(gatewayError("cluster.connectFailed", { detail: options.error }));
    const database = await this.#database(thread, options.value, signal);
    if (!database.ok) return err(this.#connectError(database.error));
    const limit: LimitState = { secs: undefined };
    const link: Link = {
      database: database.value,
      connected: false,
      steps: [],
      doubtful: [],
      limit,
      usedMs: 0,
    };
    this.#links.set(thread, link);
    return this.#keeps(pinned) ? await this.#connected(thread, link, signal) : ok(link);
  }

  /**
   * Whether the thread keeps a connection open. Where each statement opens its own, a kept one would take
   * its room.
   */
  #keeps(pinned: boolean): boolean {
    return pinned || this.#plan.profile.connection !== "new";
  }

  async #connected(
    thread: DriverThread,
    link: Link,
    signal: AbortSignal,
  ): Promise<Result<Link, GatewayError>> {
    const request = { kind: "connect", database: link.database, before: [] } as const;
    const answer = await thread.ask(request, signal);
    link.steps = [];
    link.doubtful = [];
    link.limit.secs = undefined;
    link.connected = answer.ok;
    return answer.ok ? ok(link) : err(this.#connectError(answer.error));
  }

  #connectError(failure: AdbcFailure): GatewayError {
    return (this.#plan.connectError ?? connectError)(failure);
  }

  async #database(
    thread: DriverThread,
    options: DatabaseOptions,
    signal: AbortSignal,
  ): Promise<Result<Address, AdbcFailure>> {
    const { isolated, connection } = this.#plan.profile;
    if (isolated) {
      const database = { ...options, untried: connection !== "new", ofSeat: true };
      const answer = await thread.ask({ kind: "openDatabase", database }, signal);
      if (!answer.ok) return answer;
      if (answer.value.kind !== "opened") throw new Error("a database answered by something else");
      return ok(answer.value.opened.address);
    }
    this.#share ??= shareObject(this.#plan.shared, options, {
      home: this.#sharedHome(),
      thread,
    });
    const share = await this.#share;
    if (!share.ok) this.#share = undefined;
    return share.ok ? ok(share.value.address) : share;
  }

  async #reopened(): Promise<void> {
    if (!this.#condemned || !this.#pool.quiet) return;
    const share = await this.#share;
    using taken = await this.#pool.take(new AbortController().signal);
    if (taken === undefined || !this.#condemned) return;
    this.#condemned = false;
    this.#share = undefined;
    this.#links = new WeakMap();
    if (share?.ok === true) await share.value.giveBack(taken.thread);
  }

  #takenOf(taken: TakenThread, link: Link, pinned: boolean): Taken {
    const { profile } = this.#plan;
    const own = profile.connection === "new" && !pinned;
    let spoiled = false;
    let released: Promise<void> | undefined;
    return {
      thread: taken.thread,
      database: own ? link.database : undefined,
      goTo: (steps) => {
        if (own) return steps;
        const before = [...link.steps, ...link.doubtful];
        if (link.doubtful.length === 0 && sameSteps(steps, link.steps)) return [];
        link.steps = steps;
        link.doubtful = [];
        return [...undone(profile, steps, before), ...steps];
      },
      standsAt: () => link.steps,
      stray: () => {
        link.doubtful = [...link.doubtful, ...link.steps];
        link.steps = [];
      },
      limit: link.limit,
      spoil: () => {
        spoiled = true;
      },
      release: () => {
        const used = spoiled || (profile.connection === "new" && pinned);
        released ??= this.#run(this.#cleaned(taken, link, used));
        return released;
      },
    };
  }

  async #cleaned(taken: TakenThread, link: Link, spoiled: boolean): Promise<void> {
    using _given = taken;
    const { thread } = taken;
    const { connection } = this.#plan.profile;
    link.usedMs = this.#host.clock.nowMs();
    if (!thread.alive || !(link.connected || spoiled)) return;
    const cleaning = connection === "new" ? undefined : connection.cleaning;
    if (!spoiled && cleaning !== undefined) {
      const answer = await thread.ask({ kind: "runAll", statements: [cleaning] });
      link.steps = [];
      link.doubtful = [];
      if (answer.ok) return;
    } else if (!spoiled) return;
    link.connected = false;
    await thread.ask({ kind: "disconnect" });
  }

  #run(cleaning: Promise<void>): Promise<void> {
    const task = cleaning
      .catch((bug: unknown) => this.#host.log.bug(bug, { cluster: this.#plan.cluster }))
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    return task;
  }
}
