/**
 * Asks the engines about slots whose lease ran out, for as long as this process holds the lock for it.
 * It reports what it saw and does what it is told. What a sighting means is decided where the slots are kept,
 * by reaperCases.ts. It admits nothing.
 */
import type { Sighting, SuspectLease } from "@gateway/contract/capacityApi.ts";
import type { Backend, RunningStatements } from "../../port/backend.ts";
import type { Host } from "../../port/host.ts";
import type { ReaperLink } from "../lease/leases.ts";
import type { Generations } from "../../snapshot/generation.ts";
import { tagPrefix } from "../../query/tag.ts";
import { pause } from "../../tool/pause.ts";

export const engineRunning = {
  name: "gateway_engine_running_queries",
  help: "Statements of the fleet that the engine says it runs, as this process saw it when it last asked; -1 when the engine does not answer.",
  labels: ["cluster_name"],
} as const;

export interface ReaperParts {
  readonly host: Pick<Host, "clock" | "log" | "metrics" | "random">;
  readonly link: ReaperLink;
  /** The active generation says which engines there are. While there is none, the lock is left to others. */
  readonly generations: Pick<Generations, "hold">;
}

const lookEveryMs = 2_000;
const lockSecs = 15;
/** An engine that takes longer does not answer. */
const engineMsMax = 10_000;
const endAgainAfterMs = 10_000;
/** How often all engines are asked what they run, also when nothing is suspect. */
const publishEveryMs = 10_000;
/** How long the lock is left to others after an engine was not reached; doubles each time that nobody else reached it. */
const restMsFirst = 8_000;
const restMsMax = 30_000;

/** Runs until `signal` aborts. Never rejects. */
export async function reap(parts: ReaperParts, signal: AbortSignal): Promise<void> {
  const reaper = new Reaper(parts, signal);
  while (!signal.aborted) {
    try {
      await reaper.round();
    } catch (bug) {
      parts.host.log.bug(bug);
    }
    await pause(parts.host.clock, lookEveryMs, signal);
  }
  await reaper.leave();
}

type Listing = RunningStatements | "unanswered";

interface Judging {
  readonly token: number;
  /** Names the listing: from the response that came before the engine was asked. */
  readonly asked: number | undefined;
  readonly listing: Listing;
}

class Reaper {
  readonly #parts: ReaperParts;
  readonly #signal: AbortSignal;
  #token: number | undefined;
  #publishedAtMs = Number.NEGATIVE_INFINITY;
  /** Until then the lock is left to others. */
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #restMs = restMsFirst;
  /** Clusters for which the log already says that their slots are not freed. */
  readonly #unlisted = new Set<string>();
  /** Tags of statements that the engine was told to end, and when. */
  readonly #ending = new Map<string, number>();

  constructor(parts: ReaperParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async round(): Promise<void> {
    if (this.#parts.host.clock.nowMs() < this.#restsUntilMs) return;
    const held = this.#parts.generations.hold();
    if (!held.ok) return;
    using hold = held.value;
    const open = hold.generation.backends();
    const backends = new Map(open.map((backend) => [backend.cluster, backend]));
    if (backends.size === 0) return;
    const token = await this.#locked();
    if (token === undefined) return;
    const found = await this.#parts.link.suspects(this.#signal);
    // The engine is asked after the list of suspects came: an earlier listing would say nothing about them.
    const listings = new Map<string, Promise<Listing>>();
    const { suspects, listing: asked } = found.ok ? found.value : { suspects: [] };
    if (suspects.length === 0) this.#ending.clear();
    let unseen = 0;
    await Promise.all(
      suspects.map(async (suspect) => {
        const backend = backends.get(suspect.cluster);
        // A cluster that is not open here is left to others.
        if (backend === undefined) {
          unseen += 1;
          return;
        }
        const listing = listings.get(suspect.cluster) ?? this.#list(backend);
        listings.set(suspect.cluster, listing);
        const answer = await listing;
        if (answer === "unanswered") unseen += 1;
        await this.#judge(suspect, backend, { token, asked, listing: answer });
      }),
    );
    await this.#publish(token, backends);
    if (unseen > 0) await this.#yield();
    else this.#restMs = restMsFirst;
  }

  /** Somebody else may reach the engine. The jitter keeps two processes that both can not from alternating in step. */
  async #yield(): Promise<void> {
    const { host } = this.#parts;
    this.#restsUntilMs = host.clock.nowMs() + this.#restMs * (0.5 + host.random() / 2);
    this.#restMs = Math.min(this.#restMs * 2, restMsMax);
    await this.leave();
  }

  /** Releases the lock, so that another process can go on at once. */
  async leave(): Promise<void> {
    const token = this.#token;
    if (token === undefined) return;
    this.#token = undefined;
    const limit = new AbortController();
    using _timer = this.#parts.host.clock.timer(lookEveryMs, () => limit.abort());
    await this.#parts.link.unlock(token, limit.signal);
  }

  async #locked(): Promise<number | undefined> {
    const { link, host } = this.#parts;
    const token = this.#token;
    const answer =
      token === undefined
        ? await link.lock(lockSecs, this.#signal)
        : await link.keepLock(token, this.#signal);
    // Without a response nobody knows about the lock; a token that has become invalid is refused anyway.
    if (!answer.ok) return undefined;
    if (!answer.value.acquired) {
      if (token !== undefined) this.#fenced();
      return undefined;
    }
    if (token === undefined) host.log.write("info", "capacity.reaps");
    this.#token = answer.value.token;
    return this.#token;
  }

  #fenced(): void {
    this.#token = undefined;
    this.#ending.clear();
    this.#parts.host.log.write("info", "capacity.reapsNoMore");
  }

  async #judge(
    suspect: SuspectLease,
    backend: Backend,
    { token, asked, listing }: Judging,
  ): Promise<void> {
    const { cluster, slot, lease } = suspect;
    const tags = listing === "unanswered" ? [] : tagsOf(suspect, listing);
    const seen = this.#sightingOf(backend, listing, tags);
    const delayMs = listing === "unanswered" ? 0 : listing.delayMs;
    const { link, host } = this.#parts;
    const about = { token, cluster, slot, lease };
    const report = { ...about, seen, delayMs, ...(asked === undefined ? {} : { listing: asked }) };
    const said = await link.observed(report, this.#signal);
    if (!said.ok) return;
    const { fenced, advice } = said.value;
    this.#warnOfUnlisted(backend, listing);
    if (!fenced) {
      if (this.#token === token) this.#fenced();
      return;
    }
    if (advice === "freed") host.log.write("info", "capacity.slotFreed", { cluster, slot, seen });
    if (advice !== "end") return;
    host.log.write("warn", "capacity.orphanEnded", { cluster, slot, statements: tags.length });
    await Promise.all(tags.map((tag) => this.#end(backend, tag)));
  }

  /** Such a cluster's slots come back by time, or by hand where the engine holds no limit for its statements. */
  #warnOfUnlisted({ cluster, runsIn, limitsExecution }: Backend, listing: Listing): void {
    if (runsIn === "process" || listing === "unanswered" || listing.complete) return;
    if (this.#unlisted.has(cluster)) return;
    this.#unlisted.add(cluster);
    this.#parts.host.log.write("warn", "capacity.engineNotListed", { cluster, limitsExecution });
  }

  #sightingOf(backend: Backend, listing: Listing, tags: readonly string[]): Sighting {
    if (backend.runsIn === "process") return "inProcess";
    if (listing === "unanswered") return "unanswered";
    if (tags.length > 0) return tags.every((tag) => this.#isEnding(tag)) ? "ending" : "running";
    if (listing.complete) return "absent";
    return backend.limitsExecution ? "unlisted" : "unanswered";
  }

  /** True when the engine was told a moment ago. One that does not obey is told again later. */
  #isEnding(tag: string): boolean {
    const toldAtMs = this.#ending.get(tag);
    return toldAtMs !== undefined && this.#parts.host.clock.nowMs() - toldAtMs < endAgainAfterMs;
  }

  async #end(backend: Backend, tag: string): Promise<void> {
    const limit = this.#limit();
    using _timer = limit.timer;
    const told = await backend.end(tag, limit.signal);
    if (told.ok) this.#ending.set(tag, this.#parts.host.clock.nowMs());
  }

  async #list(backend: Backend): Promise<Listing> {
    if (backend.runsIn === "process") return { tags: [], complete: true, delayMs: 0 };
    const limit = this.#limit();
    using _timer = limit.timer;
    const listed = await backend.running(limit.signal);
    return listed.ok ? listed.value : "unanswered";
  }

  #limit(): { readonly signal: AbortSignal; readonly timer: Disposable } {
    const limit = new AbortController();
    const timer = this.#parts.host.clock.timer(engineMsMax, () => limit.abort());
    return { signal: AbortSignal.any([limit.signal, this.#signal]), timer };
  }

  async #publish(token: number, backends: ReadonlyMap<string, Backend>): Promise<void> {
    const { link, host } = this.#parts;
    const nowMs = host.clock.nowMs();
    if (nowMs - this.#publishedAtMs < publishEveryMs) return;
    this.#publishedAtMs = nowMs;
    await Promise.all(
      [...backends.values()].map(async (backend) => {
        const { cluster } = backend;
        // From here nobody sees what runs in other processes.
        if (backend.runsIn === "process") return;
        const listing = await this.#list(backend);
        const gauge = host.metrics.gauge(engineRunning, { cluster_name: cluster });
        if (listing === "unanswered") {
          gauge.set(-1);
          return;
        }
        const { tags, complete } = listing;
        gauge.set(tags.length);
        await link.publish(cluster, { token, running: tags.length, complete }, this.#signal);
      }),
    );
  }
}

/** The tag up to the lease: its holder may have died before it named a query. */
function tagsOf({ instance, lease }: SuspectLease, { tags }: RunningStatements): readonly string[] {
  const prefix = `${tagPrefix}${instance}/${lease}/`;
  return tags.filter((tag) => tag.startsWith(prefix));
}
