/**
 * What remains of a finished query, and the batch in which records travel to a control plane.
 *
 * One record per proxy query id. Text fields are redacted before a record leaves its process.
 */
import { z } from "zod";

export const queryStatuses = ["finished", "failed", "cancelled", "denied"] as const;
export type QueryStatus = (typeof queryStatuses)[number];

/** One stage's decision, in order, for `explain`. */
export interface RoutingStep {
  /** The router's type and index in the list (`queryRegex[2]`), or the stage (`fallback`, `capacity`, `attempt`). */
  readonly step: string;
  readonly outcome: string;
}

/** Longest text that a record may hold in one field, in characters; a control plane refuses longer ones. */
export const recordTextMax = 1_000_000;

const text = z.string().max(recordTextMax);
const name = z.string().max(1_024);
const unixMs = z.number().min(0).max(8_640_000_000_000_000);
const count = z.number().min(0);

/** Times are Unix milliseconds, durations milliseconds. A field that is not known is absent. */
export const queryRecordSchema = z.strictObject({
  proxyQueryId: z.string().min(1).max(128),
  backendQueryId: name.optional(),
  createdAt: unixMs,
  startedAt: unixMs.optional(),
  finishedAt: unixMs,
  worker: name.optional(),
  frontend: name,
  user: name,
  clientAddress: name,
  clusterGroup: name.optional(),
  cluster: name.optional(),
  engine: name.optional(),
  catalog: name.optional(),
  schema: name.optional(),
  tags: z.record(z.string(), text),
  /** Absent where the redaction allows no text. */
  sql: text.optional(),
  translatedSql: text.optional(),
  sourceDialect: name,
  targetDialect: name.optional(),
  /** Of the whole text; a dictionary would reveal literals, so only under the redaction `full`. */
  sqlHash: name.optional(),
  /** Of the text with its literals replaced: the same for the same statement with other values. */
  digestHash: name.optional(),
  status: z.enum(queryStatuses),
  errorCode: name.optional(),
  errorMessage: text.optional(),
  rowsReturned: count,
  bytesReturned: count,
  queueMs: count,
  executionMs: count,
  backendIdentityMode: name.optional(),
  enginePrincipal: name.optional(),
  routingTrace: z.array(z.strictObject({ step: text, outcome: text })).max(1_000),
  policyActions: z.array(text).max(1_000),
  engineStats: z.record(z.string(), z.number()),
  /** `epoch.sequence.hash` of the configuration that the query ran under. */
  revision: name,
});

type Wire = z.output<typeof queryRecordSchema>;
export type QueryRecord = { readonly [Key in keyof Wire]: Wire[Key] };

/** Format of record batches that this build writes and reads. */
export const recordSchemaVersion = 1;
export const recordBatchMax = 200;

/** `records` are judged one by one: a bad one is rejected without the others. */
export const recordBatchSchema = z.strictObject({
  schemaVersion: z.int(),
  worker: name,
  records: z.array(z.unknown()).max(recordBatchMax),
});
export type RecordBatch = z.output<typeof recordBatchSchema>;

export interface RecordBatchResponse {
  readonly accepted: number;
  readonly duplicates: number;
  /** Records that will never be accepted: the sender drops and counts them. */
  readonly rejected: readonly { readonly index: number; readonly error: string }[];
}
