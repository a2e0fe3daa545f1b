/**
 * The processes of one worker: started, replaced when they end by themselves, and stopped together.
 *
 *   starting --started--> serving --ended--> waiting --a while--> starting
 *   starting --ended before all had started--> the whole start fails with its exit code
 *   any --stop--> stopping --ended--> its exit code counts
 */
import cluster, { type Worker } from "node:cluster";
import type { Host } from "@gateway/core/port/host.ts";
import { isOurs, type ToChild, type ToParent } from "./message.ts";
import { partEnvironment } from "./part.ts";
import type { Line, Switchboard } from "./switchboard.ts";

/** Doubled with each end that comes within a minute of the one before. */
const againMs = { first: 500, most: 30_000, forgottenAfter: 60_000 } as const;

export const restarts = {
  name: "gateway_process_restarts_total",
  help: "Processes of this worker that ended by themselves and were replaced.",
  labels: [],
} as const;

interface Seat {
  readonly index: number;
  worker: Worker | undefined;
  started: boolean;
  waitMs: number;
  endedAtMs: number;
}

export interface CrewParts {
  readonly count: number;
  readonly host: Pick<Host, "clock" | "log" | "metrics">;
  readonly switchboard: Switchboard;
  /** Exit code of one that a signal ended. */
  readonly killedCode: number;
}

export class Crew {
  readonly #parts: CrewParts;
  readonly #seats: readonly Seat[];
  #settle: (failed: number | undefined) => void = () => {};
  #allEnded: () => void = () => {};
  #worst = 0;
  #stopping: string | undefined;
  #allStarted = false;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.#seats = Array.from({ length: parts.count }, (_none, index) => ({
      index,
      worker: undefined,
      started: false,
      waitMs: againMs.first,
      endedAtMs: Number.NEGATIVE_INFINITY,
    }));
  }

  /** Starts them all. Undefined when all listen, else the exit code of the first that could not. */
  start(): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      for (const seat of this.#seats) this.#begin(seat);
    });
  }

  /** Whether each of them serves. */
  get whole(): boolean {
    return this.#seats.every(({ started }) => started);
  }

  /** Tells all to stop; told again, they hurry. */
  stop(signal: string): void {
    this.#stopping = signal;
    for (const { worker } of this.#seats) tellToStop(worker, signal);
  }

  /** Ends at once who is still there. */
  kill(): void {
    for (const { worker } of this.#seats) worker?.process.kill("SIGKILL");
  }

  /** The worst exit code, when all that were told to stop have ended. */
  ended(): Promise<number> {
    return new Promise((resolve) => {
      this.#allEnded = () => resolve(this.#worst);
      this.#lookAtEnd();
    });
  }

  #begin(seat: Seat): void {
    const { count, switchboard } = this.#parts;
    const worker = cluster.fork(partEnvironment({ index: seat.index, count }));
    seat.worker = worker;
    const line: Line = {
      index: seat.index,
      send: (message) => worker.isConnected() && worker.send(message, () => {}),
    };
    worker.on("message", (message: unknown) => {
      if (!isOurs(message)) return;
      const told = message as ToParent;
      if (told.kind === "started") this.#onStarted(seat, line);
      else switchboard.take(line, told);
    });
    worker.once("exit", (code, signal) => {
      switchboard.leave(line);
      this.#onEnded(seat, code ?? undefined, signal ?? undefined);
    });
  }

  #onStarted(seat: Seat, line: Line): void {
    // It may not have listened yet when the others were told.
    if (this.#stopping !== undefined) return tellToStop(seat.worker, this.#stopping);
    seat.started = true;
    this.#parts.switchboard.join(line);
    if (!this.whole) return;
    this.#allStarted = true;
    this.#settle(undefined);
  }

  #onEnded(seat: Seat, code: number | undefined, signal: string | undefined): void {
    seat.worker = undefined;
    seat.started = false;
    const ended = code ?? this.#parts.killedCode;
    if (this.#stopping !== undefined) {
      this.#worst = Math.max(this.#worst, ended);
      return this.#lookAtEnd();
    }
    const how = {
      process: seat.index + 1,
      ...(signal === undefined ? { code: ended } : { signal }),
    };
    this.#parts.host.log.write("error", "process.ended", how);
    if (!this.#allStarted) return this.#settle(Math.max(ended, 1));
    this.#again(seat);
  }

  #again(seat: Seat): void {
    const { clock, metrics } = this.#parts.host;
    const nowMs = clock.nowMs();
    const isOften = nowMs - seat.endedAtMs < againMs.forgottenAfter;
    seat.waitMs = isOften ? Math.min(seat.waitMs * 2, againMs.most) : againMs.first;
    seat.endedAtMs = nowMs;
    metrics.counter(restarts, {}).add(1);
    clock.timer(seat.waitMs, () => {
      if (this.#stopping === undefined) this.#begin(seat);
    });
  }

  #lookAtEnd(): void {
    if (this.#seats.every(({ worker }) => worker === undefined)) this.#allEnded();
  }
}

function tellToStop(worker: Worker | undefined, signal: string): void {
  const message: ToChild = { kind: "stop", signal };
  worker?.send(message, () => {});
}
