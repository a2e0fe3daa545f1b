/** Everything that is not decided by data: time, chance, threads, files of secrets, logs, counters. */
import type { Clock } from "./clock.ts";
import type { Egress } from "./egress.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Slices } from "./slices.ts";
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
  readonly log: Log;
  readonly metrics: Metrics;
  readonly egress: Egress;
  /** Folders in which libraries of drivers are looked for, in order; absent where none are. */
  readonly libraryFolders?: readonly string[];
}
