/**
 * The binding's own evidence of what runs in the engine and when: a start and an end for every
 * statement, written around the driver's call. Off unless somebody listens; made for tests that
 * judge a cap at the engine instead of asking the gateway.
 */
export interface StatementInterval {
  readonly sql: string;
  /** Order of events over all statements of the process; `endedAt` is undefined while it runs. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

export interface StatementLog {
  statements(): readonly StatementInterval[];
  /** Resolves when a statement of this text has started. */
  started(sql: string): Promise<void>;
  /** Resolves when every statement of this text that started has ended. */
  ended(sql: string): Promise<void>;
}

interface Listener {
  changed(): void;
  readonly intervals: { sql: string; startedAt: number; endedAt: number | undefined }[];
}

const listeners = new Set<Listener>();
let sequence = 0;

/** Called by the adapter when a statement goes to the driver; the answer is called when the driver is done with it. */
export function statementStarted(sql: string): () => void {
  if (listeners.size === 0) return ignore;
  const interval = { sql, startedAt: next(), endedAt: undefined as number | undefined };
  const told = [...listeners];
  for (const listener of told) {
    listener.intervals.push(interval);
    listener.changed();
  }
  return () => {
    interval.endedAt = next();
    for (const listener of told) listener.changed();
  };
}

/** Listens until disposed. */
export function statementsLogged(): StatementLog & Disposable {
  const waiting = new Set<() => void>();
  const listener: Listener = {
    intervals: [],
    changed: () => {
      for (const look of waiting) look();
    },
  };
  listeners.add(listener);
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const ofText = (sql: string) => listener.intervals.filter((one) => one.sql === sql);
  return {
    statements: () => listener.intervals,
    started: (sql) => until(() => ofText(sql).some(({ endedAt }) => endedAt === undefined)),
    ended: (sql) => until(() => ofText(sql).every(({ endedAt }) => endedAt !== undefined)),
    [Symbol.dispose]: () => void listeners.delete(listener),
  };
}

/** The most statements that ran at one moment. */
export function overlapOf(statements: readonly StatementInterval[]): number {
  const edges = statements.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, step: 1 },
    { at: endedAt ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  let running = 0;
  let most = 0;
  for (const { step } of edges.toSorted((a, b) => a.at - b.at)) {
    running += step;
    most = Math.max(most, running);
  }
  return most;
}

function next(): number {
  sequence += 1;
  return sequence;
}

function ignore(): void {
  // Nobody listens.
}
