/**
 * Keeps the process's own queries on the configuration that the control plane serves: one
 * generation after the other, each compiled and opened beside the active one and swapped in at
 * once.
 *
 * A configuration that can not be opened changes nothing: the active generation goes on, and the
 * problem is reported. It does not judge configurations; it only follows.
 */
import { configFamilies } from "@gateway/control/config/metrics.ts";
import type { Built, Configuration } from "@gateway/control/config/configuration.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Counter } from "@gateway/core/port/metrics.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Generation, Generations } from "@gateway/core/snapshot/generation.ts";
import { startErrorText, type StartError } from "../starting.ts";

export interface FollowParts {
  readonly configuration: Pick<Configuration, "current" | "onChange">;
  readonly generations: Generations;
  readonly host: Pick<Host, "log" | "metrics">;
  /** Opens what a configuration names. */
  readonly open: (built: Built) => Promise<Result<Generation, readonly StartError[]>>;
}

export interface Following extends AsyncDisposable {
  /** Why the newest configuration is not the active one; undefined when it is. */
  problem(): string | undefined;
  /** Resolves when everything that was announced so far is active or refused. */
  settled(): Promise<void>;
}

/** Begins to follow. The current configuration is taken at once, unless `active` says that it is open already. */
export function follow(parts: FollowParts, active: Built | undefined): Following {
  const follower = new Follower(parts, active?.revision.hash);
  follower.changed();
  return follower;
}

class Follower implements Following {
  readonly #parts: FollowParts;
  readonly #failures: Counter;
  readonly #subscription: Disposable;
  /** Generations that were replaced and still have queries. */
  readonly #retired = new Set<Promise<void>>();
  #activeHash: string | undefined;
  #problem: string | undefined;
  #again = false;
  #stopped = false;
  /** Undefined while nothing is being opened. */
  #running: Promise<void> | undefined;

  constructor(parts: FollowParts, activeHash: string | undefined) {
    this.#parts = parts;
    this.#activeHash = activeHash;
    this.#failures = parts.host.metrics.counter(configFamilies.reloadFailures, {
      stage: "activate",
    });
    this.#subscription = parts.configuration.onChange(() => this.changed());
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async settled(): Promise<void> {
    for (let running = this.#running; running !== undefined; running = this.#running) await running;
  }

  /** Looks at what is served, now or as soon as the current opening has ended. */
  changed(): void {
    this.#again = true;
    if (this.#stopped) return;
    this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#subscription[Symbol.dispose]();
    await this.#running;
    // The active generation ends with its last query, as those before it do.
    await this.#parts.generations.swap(undefined);
    await Promise.all(this.#retired);
  }

  async #run(): Promise<void> {
    const { configuration, host } = this.#parts;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        const built = configuration.current();
        if (built !== undefined) await this.#take(built);
      }
    } catch (bug) {
      this.#problem = "internal failure";
      host.log.bug(bug);
    } finally {
      this.#running = undefined;
    }
  }

  async #take(built: Built): Promise<void> {
    const { host, open } = this.#parts;
    const { hash } = built.revision;
    // The same content under a new position: nothing to open.
    if (hash === this.#activeHash) {
      this.#problem = undefined;
      return;
    }
    const opened = await open(built);
    const revision = revisionText(built.revision);
    if (!opened.ok) {
      this.#problem = opened.error.map(startErrorText).join("; ");
      this.#failures.add(1);
      host.log.write("error", "config.refused", { revision, problem: this.#problem });
      return;
    }
    this.#activeHash = hash;
    this.#problem = undefined;
    this.#swap(opened.value);
    host.log.write("info", "config.active", { revision });
  }

  /** The previous generation ends with its last query; nobody waits for that here. */
  #swap(next: Generation): void {
    const { generations, host } = this.#parts;
    const ended = generations.swap(next).catch((bug: unknown) => host.log.bug(bug));
    this.#retired.add(ended);
    void ended.then(() => this.#retired.delete(ended));
  }
}
