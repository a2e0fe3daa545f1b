/** The data plane of a process: the door over its parts, and the listeners that call it. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { openDoor } from "@gateway/core/run/openDoor.ts";
import { LiveQueries } from "@gateway/core/run/step/live.ts";
import { queryMetrics } from "@gateway/core/run/step/metrics.ts";
import { graceMs } from "@gateway/core/run/step/patience.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import { frontends } from "@gateway/frontends/catalog.ts";
import type { Carrier, PolledFrontend } from "@gateway/frontends/listener/elsewhere.ts";
import { behindAnswers } from "@gateway/frontends/turn.ts";
import type { GatewayConfig } from "./config/schema.ts";
import { fleetKeysOf } from "./host/fleetKeys.ts";
import { lateSignal, unlessLate } from "./host/deadline.ts";
import { fleetSecretsOf, openRelay, type OpenRelay } from "./relay/open.ts";

/** How long after the deadline clients may take their errors. Errors of an engine that ignores its cancel come last. */
const lastWordsMs = graceMs + 500;
/** How long after the deadline engines may take to end what runs. One that does not obey is left behind. */
const endMsMax = graceMs + 1_000;

export interface DataPlaneParts {
  readonly generations: Generations;
  readonly capacity: Capacity;
  readonly history: History;
  /** Name of this worker in records; undefined where the process owns the configuration. */
  readonly worker: string | undefined;
  /** Aborted when the drain begins; readiness looks at it too. */
  readonly stopping: AbortController;
}

export interface RunningDataPlane {
  readonly door: Door;
  readonly frontends: readonly PolledFrontend[];
  /** Where other gateways bring polls of queries that are here; undefined without it. */
  readonly relay: OpenRelay["listener"] | undefined;
  readonly live: LiveQueries;
  /** Takes nothing new, lets running queries finish until `deadline`, then ends the rest. True when nothing had to be ended. */
  drain(deadline: AbortSignal): Promise<boolean>;
}

/** Opens every enabled frontend, or closes what was opened and answers every listener that failed. */
export async function startDataPlane(
  parts: DataPlaneParts,
  config: GatewayConfig,
  host: Host,
): Promise<Result<RunningDataPlane, readonly ListenError[]>> {
  const live = new LiveQueries();
  // Each query asks, and the platform's signal takes half a microsecond to say.
  let draining = parts.stopping.signal.aborted;
  parts.stopping.signal.addEventListener("abort", () => void (draining = true), { once: true });
  const door = openDoor({
    ...parts,
    host,
    live,
    metrics: queryMetrics(host.metrics),
    idleInTransactionMs: config.idleInTransactionSecs * 1000,
    tagComments: config.tagComments,
    behind: behindAnswers,
    draining: () => draining,
  });

  const relayed = await openRelay(config, host);
  const relay = relayed.ok ? relayed.value : undefined;
  const shared = { ...host, fleetKeys: fleetKeysOf(fleetSecretsOf(config)) };
  const opened = await Promise.all(openings(config, door.door, shared, relay?.elsewhere));
  const open = opened.flatMap((one) => (one.ok ? [one.value] : []));
  const failures = [relayed, ...opened].flatMap((one) => (one.ok ? [] : [one.error]));
  if (failures.length > 0) {
    await Promise.all(open.map((frontend) => frontend.drain(AbortSignal.abort())));
    await relay?.close();
    await door.close();
    return err(failures);
  }
  relay?.serve(open);

  return ok({
    door: door.door,
    frontends: open,
    relay: relay?.listener,
    live,
    drain: async (deadline) => {
      parts.stopping.abort();
      // Before the frontends hear of the deadline: clients are told why, and only then cut off.
      const cut = cutAt(deadline, live);
      using late = lateSignal(deadline, lastWordsMs, host.clock);
      const quiet = [live.idle(deadline), ...open.map((frontend) => frontend.drain(late.signal))];
      const ended = Promise.all(quiet)
        .then(() => relay?.close())
        .then(() => door.close());
      const inTime = await unlessLate(ended, deadline, { ms: endMsMax, clock: host.clock });
      return inTime && cut() === 0;
    },
  });
}

/** Ends at `deadline` what lives then; answers how many those were. */
function cutAt(deadline: AbortSignal, live: LiveQueries): () => number {
  let count = 0;
  const cut = (): void => {
    count = live.list().length;
    live.cancelAll(gatewayError("gateway.draining"));
  };
  if (deadline.aborted) cut();
  else deadline.addEventListener("abort", cut, { once: true });
  return () => count;
}

type Opening = Promise<Result<PolledFrontend, ListenError>>;

/** One line per frontend of the catalog keeps each config tied to its own `listen`. */
function openings(
  config: GatewayConfig,
  ...place: readonly [door: Door, host: Host, elsewhere: Carrier | undefined]
): readonly Opening[] {
  const { trinoHttp, postgresWire, mysqlWire, flightSql, mcp, clickhouseHttp, snowflakeHttp } =
    config.frontends;
  const all: (Opening | undefined)[] = [
    openingOf(frontends.trinoHttp, trinoHttp, ...place),
    openingOf(frontends.postgresWire, postgresWire, ...place),
    openingOf(frontends.mysqlWire, mysqlWire, ...place),
    openingOf(frontends.flightSql, flightSql, ...place),
    openingOf(frontends.mcp, mcp, ...place),
    openingOf(frontends.clickhouseHttp, clickhouseHttp, ...place),
    openingOf(frontends.snowflakeHttp, snowflakeHttp, ...place),
  ];
  return all.filter((opening) => opening !== undefined);
}

interface Openable<Config> {
  load(): Promise<{
    listen(config: Config, door: Door, host: Host, elsewhere?: Carrier): Opening;
  }>;
}

function openingOf<Config extends { readonly enabled: boolean }>(
  descriptor: Openable<Config>,
  config: Config | undefined,
  ...place: readonly [door: Door, host: Host, elsewhere: Carrier | undefined]
): Opening | undefined {
  if (config === undefined || !config.enabled) return undefined;
  return descriptor.load().then((loaded) => loaded.listen(config, ...place));
}
