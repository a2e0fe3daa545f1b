/**
 * Where a database object lives: in a process of its own, or in threads of this one.
 *
 * An object is one for all who use it, so its process is too: whoever names the same key gets the same
 * process, until that has ended. Then the next one who asks starts another.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { ProcessEnd, Threads } from "@gateway/core/port/threads.ts";
import { DriverProcess, type ChildLimits } from "./driverProcess.ts";
import { DriverThread, type ProcessLimits } from "./driverThread.ts";
import type { DriverLibrary } from "../message.ts";
import { threadReach, type Reach } from "./reach.ts";

/** What is needed to call a driver somewhere. */
export interface HomePlan {
  readonly threads: Threads;
  readonly clock: Clock;
  readonly library: DriverLibrary;
}

export interface Home {
  /** False once its process has ended, with everything in it. */
  readonly alive: boolean;
  /** A new thread in it; one that is asked after the end answers with that. */
  thread(): DriverThread;
  /** Called once when the process has ended, also behind its last user; never for threads. */
  onEnd(handle: (end: ProcessEnd) => void): void;
  /** Says that it is not needed any more; a process ends with its last user. */
  release(): void;
}

/** Threads of this process. What crashes in one ends all of us. */
export function threadHome({ threads, clock, library }: HomePlan): Home {
  return {
    alive: true,
    thread: () => new DriverThread(threadReach(threads, library), clock),
    onEnd: () => {},
    release: () => {},
  };
}

interface SharedProcess {
  readonly process: DriverProcess;
  users: number;
}

const processes = new Map<string, SharedProcess>();

/** Who shares a process, and how much may be asked of it at once. */
export interface ProcessWish extends ChildLimits {
  readonly key: string;
  readonly limits: ProcessLimits;
}

/** The process of a key, started for the first who asks. */
export function processHome(plan: HomePlan, wish: ProcessWish): Home {
  const { key, limits } = wish;
  const name = `${plan.library.library}\0${key}`;
  const shared = processes.get(name) ?? started(plan, name, wish);
  shared.users += 1;
  let released = false;
  return {
    get alive() {
      return shared.process.alive;
    },
    thread: () => new DriverThread(shared.process.reach(), plan.clock, limits),
    onEnd: (handle) => shared.process.onEnd(handle),
    release: () => {
      if (released) return;
      released = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      if (processes.get(name) === shared) processes.delete(name);
      shared.process.kill("nobody uses it");
    },
  };
}

function started(plan: HomePlan, name: string, limits: ChildLimits): SharedProcess {
  const { threads, clock, library } = plan;
  const shared = { process: new DriverProcess(threads, clock, library, limits), users: 0 };
  processes.set(name, shared);
  shared.process.onEnd(() => {
    if (processes.get(name) === shared) processes.delete(name);
  });
  return shared;
}

/** Processes in which several connections live, each on a seat of its own: a process weighs more than a connection. */
export class SharedProcesses {
  readonly #plan: HomePlan;
  readonly #limits: ProcessLimits;
  readonly #seatsMax: number;
  readonly #onCrash: (how: string) => void;
  readonly #processes = new Set<DriverProcess>();

  /** `seatsMax`: in each process. `onCrash` is told of each process that ended while it had seats. */
  constructor(
    plan: HomePlan,
    limits: ProcessLimits,
    seats: { readonly max: number; readonly onCrash: (how: string) => void },
  ) {
    this.#plan = plan;
    this.#limits = { ...limits, seated: true };
    this.#seatsMax = seats.max;
    this.#onCrash = seats.onCrash;
  }

  /** How many there are. */
  get count(): number {
    return this.#processes.size;
  }

  /** A seat in the oldest process that has one, so that the younger ones empty and end. */
  thread(): DriverThread {
    const found = [...this.#processes].find(({ hasRoom }) => hasRoom);
    const process = found ?? this.#started();
    return new DriverThread(process.seat(), this.#plan.clock, this.#limits);
  }

  #started(): DriverProcess {
    const { threads, clock, library } = this.#plan;
    const process = new DriverProcess(threads, clock, library, { lines: this.#seatsMax });
    this.#processes.add(process);
    process.onEnd(({ how }) => {
      this.#processes.delete(process);
      if (process.seats > 0) this.#onCrash(how);
    });
    return process;
  }
}

/** A thread with a process to itself, which ends when the thread is given up. */
export function ownProcess(
  { threads, clock, library }: HomePlan,
  limits: ProcessLimits,
): DriverThread {
  const process = new DriverProcess(threads, clock, library, { lines: 1 });
  const ended = new Promise<void>((resolve) => process.onEnd(() => resolve()));
  const reach: Reach = process.reach();
  return new DriverThread(
    {
      get alive() {
        return reach.alive;
      },
      onMessages: (handle) => reach.onMessages(handle),
      onEnd: (handle) => reach.onEnd(handle),
      post: (request, credits) => reach.post(request, credits),
      addCredit: () => reach.addCredit(),
      cancel: () => reach.cancel(),
      ref: (on) => reach.ref(on),
      kill: () => reach.kill(),
      leave: async () => {
        process.kill("nobody uses it");
        await ended;
      },
    },
    clock,
    limits,
  );
}
