/**
 * What is served at this moment, kept in step with the store.
 *
 * It only ever moves forward: a read that began before a write of this process ended, or a database
 * that was restored from a backup, does not take back what was served.
 */
import { compareRevisions, sameRevision, type Revision } from "@gateway/contract/revision.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type { Metrics } from "@gateway/core/port/metrics.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { KeyRing } from "../secret/keyRing.ts";
import type { Store } from "../../store/store.ts";
import type { ConfigFault, Freshness } from "../configuration.ts";
import { loadConfig, type Loaded, type LoadRefusal } from "./loaded.ts";
import { configFamilies } from "../metrics.ts";

export interface LiveParts {
  readonly store: Store;
  readonly keys: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A read that takes longer is given up; what was built before is served. */
export const loadMsMax = 10_000;
/** Looks at the head this often even when nothing wakes us: a wake may be lost, or the database gone. */
const lookEveryMs = 5_000;
/** Tries of one read while writes of this process come between. */
const attemptsMax = 8;

type Synced = Result<Loaded, LoadRefusal>;

export class Live implements AsyncDisposable {
  readonly #parts: LiveParts;
  readonly #listeners = new Set<() => void>();
  #loaded: Loaded;
  #confirmedAt: number;
  /** Why the store's newest could not be had; undefined when it could. */
  #problem: string | undefined;
  /** Finds the faults of what is served. Undefined until the first one who needs it. */
  #judge: ((objects: Loaded["objects"]) => readonly ConfigFault[]) | undefined;
  /** Why what is served does not fit this release. */
  #misfit: string | undefined;
  #running: Promise<Synced> | undefined;
  #next: Promise<Synced> | undefined;
  #watch: AsyncDisposable | undefined;
  #timer: Disposable | undefined;
  /** A write of this process that has not ended. */
  #writing: Promise<unknown> | undefined;
  /** Ends the wait for the read under way. */
  #giveUp: (() => void) | undefined;

  constructor(parts: LiveParts, loaded: Loaded) {
    this.#parts = parts;
    this.#loaded = loaded;
    this.#confirmedAt = parts.clock.unixMs();
  }

  /** Judges what is served, and all that will be. Until then `freshness` knows no misfit. */
  judgeWith(judge: (objects: Loaded["objects"]) => readonly ConfigFault[]): void {
    this.#judge = judge;
    this.#misfit = this.#misfitOf(this.#loaded);
  }

  /** Follows the store until disposed. */
  follow(): void {
    this.#watch = this.#parts.store.config.watch(() => void this.refresh());
    this.#lookLater();
  }

  get loaded(): Loaded {
    return this.#loaded;
  }

  freshness(): Freshness {
    return { confirmedAt: this.#confirmedAt, problem: this.#problem ?? this.#misfit };
  }

  onChange(listener: () => void): Disposable {
    // Two subscriptions of one function are two.
    const own = (): void => listener();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** What the store holds now, for a writer; a refusal when nobody knows. A read that began before the call does not count. */
  async refresh(): Promise<Synced> {
    if (this.#running !== undefined) {
      this.#next ??= this.#afterRunning(this.#running);
      return this.#next;
    }
    const run = this.#sync();
    this.#running = run;
    const synced = await run;
    this.#running = undefined;
    return synced;
  }

  /** Takes what this process wrote, or read anew. Older ones are left. `judged`: this release found no fault in it just now. */
  take(loaded: Loaded, judged: boolean): void {
    const before = this.#loaded.head;
    if (before !== undefined && (loaded.head === undefined || isOlder(loaded.head, before))) return;
    this.#loaded = loaded;
    this.#misfit = judged ? undefined : this.#misfitOf(loaded);
    this.#confirm();
    // A listener may unsubscribe itself or another; a set is safe to walk meanwhile.
    for (const listener of this.#listeners) this.#tell(listener);
  }

  /** Runs `write`, which commits and then calls `take`, and answers its outcome. Reads meanwhile do not load what it wrote. */
  async during<Value>(write: Promise<Value>): Promise<Value> {
    this.#writing = write;
    try {
      return await write;
    } finally {
      if (this.#writing === write) this.#writing = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#listeners.clear();
    this.#giveUp?.();
    await this.#watch?.[Symbol.asyncDispose]();
  }

  async #afterRunning(running: Promise<Synced>): Promise<Synced> {
    await running;
    this.#next = undefined;
    return this.refresh();
  }

  async #sync(): Promise<Synced> {
    const { clock } = this.#parts;
    let timer: Disposable | undefined;
    const late = new Promise<"late" | "stopped">((resolve) => {
      timer = clock.timer(loadMsMax, () => resolve("late"));
      this.#giveUp = () => resolve("stopped");
    });
    const synced = await Promise.race([this.#read().catch((bug) => this.#bug(bug)), late]);
    timer?.[Symbol.dispose]();
    if (synced === "stopped") return err({ code: "unavailable", detail: "stopped" });
    if (synced !== "late") return synced;
    return this.#fail("build", { code: "unavailable", detail: "tookTooLong" });
  }

  async #read(): Promise<Synced> {
    const { store, keys } = this.#parts;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const before = this.#loaded;
      const head = await store.config.head();
      if (!head.ok) return this.#fail("read", head.error);
      // A write of this process ended while we asked, so the answer may be older than it.
      if (this.#loaded !== before) continue;
      // Our own commit wakes us before it is taken. Waiting for it saves loading everything again.
      if (!isSame(head.value, before.head)) await this.#writing?.catch(() => undefined);
      if (isSame(head.value, this.#loaded.head)) {
        this.#confirm();
        return ok(this.#loaded);
      }
      if (this.#loaded !== before) continue;
      if (
        before.head !== undefined &&
        (head.value === undefined || isOlder(head.value, before.head))
      ) {
        return this.#fail("read", { code: "unavailable", detail: "restored" });
      }
      const loaded = await loadConfig(store.config, keys);
      if (!loaded.ok) return this.#fail(stageOf(loaded.error), loaded.error);
      if (this.#loaded !== before) continue;
      this.take(loaded.value, false);
      return ok(this.#loaded);
    }
    return this.#fail("read", { code: "unavailable", detail: "moving" });
  }

  #confirm(): void {
    this.#confirmedAt = this.#parts.clock.unixMs();
    this.#problem = undefined;
  }

  #fail(stage: "read" | "build", refusal: LoadRefusal): Synced {
    const problem = problemOf(refusal);
    this.#parts.metrics.counter(configFamilies.reloadFailures, { stage }).add(1);
    // Once per cause: the head is looked at every few seconds.
    if (problem !== this.#problem) {
      this.#parts.log.write("warn", "config.reloadFailed", { stage, reason: refusal.detail });
    }
    this.#problem = problem;
    return err(refusal);
  }

  /** A fault of ours must not stop every later read. */
  #bug(bug: unknown): Synced {
    this.#parts.log.bug(bug);
    return this.#fail("build", { code: "unreadable", detail: "internal.bug" });
  }

  #misfitOf(loaded: Loaded): string | undefined {
    const faults = this.#judge?.(loaded.objects) ?? [];
    const [first] = faults;
    if (first === undefined) return undefined;
    this.#parts.metrics.counter(configFamilies.reloadFailures, { stage: "build" }).add(1);
    this.#parts.log.write("warn", "config.misfit", { path: first.path, faults: faults.length });
    return misfitText(first, faults.length);
  }

  #lookLater(): void {
    this.#timer = this.#parts.clock.timer(lookEveryMs, () => {
      this.#lookLater();
      void this.refresh();
    });
  }

  #tell(listener: () => void): void {
    try {
      listener();
    } catch (bug) {
      this.#parts.log.bug(bug);
    }
  }
}

function stageOf({ code }: LoadRefusal): "read" | "build" {
  return code === "unavailable" ? "read" : "build";
}

function problemOf({ code, detail }: LoadRefusal): string {
  if (code === "unreadable") return `the stored configuration can not be read: ${detail}`;
  if (detail === "restored") {
    return "the database holds an older configuration than the one served; after a restore, begin a new epoch";
  }
  return `the database did not answer (${detail})`;
}

function misfitText({ path, reason }: ConfigFault, count: number): string {
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  return `the stored configuration does not fit this release: ${path}: ${reason}${more}`;
}

function isOlder(a: Revision, b: Revision): boolean {
  return compareRevisions(a, b) < 0;
}

function isSame(a: Revision | undefined, b: Revision | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameRevision(a, b);
}
