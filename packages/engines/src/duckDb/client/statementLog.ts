/**
 * When each statement began and ended in the engine, as its own binding saw it.
 *
 * The evidence that a cap holds and that a cancelled query is over: judged here, next to the engine,
 * and never by asking the gateway. A statement counts from before its text is handed to the driver's
 * thread until that thread has answered, so overlaps are never missed.
 */
import type { Clock } from "@gateway/core/port/clock.ts";

/** One statement. Times are of the process's monotonic clock, in milliseconds. */
export interface StatementEntry {
  readonly cluster: string;
  readonly sql: string;
  readonly startedMs: number;
  /** Undefined while it runs. */
  readonly endedMs: number | undefined;
}

/** Told of every phase; must not throw. */
export interface StatementWatcher {
  started(cluster: string, sql: string, atMs: number): void;
  ended(cluster: string, sql: string, atMs: number): void;
}

const watchers = new Set<StatementWatcher>();

/** Tells watchers that a statement begins. Disposing the answer tells that it has ended. */
export function statementBegins(cluster: string, sql: string, clock: Clock): Disposable {
  if (watchers.size === 0) return unwatched;
  const told = [...watchers];
  for (const watcher of told) watcher.started(cluster, sql, clock.nowMs());
  return {
    [Symbol.dispose]: () => {
      for (const watcher of told) watcher.ended(cluster, sql, clock.nowMs());
    },
  };
}

const unwatched: Disposable = { [Symbol.dispose]: () => {} };

/** Watches every statement of the process until disposed. */
export function watchStatements(watcher: StatementWatcher): Disposable {
  watchers.add(watcher);
  return { [Symbol.dispose]: () => void watchers.delete(watcher) };
}

export interface StatementLog {
  /** Everything seen so far, in the order of its start. */
  statements(): readonly StatementEntry[];
  /** Resolves as soon as a statement with this text is running. */
  started(sql: string): Promise<void>;
  /** Resolves as soon as no statement with this text is running. */
  ended(sql: string): Promise<void>;
}

/** Keeps a log from now on until disposed. */
export function statementsLogged(): StatementLog & Disposable {
  const entries: {
    cluster: string;
    sql: string;
    startedMs: number;
    endedMs: number | undefined;
  }[] = [];
  let waiters: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];
  const running = (sql: string): boolean =>
    entries.some((entry) => entry.sql === sql && entry.endedMs === undefined);
  const wake = (): void => {
    const ready = waiters.filter(({ holds }) => holds());
    waiters = waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiters.push({ holds, resolve });
      wake();
    });
  const watching = watchStatements({
    started: (cluster, sql, startedMs) => {
      entries.push({ cluster, sql, startedMs, endedMs: undefined });
      wake();
    },
    ended: (cluster, sql, endedMs) => {
      const entry = entries.find(
        (one) => one.cluster === cluster && one.sql === sql && one.endedMs === undefined,
      );
      if (entry !== undefined) entry.endedMs = endedMs;
      wake();
    },
  });
  return {
    statements: () => entries.map((entry) => ({ ...entry })),
    started: (sql) => until(() => running(sql)),
    ended: (sql) => until(() => !running(sql)),
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  };
}

/** The most statements that ran at one moment. */
export function overlapOf(statements: readonly StatementEntry[]): number {
  const events = statements.flatMap(({ startedMs, endedMs }) => [
    { atMs: startedMs, change: 1 },
    ...(endedMs === undefined ? [] : [{ atMs: endedMs, change: -1 }]),
  ]);
  // An end at the same moment as a start came first: the slot was free.
  events.sort((left, right) => left.atMs - right.atMs || left.change - right.change);
  let now = 0;
  let most = 0;
  for (const { change } of events) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
