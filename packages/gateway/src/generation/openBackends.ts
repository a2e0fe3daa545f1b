/**
 * The backends of a process, shared by its generations: a cluster whose configuration did not change
 * is not opened again, and closes with the last generation that holds it.
 */
import type { SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { TokenExchange } from "@gateway/core/port/tokenExchange.ts";
import type { Result } from "@gateway/core/result.ts";
import type { StartError } from "../starting.ts";

type ClusterConfig = SnapshotConfig["clusters"][string];

/** An open cluster, with the exchange that makes tokens for it where its queries need them. */
export interface OpenCluster {
  readonly backend: Backend;
  readonly exchange: TokenExchange | undefined;
}

/** A hold on a cluster. Disposing lets go, once; the last one to let go closes it. */
export interface HeldBackend extends OpenCluster, AsyncDisposable {}

export type OpenBackend = (
  name: string,
  config: ClusterConfig,
) => Promise<Result<OpenCluster, StartError>>;

interface Shared {
  readonly opening: Promise<Result<OpenCluster, StartError>>;
  holds: number;
}

/** Owns nothing itself: what nobody holds is closed. */
export class OpenBackends {
  readonly #open: OpenBackend;
  readonly #shared = new Map<string, Shared>();

  constructor(open: OpenBackend) {
    this.#open = open;
  }

  /** Opens the cluster, or takes another hold on it where one of the same name and configuration is open. */
  async hold(name: string, config: ClusterConfig): Promise<Result<HeldBackend, StartError>> {
    const key = keyOf(name, config);
    const shared = this.#shared.get(key) ?? { opening: this.#open(name, config), holds: 0 };
    this.#shared.set(key, shared);
    shared.holds += 1;
    const opened = await shared.opening;
    if (!opened.ok) {
      this.#letGo(key, shared);
      return opened;
    }
    const { backend, exchange } = opened.value;
    let held = true;
    return {
      ok: true,
      value: {
        backend,
        exchange,
        [Symbol.asyncDispose]: async () => {
          if (!held) return;
          held = false;
          if (!this.#letGo(key, shared)) return;
          await exchange?.[Symbol.asyncDispose]();
          await backend[Symbol.asyncDispose]();
        },
      },
    };
  }

  /** True for the last one. */
  #letGo(key: string, shared: Shared): boolean {
    shared.holds -= 1;
    if (shared.holds > 0) return false;
    this.#shared.delete(key);
    return true;
  }
}

/**
 * All of the configuration with its secrets in place, so that a changed password opens anew. It
 * consists of plain values, because it came from a thread or a schema of such values. Anything else
 * could get the same key as another value, so it is refused.
 */
function keyOf(name: string, config: ClusterConfig): string {
  if (!isPlain(config)) throw new TypeError("a cluster's configuration is made of plain values");
  return JSON.stringify([name, config]);
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  const prototype: unknown = Object.getPrototypeOf(value);
  const known = prototype === Object.prototype || prototype === null || Array.isArray(value);
  return known && Object.values(value).every(isPlain);
}
