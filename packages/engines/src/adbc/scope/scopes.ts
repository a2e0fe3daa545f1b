/**
 * Connections of scopes, found again by key. A scope that nobody asked for in a while is forgotten. When
 * there are too many, so is the one that was asked for longest ago.
 *
 * Forgetting only drops the reference held here: whoever uses a scope keeps it until they are done, and the
 * last one closes it. This file knows neither drivers nor identities. It is given a clock, and a function
 * that builds what is missing.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { deferred, unlessAborted } from "@gateway/core/tool/pause.ts";

/** What a scope holds. */
export interface Closable {
  /** Settled when nothing of it is left. */
  close(): Promise<void>;
}

export interface ScopeLimits {
  /** A scope expires this long after it was last looked up. */
  readonly idleMs: number;
  readonly countMax: number;
  /** Scopes that are built at once; others wait in line. */
  readonly buildsMax: number;
  /** Scopes that are built or wait to be; more are refused. */
  readonly waitingMax: number;
}

/** Told of what is remembered and forgotten. `reason` is absent when the cluster itself is closed. */
export interface ScopeWatcher {
  added(group: string): void;
  removed(group: string, reason?: "idle" | "lru"): void;
  bug(error: unknown): void;
}

/** What is asked for. `group` is the cluster group that a new scope is counted under. */
export interface ScopeWish<T> {
  readonly key: string;
  readonly group: string;
  build(): Promise<Result<T, GatewayError>>;
}

/** A scope that is held until it is disposed. */
export interface HeldScope<T> extends Disposable {
  readonly value: T;
}

interface Entry<T> {
  readonly value: T;
  readonly group: string;
  lookedUpMs: number;
  users: number;
  /** Not remembered any more: the last user closes it. */
  forgotten: boolean;
}

interface Build<T> {
  readonly done: Promise<Result<Entry<T>, GatewayError>>;
  /** Who waits; each of them is a user of what is built. */
  waiters: number;
  entry: Entry<T> | undefined;
}

/** Expired scopes are looked for at least this often. */
const sweepMsMax = 60_000;

export class Scopes<T extends Closable> {
  readonly #clock: Clock;
  readonly #limits: ScopeLimits;
  readonly #watcher: ScopeWatcher;
  /** In the order they were looked up, the longest ago first. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #builds = new Map<string, Build<T>>();
  /** Everything that was built and is not closed. */
  readonly #open = new Set<Entry<T>>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #line: (() => void)[] = [];
  #building = 0;
  #sweep: Disposable | undefined;
  #closed = false;

  constructor(clock: Clock, limits: ScopeLimits, watcher: ScopeWatcher) {
    this.#clock = clock;
    this.#limits = limits;
    this.#watcher = watcher;
  }

  /** Scopes that are remembered, also those that have expired since the last sweep. */
  get count(): number {
    return this.#entries.size;
  }

  /**
   * The scope of a key, or a new one: built once, however many ask for it at a time. Refuses with why it
   * could not be built, `query.cancelled` when the signal comes first, `cluster.unavailable` when closed or
   * when too many are being built.
   */
  async take(wish: ScopeWish<T>, signal: AbortSignal): Promise<Result<HeldScope<T>, GatewayError>> {
    if (this.#closed) return err(gatewayError("cluster.unavailable"));
    const nowMs = this.#clock.nowMs();
    const found = this.#entries.get(wish.key);
    if (found !== undefined && !this.#expired(found, nowMs)) {
      found.lookedUpMs = nowMs;
      found.users += 1;
      this.#entries.delete(wish.key);
      this.#entries.set(wish.key, found);
      return ok(this.#held(found));
    }
    if (signal.aborted) return err(gatewayError("query.cancelled"));
    const build = this.#builds.get(wish.key) ?? this.#begin(wish);
    return build === undefined
      ? err(gatewayError("cluster.unavailable", { detail: "too many connections are being made" }))
      : await this.#wait(build, signal);
  }

  /** A new scope in the place of the one that the key had, which lives on for those who hold it. */
  async takeNew(
    wish: ScopeWish<T>,
    signal: AbortSignal,
  ): Promise<Result<HeldScope<T>, GatewayError>> {
    const found = this.#entries.get(wish.key);
    if (found !== undefined) this.#forget(wish.key, found);
    return await this.take(wish, signal);
  }

  /** Closes every scope, also those that somebody holds. Settled when all are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep?.[Symbol.dispose]();
    for (const go of this.#line.splice(0)) go();
    for (const [key, entry] of this.#entries) this.#forget(key, entry);
    for (const entry of this.#open) this.#shut(entry);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  #expired({ lookedUpMs }: Entry<T>, nowMs: number): boolean {
    return nowMs - lookedUpMs >= this.#limits.idleMs;
  }

  #begin(wish: ScopeWish<T>): Build<T> | undefined {
    if (this.#builds.size >= this.#limits.waitingMax) return undefined;
    const { promise: begun, resolve: start } = deferred<void>();
    const build: Build<T> = {
      done: this.#run(begun.then(() => this.#build(wish, build))),
      waiters: 0,
      entry: undefined,
    };
    this.#builds.set(wish.key, build);
    start();
    return build;
  }

  async #build(wish: ScopeWish<T>, build: Build<T>): Promise<Result<Entry<T>, GatewayError>> {
    try {
      while (!this.#closed && this.#building >= this.#limits.buildsMax) await this.#turn();
      if (this.#closed || build.waiters === 0) {
        this.#line.shift()?.();
        return err(gatewayError("cluster.unavailable"));
      }
      this.#building += 1;
      const made = await wish.build().finally(() => {
        this.#building -= 1;
        this.#line.shift()?.();
      });
      return made.ok ? this.#remember(wish, build, made.value) : made;
    } finally {
      this.#builds.delete(wish.key);
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve);
    });
  }

  #remember(
    { key, group }: ScopeWish<T>,
    build: Build<T>,
    value: T,
  ): Result<Entry<T>, GatewayError> {
    const lookedUpMs = this.#clock.nowMs();
    const entry = { value, group, lookedUpMs, users: build.waiters, forgotten: false };
    this.#open.add(entry);
    if (this.#closed) {
      this.#shut(entry);
      return err(gatewayError("cluster.unavailable"));
    }
    build.entry = entry;
    this.#forgetExpired();
    for (const [oldest, last] of this.#entries) {
      if (this.#entries.size < this.#limits.countMax) break;
      this.#forget(oldest, last, "lru");
    }
    this.#entries.set(key, entry);
    this.#watcher.added(group);
    this.#sweepLater();
    return ok(entry);
  }

  async #wait(build: Build<T>, signal: AbortSignal): Promise<Result<HeldScope<T>, GatewayError>> {
    build.waiters += 1;
    const built = await unlessAborted(build.done, signal, () => undefined);
    if (built?.ok === true) return ok(this.#held(built.value));
    if (built?.ok === false) return built;
    if (build.entry === undefined) build.waiters -= 1;
    else this.#release(build.entry);
    return err(gatewayError("query.cancelled"));
  }

  #held(entry: Entry<T>): HeldScope<T> {
    let held = true;
    return {
      value: entry.value,
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        this.#release(entry);
      },
    };
  }

  #release(entry: Entry<T>): void {
    entry.users -= 1;
    if (entry.users === 0 && entry.forgotten) this.#shut(entry);
  }

  #sweepLater(): void {
    this.#sweep ??= this.#clock.timer(Math.min(this.#limits.idleMs, sweepMsMax), () => {
      this.#sweep = undefined;
      this.#forgetExpired();
      if (this.#entries.size > 0) this.#sweepLater();
    });
  }

  /** Those that expired stand in front. */
  #forgetExpired(): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, entry] of this.#entries) {
      if (!this.#expired(entry, nowMs)) return;
      this.#forget(key, entry, "idle");
    }
  }

  #forget(key: string, entry: Entry<T>, reason?: "idle" | "lru"): void {
    this.#entries.delete(key);
    entry.forgotten = true;
    this.#watcher.removed(entry.group, reason);
    if (entry.users === 0) this.#shut(entry);
  }

  /** Closes it, once. Only `close` waits for that. */
  #shut(entry: Entry<T>): void {
    if (!this.#open.delete(entry)) return;
    void this.#run(entry.value.close().catch((error: unknown) => this.#watcher.bug(error)));
  }

  #run<R>(task: Promise<R>): Promise<R> {
    const settled = task.then(nothing, nothing).then(() => void this.#tasks.delete(settled));
    this.#tasks.add(settled);
    return task;
  }
}

function nothing(): void {}
