/** Everything that is not decided by data: time, chance, threads, files of secrets, logs, counters. */
import type { Clock } from "./clock.ts";
import type { Egress } from "./egress.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Steps } from "../sql/reading/steps.ts";
import type { LocalRewrites, ScriptSandboxes } from "../script/scripts.ts";
import type { SqlWork } from "./sql/sqlWork.ts";
import type { Siblings } from "./siblings.ts";
import type { Threads } from "./threads.ts";

export interface Host {
  readonly clock: Clock;
  /** Evenly distributed in [0, 1). For spreading load, never for secrets. */
  random(): number;
  /** Unpredictable bytes. For ids, keys and cancel secrets. */
  randomBytes(length: number): Uint8Array;
  readonly threads: Threads;
  /** Where long work on the one thread goes. */
  readonly slices: Slices;
  /** The parser of SQL; absent on a host without threads. Costs nothing until it is asked. */
  readonly sql?: SqlWork | undefined;
  /** Where scripts of the configuration run; absent where there are no threads. */
  readonly scripts?: ScriptSandboxes | undefined;
  /** What this process alone has to change statements with; absent where it has nothing. */
  readonly localRewrites?: LocalRewrites | undefined;
  /** How long types of columns may take to be known, in place of what the configuration says; absent: that counts. */
  readonly localResolutionMs?: number | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly egress: Egress;
  /** Folders in which libraries of drivers are looked for, in order; absent where none are. */
  readonly libraryFolders?: readonly string[];
  /**
   * Keys of 32 bytes that all processes of a fleet share, for one purpose: the current one first, then those that only
   * open what was sealed before. Absent where the process is alone.
   */
  readonly fleetKeys?: ((purpose: string) => readonly Uint8Array[]) | undefined;
  /** Absent where no other process shares the listeners. */
  readonly siblings?: Siblings | undefined;
}

/** Long work of all clients on the one thread that serves everybody, done in slices in which users take turns. */
export interface Slices {
  /** What the steps found; undefined when the client was over before. Rejects with what a step throws. */
  run<Found>(work: SlicedWork<Found>): Promise<Found | undefined>;
}

export interface SlicedWork<Found> {
  readonly steps: Steps<Found>;
  readonly user: string;
  /** True once the client left or its statement was cancelled: the rest of its work is dropped. */
  readonly client: { readonly over: boolean };
}
