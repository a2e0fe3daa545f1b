/**
 * Keeps the process's own queries on the configuration that the control plane serves: one generation
 * after the other, each compiled and opened beside the active one and swapped in at once.
 *
 * A configuration that can not be opened changes nothing: the active generation goes on, and the
 * problem is said. It does not judge configurations; it only follows.
 */
import type { Built, Configuration } from "@gateway/control/config/configuration.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Generation, Generations } from "@gateway/core/snapshot/generation.ts";
import { startErrorText, type StartError } from "../running.ts";

export const reloadFailures = {
  name: "gateway_config_reload_failures_total",
  help: "Configurations that could not be read, built or activated.",
  labels: ["stage"],
} as const;

export interface FollowParts {
  readonly configuration: Pick<Configuration, "current" | "onChange">;
  readonly generations: Generations;
  readonly host: Pick<Host, "log" | "metrics">;
  /** Opens what a configuration names. */
  open(built: Built): Promise<Result<Generation, readonly StartError[]>>;
}

export interface Following extends AsyncDisposable {
  /** Why the newest configuration is not the active one; undefined when it is. */
  problem(): string | undefined;
  /** Resolves when everything that was announced so far is active or refused. */
  settled(): Promise<void>;
}

/** Begins to follow. The current configuration is taken at once, unless `active` says that it is open already. */
export function follow(
  { configuration, generations, host, open }: FollowParts,
  active: Built | undefined,
): Following {
  const failures = host.metrics.counter(reloadFailures, { stage: "activate" });
  const retired = new Set<Promise<void>>();
  let activeHash = active?.revision.hash;
  let problem: string | undefined;
  let stopped = false;
  let again = false;
  let running: Promise<void> = Promise.resolve();
  let busy = false;

  async function take(built: Built): Promise<void> {
    // The same content under a new position: nothing to open.
    if (built.revision.hash === activeHash) return void (problem = undefined);
    const opened = await open(built);
    const revision = revisionText(built.revision);
    if (!opened.ok) {
      problem = opened.error.map(startErrorText).join("; ");
      failures.add(1);
      host.log.write("error", "config.refused", { revision, problem });
      return;
    }
    activeHash = built.revision.hash;
    problem = undefined;
    // Resolves when the last query of the previous generation has ended: nobody waits for that here.
    const swapped = generations.swap(opened.value).catch((bug: unknown) => host.log.bug(bug));
    retired.add(swapped);
    void swapped.then(() => retired.delete(swapped));
    host.log.write("info", "config.active", { revision });
  }

  async function run(): Promise<void> {
    try {
      do {
        again = false;
        const built = configuration.current();
        if (built !== undefined && !stopped) await take(built);
      } while (again);
    } catch (bug) {
      problem = "internal failure";
      host.log.bug(bug);
    } finally {
      busy = false;
    }
  }

  function changed(): void {
    again = true;
    if (busy || stopped) return;
    busy = true;
    running = run();
  }

  const subscription = configuration.onChange(changed);
  changed();
  return {
    problem: () => problem,
    settled: async () => {
      while (busy) await running;
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      subscription[Symbol.dispose]();
      await running;
      // The active generation ends with its last query, as those before it do.
      await generations.swap(undefined);
      await Promise.all(retired);
    },
  };
}
