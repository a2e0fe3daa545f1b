/** What the admin API answers, as Studio reads it. Records are the contract's own. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { TimelineStage } from "@gateway/contract/studioApi.ts";
import type { JsonObject } from "../tool/json.ts";

export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

export interface Me {
  readonly name: string;
  readonly role: Role;
  readonly via: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface Fault {
  readonly path: string;
  readonly reason: string;
}

/** RFC 9457 problem details. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly faults?: readonly Fault[];
}

/** An object of the configuration; `version` is its ETag. */
export interface ConfigObject {
  readonly name: string;
  readonly version: number;
  readonly updatedAt: number;
  readonly updatedBy: string;
  readonly body: JsonObject;
}

export interface Written {
  readonly revision: string;
  readonly changed: boolean;
}

export interface Status {
  readonly revision?: string;
  readonly builtAt?: number;
  readonly fresh: { readonly confirmedAt: number; readonly problem?: string };
  readonly store: { readonly kind: string; readonly limits: readonly string[] };
  readonly host: "container" | "function";
  readonly workerApi: boolean;
  readonly runsQueries: boolean;
}

export interface Schemas {
  readonly cluster: JsonObject;
  readonly clusterGroup: JsonObject;
  readonly routing: JsonObject;
  readonly settings: Readonly<Record<string, JsonObject>>;
}

/** A record without its texts, where the viewer may not read them. */
export type HistoryRecord = Omit<QueryRecord, "sql" | "translatedSql" | "errorMessage"> &
  Partial<Pick<QueryRecord, "sql" | "translatedSql" | "errorMessage">>;

/** One record, with the stages of its life. */
export interface QueryDetail extends HistoryRecord {
  readonly timeline: readonly TimelineStage[];
}

export interface Worker {
  readonly instanceId: string;
  readonly name: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly schemaVersions: readonly number[];
  readonly heartbeatIntervalSecs: number;
  readonly activeRevision?: string;
  readonly downloadedRevision?: string;
  readonly configSource?: "controlPlane" | "disk" | "peer";
  readonly stale: boolean;
  readonly lastError?: string;
  readonly queryCount: number;
  readonly registeredAt: number;
  readonly lastSeenAt: number;
}

export interface ReportedQuery {
  readonly id: string;
  readonly group?: string;
  readonly cluster?: string;
  readonly state: "queued" | "running";
  readonly since: number;
}

export interface WorkerDetail extends Worker {
  readonly queries: readonly ReportedQuery[];
}

export interface Suspect {
  readonly lease: string;
  readonly cluster: string;
  readonly group: string;
  readonly slot: number;
  readonly instance: string;
  readonly expiredForMs: number;
  readonly holder: "alive" | "dead" | "silent";
  readonly silentForMs: number;
}

export interface Revision {
  readonly revision: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
  readonly schemaVersion: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly summary: string;
}

export interface Difference {
  readonly object: { readonly kind: string; readonly name: string };
  readonly kind: "added" | "removed" | "changed";
  readonly changes: readonly {
    readonly path: string;
    readonly from?: unknown;
    readonly to?: unknown;
  }[];
}

export interface RouteAnswer {
  readonly group?: string;
  readonly refusal?: { readonly code: string; readonly message: string };
  readonly undecided?: string;
  readonly trace: readonly { readonly step: string; readonly outcome: string }[];
}

/** What access control makes of a statement. */
export interface AccessAnswer {
  /** Absent: it would not be routed. */
  readonly group?: string;
  readonly decision: "allowed" | "denied" | "unavailable" | "uncontrolled";
  /** What would be sent on. */
  readonly sql?: string;
  readonly refusal?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly tables: readonly AccessTable[];
}

export interface AccessTable {
  readonly table: string;
  readonly action: string;
  readonly decision: "allow" | "deny" | "unavailable";
  readonly rule?: string;
  readonly reason?: string;
  readonly rowFilter?: string;
  /** Absent: all are shown. */
  readonly columns?: readonly { readonly name: string; readonly mask?: string }[];
}

export type TestAnswer =
  | { readonly reached: true; readonly tookMs: number }
  | { readonly reached: false; readonly reason: string };

/** What a script answered to an example, or how it failed. */
export type ScriptAnswer =
  | { readonly answered: true; readonly answer: unknown; readonly tookMs: number }
  | {
      readonly answered: false;
      readonly reason: string;
      readonly detail: string;
      /** In the source, from 1. */
      readonly line?: number;
    };

export interface User {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface AdminSession {
  readonly id: string;
  readonly user: string;
  readonly address: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly own: boolean;
}

export interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly address?: string;
  readonly action: string;
  readonly target: string;
  readonly detail: unknown;
}
