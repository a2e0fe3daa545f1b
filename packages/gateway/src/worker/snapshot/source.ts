/**
 * All sources of a worker's configuration in one stream, in their order: the control plane from the
 * start and always; the disk copy after its first failure or a second of silence; peers after
 * `afterSecs`, again and again while there is no configuration.
 */
import type { ConfigSource, SourceEvent } from "@gateway/core/port/configSource.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { eventQueue } from "./events.ts";
import { diskAfterMs, peerPauseMs } from "../limits.ts";
import { pause, type Wake } from "@gateway/core/tool/pause.ts";
import type { VerifiedSnapshot } from "./verify.ts";

type Event = SourceEvent<VerifiedSnapshot>;

export interface SourceParts {
  readonly host: Pick<Host, "clock" | "log" | "random">;
  /** Runs the link until the signal aborts. */
  link(signal: AbortSignal): Promise<void>;
  /** Reads the disk copy; undefined when there is none. */
  readonly disk: (() => Promise<Event | undefined>) | undefined;
  readonly peers:
    | {
        readonly afterMs: number;
        /** One round through all peers. */
        ask(signal: AbortSignal): Promise<Event>;
      }
    | undefined;
  /** True as soon as something is active: copies are then no longer looked for. */
  hasConfig(): boolean;
}

export interface WorkerSource extends ConfigSource<VerifiedSnapshot> {
  /** For the link, which speaks before anybody listens. */
  push(event: Event): void;
}

export function workerSource(parts: SourceParts): WorkerSource {
  const queue = eventQueue<VerifiedSnapshot>();
  const waiting = new Set<Wake>();
  let failed = false;

  const push = (event: Event): void => {
    if (event.kind !== "offer") {
      failed = true;
      for (const wait of waiting) wait.wake();
    }
    queue.push(event);
  };

  async function readDisk(read: () => Promise<Event | undefined>, signal: AbortSignal) {
    if (!failed) {
      const silence = pause(parts.host.clock, diskAfterMs, signal);
      waiting.add(silence);
      await silence;
      waiting.delete(silence);
    }
    if (signal.aborted || parts.hasConfig()) return;
    const event = await read();
    if (event !== undefined && !signal.aborted) queue.push(event);
  }

  async function askPeers(peers: NonNullable<SourceParts["peers"]>, signal: AbortSignal) {
    await pause(parts.host.clock, peers.afterMs, signal);
    while (!signal.aborted && !parts.hasConfig()) {
      const event = await peers.ask(signal);
      if (signal.aborted || parts.hasConfig()) return;
      queue.push(event);
      // An offer takes a while to be opened; a round that failed is repeated, not in step with others.
      const pauseMs = peerPauseMs * (1 + parts.host.random());
      await pause(parts.host.clock, pauseMs, signal);
    }
  }

  const { disk, peers } = parts;
  return {
    push,
    events: async function* (signal) {
      const running = Promise.all([
        parts.link(signal),
        disk === undefined ? undefined : readDisk(disk, signal),
        peers === undefined ? undefined : askPeers(peers, signal),
      ]).catch((bug: unknown) => parts.host.log.bug(bug));
      yield* queue.events(signal);
      await running;
    },
  };
}
