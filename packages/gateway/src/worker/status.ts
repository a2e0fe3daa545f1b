/** The object of `/worker/status`: what an operator sees of one worker. Holds no secret and no configuration. */
import type { HistorySetting } from "@gateway/control/config/objects.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import {
  type ReportedQuery,
  type WorkerStatus as FleetStatus,
  heartbeatQueriesMax,
} from "@gateway/contract/workerApi.ts";
import type { OfferSource } from "@gateway/core/port/configSource.ts";
import { takenOf, type ConfigLife } from "@gateway/core/snapshot/lifecycle.ts";
import type { Report } from "./link/presence.ts";
import type { UplinkStatus } from "./records/spool.ts";

export interface WorkerStatusParts {
  readonly name: string;
  readonly life: ConfigLife;
  /** The history policy in force. */
  readonly history: {
    readonly redaction: HistorySetting["redaction"];
    /** Null: to the control plane. */
    readonly endpoint: string | null;
  };
  readonly uplink: UplinkStatus;
  /** Why the last good configuration could not be written. */
  readonly lastGoodProblem: string | undefined;
}

/** Times are in ISO 8601; what is not known is null, so that every field is always there. */
export interface WorkerStatus {
  readonly name: string;
  /** `epoch.sequence.hash` */
  readonly downloadedRevision: string | null;
  readonly activeRevision: string | null;
  readonly configSource: OfferSource | null;
  /** True while no control plane vouched for the configuration in this process. */
  readonly stale: boolean;
  readonly confirmedAt: string | null;
  readonly lastSync: string | null;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
  readonly consecutiveFailures: number;
  readonly historyPolicy: WorkerStatusParts["history"];
  readonly historyUplink: {
    readonly queued: number;
    readonly sent: number;
    readonly dropped: number;
    readonly lastError: string | null;
    readonly diskError: string | null;
  };
  readonly lastGood: { readonly lastError: string | null };
}

export function workerStatus(parts: WorkerStatusParts): WorkerStatus {
  const { name, life, history, uplink } = parts;
  const { downloaded, lastError } = life;
  const taken = takenOf(life);
  return {
    name,
    downloadedRevision: downloaded === undefined ? null : revisionText(downloaded),
    activeRevision: taken === undefined ? null : revisionText(taken.revision),
    configSource: taken?.source ?? null,
    stale: life.state.kind === "copied",
    confirmedAt: taken === undefined ? null : timeOf(taken.confirmedAtMs),
    lastSync: life.lastSyncAtMs === undefined ? null : timeOf(life.lastSyncAtMs),
    lastError: lastError?.text ?? null,
    lastErrorAt: lastError === undefined ? null : timeOf(lastError.atMs),
    consecutiveFailures: life.consecutiveFailures,
    historyPolicy: { redaction: history.redaction, endpoint: withoutQuery(history.endpoint) },
    historyUplink: {
      ...uplink,
      lastError: uplink.lastError ?? null,
      diskError: uplink.diskError ?? null,
    },
    lastGood: { lastError: parts.lastGoodProblem ?? null },
  };
}

export interface ReportParts {
  readonly life: ConfigLife;
  readonly draining: boolean;
  readonly queries: readonly ReportedQuery[];
}

/** What a heartbeat tells. The longest-waiting queries first, because only so many fit. */
export function reportOf({ life, draining, queries }: ReportParts): Report {
  const taken = takenOf(life);
  const { downloaded, lastError } = life;
  return {
    status: fleetStatusOf(life, draining),
    ...(taken === undefined
      ? {}
      : { activeRevision: taken.revision.hash, configSource: taken.source }),
    ...(downloaded === undefined ? {} : { downloadedRevision: downloaded.hash }),
    stale: life.state.kind === "copied",
    ...(lastError === undefined ? {} : { lastError: lastError.text }),
    queries: queries.toSorted((a, b) => a.since - b.since).slice(0, heartbeatQueriesMax),
  };
}

function fleetStatusOf(life: ConfigLife, draining: boolean): Exclude<FleetStatus, "offline"> {
  if (draining) return "draining";
  if (life.rejected !== undefined) return "error";
  switch (life.state.kind) {
    case "none":
      return life.lastError === undefined ? "starting" : "error";
    case "active":
      return "active";
    case "copied":
      return "stale";
  }
}

/** A URL may carry a token in its query or its user part. */
function withoutQuery(endpoint: string | null): string | null {
  if (endpoint === null || !URL.canParse(endpoint)) return null;
  const { origin, pathname } = new URL(endpoint);
  return `${origin}${pathname}`;
}

function timeOf(unixMs: number): string {
  // Even an authentic head may hold a time outside the calendar.
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? String(unixMs) : date.toISOString();
}
