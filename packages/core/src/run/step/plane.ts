/** The parts a query passes through, handed to the pipeline as one value. */
import type { Capacity } from "../../port/capacity.ts";
import type { History } from "../../port/history.ts";
import type { Behind } from "../../query/behind.ts";
import type { Host } from "../../port/host.ts";
import type { Generations } from "../../snapshot/generation.ts";
import type { LiveQueries } from "./live.ts";
import type { QueryMetrics } from "./metrics.ts";

export interface DataPlane {
  readonly host: Host;
  readonly generations: Generations;
  readonly capacity: Capacity;
  readonly history: History;
  readonly live: LiveQueries;
  readonly metrics: QueryMetrics;
  /** Name of this worker in records; undefined on a standalone gateway. */
  readonly worker: string | undefined;
  /** How long a transaction may wait for its next statement. */
  readonly idleInTransactionMs: number;
  /** Whether tags are read from comments before statements; absent means no. */
  readonly tagComments?: boolean;
  /** Run by whoever writes the answers. Absent: what would be left to it is done before the answer. */
  readonly behind?: Behind;
  /** True once a drain began: nothing new starts. */
  draining(): boolean;
}
