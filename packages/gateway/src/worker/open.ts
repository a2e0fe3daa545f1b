/**
 * The parts of a worker, joined: its state folder, its link to the control plane, the configuration
 * that follows from it, and the spool of its records. What each does is in its own file.
 */
import { hostname } from "node:os";
import { redact } from "@gateway/core/record/redact.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { LiveQueries, LiveView } from "@gateway/core/run/step/live.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { ReportedQuery } from "@gateway/contract/workerApi.ts";
import type { HistorySetting } from "@gateway/control/config/objects.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import { plainSecrets } from "../config/secrets.ts";
import {
  coordinationDefaults,
  type CoordinationConfig,
  workerHistoryDefaults,
  workerLastGoodDefaults,
  type ControlPlaneConfig,
} from "../config/workerKeys.ts";
import type { StartOptions } from "../starting.ts";
import { openCapacity, type WorkerCapacity } from "./capacity/capacity.ts";
import {
  followControlPlane,
  type WorkerConfig,
  type WorkerConfigParts,
} from "./snapshot/followConfig.ts";
import { httpTransport } from "./link/httpTransport.ts";
import { noInstance, openInstance, type Instance } from "./state/instance.ts";
import { watchLabels, type WatchedLabels } from "./state/labels.ts";
import { lastGoodOf, type LastGood } from "./snapshot/lastGood.ts";
import { snapshotOpener } from "./snapshot/openSnapshot.ts";
import type { Link } from "./snapshot/dial.ts";
import { historyPolicy, type HistoryPolicy } from "./records/policy.ts";
import { resolveAll } from "./snapshot/peer.ts";
import { openSpool, type Spool } from "./records/spool.ts";
import { openSpoolDisk } from "./records/spoolDisk.ts";
import { openStateDir, type StateDir } from "./state/stateDir.ts";
import { reportOf, workerStatus, type WorkerStatus } from "./status.ts";
import type { Transport } from "./link/transport.ts";
import { historyUplink, type HistoryEndpoint } from "./records/uplink.ts";

export interface OpenWorker {
  readonly name: string;
  readonly secrets: FleetSecrets;
  readonly config: WorkerConfig;
  readonly capacity: Capacity;
  readonly spool: Spool;
  readonly status: () => WorkerStatus;
  /** The data plane's queries, for heartbeats and for ending them; called once, when it is open. */
  serve(live: LiveQueries): void;
  /** A drain began: heartbeats say so. */
  draining(): void;
  /** Sends what waits, signs off, gives everything back. Never rejects. */
  close(deadline: AbortSignal): Promise<void>;
}

export type FleetSecrets = readonly [Secret, ...Secret[]];

/** The program's own version, as it stands in package.json of the repository; told to control planes. */
const programVersion = "0.1.0";
/** Snapshots whose history policy is remembered. */
const settingsMax = 4;
/** Longest time that signing off may take at the end. */
const leaveMsMax = 2_000;

/** Begins to follow the control plane. Answers why it can not. */
export async function openWorker(
  options: StartOptions,
  parts: { readonly generations: Generations },
): Promise<Result<OpenWorker, string>> {
  const { gateway } = options.config;
  const { controlPlane: control } = gateway;
  // The rules of the role ask for it.
  if (control === undefined) return err("gateway.controlPlane: is missing");
  const [secret, ...previous] = plainSecrets(control.auth.sharedSecret);
  if (secret === undefined) return err("gateway.controlPlane.auth.sharedSecret: is empty");
  const transports = openTransports(control);
  if (!transports.ok) return err(`gateway.controlPlane.${transports.error}`);
  const dir = gateway.stateDir === undefined ? ok(undefined) : await openStateDir(gateway.stateDir);
  if (!dir.ok) return err(`gateway.stateDir: ${dir.error}`);
  const joined = await join(options, control, {
    ...parts,
    transports: transports.value,
    dir: dir.value,
    secrets: [secret, ...previous],
    name: gateway.workerName ?? hostname(),
  });
  if (joined.ok) return joined;
  await dir.value?.[Symbol.asyncDispose]();
  return err(`gateway.controlPlane: ${joined.error}`);
}

interface Transports {
  readonly control: Transport;
  /** Peers and history endpoints see neither the CA file nor the proxy of the control plane. */
  readonly plain: Transport;
}

function openTransports({ caFile, proxy }: ControlPlaneConfig): Result<Transports, string> {
  const control = httpTransport({
    ...(caFile === undefined ? {} : { caFile }),
    ...(proxy === undefined ? {} : { proxy }),
  });
  if (!control.ok) return control;
  const plain = httpTransport({});
  return plain.ok ? ok({ control: control.value, plain: plain.value }) : plain;
}

interface JoinParts {
  readonly generations: Generations;
  readonly transports: Transports;
  readonly dir: StateDir | undefined;
  readonly secrets: FleetSecrets;
  readonly name: string;
}

async function join(
  options: StartOptions,
  control: ControlPlaneConfig,
  parts: JoinParts,
): Promise<Result<OpenWorker, string>> {
  const { host } = options;
  const { gateway } = options.config;
  const { dir, secrets, name, transports } = parts;
  const policy = historyPolicy(gateway.history ?? workerHistoryDefaults);
  const instance = dir === undefined ? noInstance : await openInstance({ host, dir, secrets });
  const lastGood = lastGoodIn(options, control, parts);
  const serving = new Serving();
  const coordination = gateway.coordination ?? coordinationDefaults;
  const labels = watchLabels({
    host,
    base: gateway.workerLabels ?? {},
    file: gateway.workerLabelsFile,
    changed: () => serving.config?.link.presence.poke(),
  });
  await labels.ready;

  const followed = followControlPlane({
    host,
    transport: transports.control,
    control: { ...control, secrets },
    presence: presenceParts({ name, control, coordination, labels, instance, serving }),
    peers: peersOf(control, transports.plain),
    disk: lastGood && { lastGood, maxAgeSecs: lastGoodAge(options) },
    generations: parts.generations,
    ...opening(options, { wake: () => serving.capacity?.capacity.wake() }, policy),
  });
  if (!followed.ok) {
    labels[Symbol.dispose]();
    return followed;
  }
  const config = followed.value;
  serving.config = config;
  const { calls, presence } = config.link;
  const capacity = openCapacity(
    { host, calls, presence, generations: parts.generations },
    coordination,
  );
  serving.capacity = capacity;
  const spool = await spoolOf(options, parts, { policy, link: config.link });
  const status = (): WorkerStatus =>
    workerStatus({
      name,
      life: config.life(),
      history: { redaction: policy.redaction(), endpoint: policy.endpoint()?.url ?? null },
      uplink: spool.status(),
      lastGoodProblem: lastGood?.problem(),
    });
  const joined = { config, spool, instance, labels, capacity };
  return ok({
    name,
    secrets,
    config,
    capacity: capacity.capacity,
    spool,
    status,
    serve: (live) => serving.serve(live),
    draining: () => serving.drain(),
    close: (deadline) => closeWorker(options, parts, joined, deadline),
  });
}

async function spoolOf(
  { host, config }: StartOptions,
  { dir, secrets, name, transports }: JoinParts,
  { policy, link }: { readonly policy: HistoryPolicy; readonly link: Link },
): Promise<Spool> {
  const history = config.gateway.history ?? workerHistoryDefaults;
  const { calls, presence } = link;
  const endpoint = (): HistoryEndpoint | undefined => policy.endpoint();
  return openSpool({
    host,
    uplink: historyUplink({ host, transport: transports.plain, calls, presence, endpoint }),
    worker: name,
    recordsMax: history.spoolMaxRecords,
    prepare: (record) => redact(record, policy.redaction()),
    disk: dir && history.spool === "disk" ? await openSpoolDisk({ host, dir, secrets }) : undefined,
  });
}

interface Joined {
  readonly config: WorkerConfig;
  readonly spool: Spool;
  readonly instance: Instance;
  readonly labels: WatchedLabels;
  readonly capacity: WorkerCapacity;
}

async function closeWorker(
  { host }: StartOptions,
  { generations, transports, dir }: JoinParts,
  { config, spool, instance, labels, capacity }: Joined,
  deadline: AbortSignal,
): Promise<void> {
  // First, while the control plane still knows this instance: nobody else could give its leases
  // back.
  await capacity.close(deadline);
  await spool.close(deadline);
  await config[Symbol.asyncDispose]();
  const limit = new AbortController();
  using _timer = host.clock.timer(leaveMsMax, () => limit.abort());
  await config.link.presence.leave(limit.signal);
  await generations.swap(undefined);
  await instance.settled();
  labels[Symbol.dispose]();
  await transports.control[Symbol.asyncDispose]();
  await transports.plain[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
}

interface PresenceSources {
  readonly name: string;
  readonly control: ControlPlaneConfig;
  readonly coordination: CoordinationConfig;
  readonly labels: WatchedLabels;
  readonly instance: Instance;
  readonly serving: Serving;
}

function presenceParts(sources: PresenceSources): WorkerConfigParts["presence"] {
  const { name, control, coordination, labels, instance, serving } = sources;
  return {
    name,
    version: programVersion,
    heartbeatIntervalSecs: control.heartbeatIntervalSecs,
    labels: () => labels.current(),
    report: () => ({ ...serving.report(), coordination: coordination.mode }),
    leasesLost: (leases) => serving.capacity?.lost(leases),
    cancel: (ids) => serving.cancel(ids),
    predecessorProof: (instanceId) => instance.predecessorProof(instanceId),
    registered: (registration) => instance.registered(registration),
  };
}

/** What runs here, told to the control plane, and ended when it says so. */
class Serving {
  /** Set as soon as it is followed. */
  config: WorkerConfig | undefined;
  /** Set right after it. */
  capacity: WorkerCapacity | undefined;
  #draining = false;
  #live: LiveQueries | undefined;

  serve(live: LiveQueries): void {
    this.#live = live;
  }

  /** Heartbeats say so from the next one on, which comes at once. */
  drain(): void {
    this.#draining = true;
    this.config?.link.presence.poke();
  }

  report(): ReturnType<typeof reportOf> {
    const queries = (this.#live?.list() ?? []).map(reportedQuery);
    if (this.config === undefined) return { status: "starting", stale: false, queries };
    return reportOf({ life: this.config.life(), draining: this.#draining, queries });
  }

  cancel(ids: readonly string[]): void {
    for (const id of ids) this.#live?.get(id as QueryId)?.cancel(gatewayError("query.cancelled"));
  }
}

function reportedQuery({ query, group, cluster, state, createdAt }: LiveView): ReportedQuery {
  return {
    id: query.id,
    ...(group === undefined ? {} : { group }),
    ...(cluster === undefined ? {} : { cluster }),
    state,
    since: createdAt,
  };
}

/** Opens snapshots, and applies the history policy of the one that became active. */
function opening(
  options: StartOptions,
  capacity: Pick<Capacity, "wake">,
  policy: HistoryPolicy,
): Pick<WorkerConfigParts, "open" | "changed"> {
  const open = snapshotOpener(options, capacity);
  // The settings of the active snapshot and of the newest few that were opened after it.
  const settings = new Map<string, HistorySetting | undefined>();
  return {
    open: async (snapshot, revision) => {
      const opened = await open(snapshot, revision);
      if (!opened.ok) return opened;
      settings.delete(snapshot.head.revision);
      settings.set(snapshot.head.revision, opened.value.history);
      const [oldest] = settings.keys();
      if (settings.size > settingsMax && oldest !== undefined) settings.delete(oldest);
      return ok(opened.value.generation);
    },
    changed: (_life, active) => {
      if (active === undefined || !settings.has(active.head.revision)) return;
      policy.take(settings.get(active.head.revision));
    },
  };
}

function peersOf(
  { peerBootstrap }: ControlPlaneConfig,
  transport: Transport,
): WorkerConfigParts["peers"] {
  return peerBootstrap && { ...peerBootstrap, transport, resolve: resolveAll };
}

function lastGoodIn(
  { config, host }: StartOptions,
  { url }: ControlPlaneConfig,
  { dir, secrets }: JoinParts,
): LastGood | undefined {
  if (dir === undefined || config.gateway.lastGood?.enabled !== true) return undefined;
  return lastGoodOf({ host, dir, secrets, controlPlaneUrl: url });
}

function lastGoodAge({ config }: StartOptions): number {
  return (config.gateway.lastGood ?? workerLastGoodDefaults).maxAgeSecs;
}
