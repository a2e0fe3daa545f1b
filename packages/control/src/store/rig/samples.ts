/** Rows for the store suite, and the two ways to read an answer. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { Revision } from "@gateway/contract/revision.ts";
import type { Result } from "@gateway/core/result.ts";
import type {
  AdminSession,
  AdminUser,
  AuditEntry,
  ConfigChange,
  IncomingRecord,
  Page,
  PageRequest,
  Stored,
  StoredDocument,
  StoredRevision,
  StoreUnavailable,
  WorkerRegistration,
  WorkerReport,
} from "../store.ts";

/** Times of samples count from here. */
export const startMs = 1_767_225_600_000;

/** What a store answered that must not fail. */
export async function answered<Value>(stored: Stored<Value>): Promise<Value> {
  const result: Result<Value, StoreUnavailable> = await stored;
  if (!result.ok) throw new Error(`the store failed: ${result.error.detail}`);
  return result.value;
}

/** Every item, page by page. `between` runs after each page. */
export async function allPages<Item>(
  ask: (page: PageRequest) => Stored<Page<Item>>,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await answered(ask({ limit, cursor }));
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === undefined) return items;
    await between();
  }
  throw new Error("pages without an end");
}

/** The first page, as large as any. */
export const firstPage: PageRequest = { limit: 1_000, cursor: undefined };

export function revisionOf(sequence: number, more: Partial<Revision> = {}): Revision {
  const hash = `sha256:${String(sequence).padStart(64, "0")}`;
  return { epoch: 1_767_225_600, sequence, hash, ...more };
}

export function storedRevisionOf(
  revision: Revision,
  more: Partial<StoredRevision> = {},
): StoredRevision {
  return {
    revision,
    schemaVersion: 1,
    sealed: Uint8Array.from([0, 1, 127, 128, 255, revision.sequence % 256]),
    keyId: "k1",
    createdAt: startMs + revision.sequence,
    createdBy: "ann",
    summary: `put cluster duck ${revision.sequence}`,
    ...more,
  };
}

export function documentOf(name: string, more: Partial<StoredDocument> = {}): StoredDocument {
  return {
    kind: "cluster",
    name,
    body: { engine: "duckDb", database: ":memory:", nested: [1, 2.5, null, { "a b": 'ü"\\ ' }] },
    version: 1,
    keyIds: [],
    updatedAt: startMs,
    updatedBy: "ann",
    ...more,
  };
}

export function auditOf(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: startMs,
    by: "ann",
    address: "192.0.2.1",
    action: "put",
    target: "cluster/duck",
    detail: { fields: ["database"] },
    ...more,
  };
}

export function changeOf(
  expected: Revision | undefined,
  more: Partial<ConfigChange> = {},
): ConfigChange {
  const next = revisionOf((expected?.sequence ?? 0) + 1);
  return {
    expected,
    next: storedRevisionOf(next),
    puts: [],
    deletes: [],
    audit: auditOf(),
    ...more,
  };
}

export function recordOf(proxyQueryId: string, more: Partial<QueryRecord> = {}): QueryRecord {
  return {
    proxyQueryId,
    createdAt: startMs,
    finishedAt: startMs + 5.25,
    frontend: "postgres",
    user: "ann",
    clientAddress: "192.0.2.1",
    tags: { team: "a" },
    sql: "select 'ü', \"b\", '\\'",
    sourceDialect: "postgres",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 10,
    queueMs: 0.125,
    executionMs: 5,
    routingTrace: [{ step: "fallback", outcome: "g" }],
    policyActions: [],
    engineStats: { threads: 2 },
    revision: "1.1.sha256:0",
    ...more,
  };
}

/** The hash stands for the content, as the ingest makes it. */
export function incomingOf(record: QueryRecord, contentHash = "sha256:a"): IncomingRecord {
  return { record, contentHash };
}

export function registrationOf(
  instanceId: string,
  more: Partial<WorkerRegistration> = {},
): WorkerRegistration {
  return {
    name: `host-${instanceId}`,
    instanceId,
    tokenHash: `token-${instanceId}`,
    labels: { zone: "a", "with space": 'ü"' },
    version: "0.1.0",
    schemaVersions: [1, 2],
    heartbeatIntervalSecs: 5,
    ...more,
  };
}

export function reportOf(instanceId: string, more: Partial<WorkerReport> = {}): WorkerReport {
  return {
    instanceId,
    status: "active",
    activeRevision: revisionOf(1).hash,
    downloadedRevision: revisionOf(2).hash,
    configSource: "controlPlane",
    stale: false,
    lastError: undefined,
    coordination: "controlPlane",
    queries: [],
    ...more,
  };
}

export function userOf(name: string, more: Partial<AdminUser> = {}): AdminUser {
  return {
    name,
    role: "admin",
    passwordHash: "$2b$10$hash",
    disabled: false,
    version: 1,
    createdAt: startMs,
    updatedAt: startMs,
    ...more,
  };
}

export function sessionOf(
  idHash: string,
  user: string,
  more: Partial<AdminSession> = {},
): AdminSession {
  return {
    idHash,
    user,
    createdAt: startMs,
    lastSeenAt: startMs,
    expiresAt: startMs + 1_000,
    address: "192.0.2.1",
    ...more,
  };
}
