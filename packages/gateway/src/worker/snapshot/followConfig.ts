/**
 * A worker's configuration, joined: link, copies, life cycle, disk. Decides nothing: each part does.
 */
import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import { revisionText, type Revision } from "@gateway/contract/revision.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { type Result, err, ok } from "@gateway/core/result.ts";
import type { Generation, Generations } from "@gateway/core/snapshot/generation.ts";
import {
  runLifecycle,
  type LifecycleParts,
  type RunningLifecycle,
} from "@gateway/core/snapshot/lifecycleLoop.ts";
import { takenOf, type ConfigLife } from "@gateway/core/snapshot/lifecycle.ts";
import { clockSkewMsMax, type OfferLimits } from "@gateway/core/snapshot/offer.ts";
import type { OfferSource } from "@gateway/core/port/configSource.ts";
import { configFamilies } from "@gateway/control/config/metrics.ts";
import { diskEvent, type LastGood } from "./lastGood.ts";
import { dialControlPlane, type Link, type LinkConfig, type LinkParts } from "./dial.ts";
import { askPeers, type PeerParts } from "./peer.ts";
import { workerSource, type SourceParts, type WorkerSource } from "./source.ts";
import type { Transport } from "../link/transport.ts";
import type { VerifiedSnapshot } from "./verify.ts";

export const configStale = {
  name: "gateway_worker_config_stale",
  help: "1 while the configuration is a copy that no control plane confirmed in this process.",
  labels: [],
} as const;

export const configConfirmed = {
  name: "gateway_worker_config_confirmed_timestamp_seconds",
  help: "Unix time at which the control plane last confirmed the active configuration; 0 without one.",
  labels: [],
} as const;

export const configFailures = {
  name: "gateway_worker_config_consecutive_failures",
  help: "Attempts to get or to take over a configuration that failed since the last that did not.",
  labels: [],
} as const;

export interface WorkerConfigParts {
  readonly host: Pick<Host, "clock" | "log" | "metrics" | "random" | "randomBytes">;
  /** To the control plane: with its CA file and proxy. Peers are asked over one of their own. */
  readonly transport: Transport;
  readonly control: LinkConfig;
  readonly presence: LinkParts["presence"];
  readonly peers:
    | (Pick<PeerParts, "address" | "scheme" | "resolve" | "transport"> & {
        readonly afterSecs: number;
        readonly maxAgeSecs: number;
      })
    | undefined;
  readonly disk: { readonly lastGood: LastGood; readonly maxAgeSecs: number } | undefined;
  readonly generations: Pick<Generations, "swap">;
  /** Opens everything the snapshot names, or every reason why not, with nothing left open. */
  open(
    snapshot: VerifiedSnapshot,
    revision: string,
    signal: AbortSignal,
  ): Promise<Result<Generation, readonly string[]>>;
  /** Called after each change, for instance to apply the history policy of what became active. */
  changed(life: ConfigLife, active: VerifiedSnapshot | undefined): void;
}

export interface ActiveConfig {
  readonly head: SnapshotHead;
  readonly bytes: Uint8Array;
  readonly confirmedAtMs: number;
}

export interface WorkerConfig extends AsyncDisposable {
  readonly link: Link;
  life(): ConfigLife;
  /** For peers and operators; undefined before the first snapshot. */
  active(): ActiveConfig | undefined;
}

/** Begins to follow. The error is why the control plane's URL can not be used; nothing runs then. */
export function followControlPlane(parts: WorkerConfigParts): Result<WorkerConfig, string> {
  const { host, disk, transport } = parts;
  let loop: RunningLifecycle<VerifiedSnapshot> | undefined;
  const known = (): Revision | undefined => loop?.life().downloaded;

  const source = workerSource({
    host,
    link: (signal) => link.run(signal),
    disk: disk && (() => diskEvent(disk.lastGood)),
    peers: peerRounds(parts),
    hasConfig: () => loop !== undefined && loop.life().state.kind !== "none",
  });
  const dialled = dialControlPlane(parts.control, {
    host,
    transport,
    presence: parts.presence,
    known,
    active: () => loop && activeIn(loop),
    push: (event) => source.push(event),
  });
  if (!dialled.ok) return err(dialled.error);
  const link = dialled.value;
  const running = runLifecycle(lifecycleParts(parts, source, link));
  loop = running;

  return ok({
    link,
    life: () => running.life(),
    active: () => activeIn(running),
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]();
      await disk?.lastGood.settled();
    },
  });
}

function peerRounds(parts: WorkerConfigParts): SourceParts["peers"] {
  const { host, peers } = parts;
  if (peers === undefined) return undefined;
  const { secrets } = parts.control;
  const limits = limitsFor(parts, "peer");
  return {
    afterMs: peers.afterSecs * 1_000,
    ask: (signal) => askPeers({ ...peers, host, secrets, limits }, signal),
  };
}

/** A source that is not configured never offers, so its limit is never asked for. */
function limitsFor({ disk, peers }: WorkerConfigParts, from: OfferSource): OfferLimits {
  const secs = from === "disk" ? disk?.maxAgeSecs : peers?.maxAgeSecs;
  return { copyAgeMsMax: (secs ?? 0) * 1_000, clockSkewMsMax };
}

function lifecycleParts(
  parts: WorkerConfigParts,
  source: WorkerSource,
  link: Link,
): LifecycleParts<VerifiedSnapshot, Generation> {
  const { host, disk } = parts;
  const failures = host.metrics.counter(configFamilies.reloadFailures, {
    stage: "worker_activate",
  });
  const stale = host.metrics.gauge(configStale, {});
  // Somebody who withholds heads can not hide that: the time of the last confirmation stands still.
  const confirmed = host.metrics.gauge(configConfirmed, {});
  const inARow = host.metrics.gauge(configFailures, {});
  stale.set(0);
  confirmed.set(0);
  inARow.set(0);
  let told = "";
  return {
    host,
    source,
    limitsOf: (from) => limitsFor(parts, from),
    compile: (body, revision, signal) => parts.open(body, revisionText(revision), signal),
    swap: (generation) => parts.generations.swap(generation),
    discard: (generation) => generation.close(),
    rejected: () => failures.add(1),
    changed: (life, active) => {
      stale.set(life.state.kind === "copied" ? 1 : 0);
      confirmed.set((takenOf(life)?.confirmedAtMs ?? 0) / 1_000);
      inARow.set(life.consecutiveFailures);
      if (life.state.kind !== "none" && active !== undefined) {
        disk?.lastGood.save(life.state.taken.head, active.bytes);
      }
      // The registry should learn of a change within a second. A mere confirmation is no change.
      const news = newsOf(life);
      if (news !== told) link.presence.poke();
      told = news;
      parts.changed(life, active);
    },
  };
}

function newsOf({ state, downloaded, lastError }: ConfigLife): string {
  const active = state.kind === "none" ? undefined : state.taken.revision.hash;
  return JSON.stringify([state.kind, active, downloaded?.hash, lastError?.text]);
}

function activeIn(loop: RunningLifecycle<VerifiedSnapshot>): ActiveConfig | undefined {
  const found = loop.active();
  if (found === undefined) return undefined;
  const { head, confirmedAtMs } = found.taken;
  return { head, bytes: found.body.bytes, confirmedAtMs };
}
