/** Clients that ask without end while a drill runs: each its own queries, spread over the workers. */
import type { Clock } from "@gateway/core/port/clock.ts";
import { ask } from "./ask.ts";
import type { Asked } from "./evidence.ts";
import type { DrillOptions } from "./options.ts";
import { pause } from "./wait.ts";

/** Between two queries of one client; all clients together send at most two hundred a second. */
const paceMsOf = (clients: number): number => Math.max(20, clients * 5);
/** After an answer that was none: a process that starts has better things to do. */
const afterFailureMs = 200;

export class Load {
  /** Everything that was asked and has ended, in the order of its end. */
  readonly asked: Asked[] = [];
  readonly #options: DrillOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];

  /** Begins at once. `mark` begins the names of its queries. */
  constructor(options: DrillOptions, clock: Clock, mark: string) {
    this.#options = options;
    this.#clock = clock;
    this.#running = Array.from({ length: options.clients }, (_, client) =>
      this.#loop(client, mark),
    );
  }

  /** When every client had a right answer to what it asked after `sinceMs` and after the last answer that was not right; undefined before that. */
  backSince(sinceMs: number): number | undefined {
    const lastMs = this.asked.reduce(
      (last, { kind, untilMs }) => (kind === "right" ? last : Math.max(last, untilMs)),
      sinceMs,
    );
    const first = new Map<number, number>();
    for (const { kind, client, fromMs, untilMs } of this.asked) {
      if (kind === "right" && fromMs >= lastMs && !first.has(client)) first.set(client, untilMs);
    }
    return first.size === this.#options.clients ? Math.max(...first.values()) : undefined;
  }

  /** True when every client asked `count` times after `sinceMs` and has its answers, whatever they are. */
  askedSince(sinceMs: number, count: number): boolean {
    const counts = new Map<number, number>();
    for (const { client, fromMs } of this.asked) {
      if (fromMs >= sinceMs) counts.set(client, (counts.get(client) ?? 0) + 1);
    }
    const done = [...counts.values()].filter((one) => one >= count);
    return done.length === this.#options.clients;
  }

  /** Lets what was asked end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #loop(client: number, mark: string): Promise<void> {
    const { workers, client: login, sql, answerMs, clients } = this.#options;
    const worker = workers[client % workers.length];
    if (worker === undefined) return;
    const { signal } = this.#stop;
    for (let number = 0; !signal.aborted; number += 1) {
      const fromMs = this.#clock.nowMs();
      const own = `${mark}_${client}_${number}`;
      const answer = await ask({ worker, login, sql, mark: own, answerMs });
      this.asked.push({ ...answer, client, fromMs, untilMs: this.#clock.nowMs() });
      await pause(answer.kind === "right" ? paceMsOf(clients) : afterFailureMs, signal);
    }
  }
}
