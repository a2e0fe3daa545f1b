/** The documents of Trino's client protocol, as its clients read them. */
import { z } from "zod";
import { count, has, text } from "./members.ts";

const trinoStates = [
  "QUEUED",
  "WAITING_FOR_RESOURCES",
  "DISPATCHING",
  "PLANNING",
  "STARTING",
  "RUNNING",
  "FINISHING",
  "FINISHED",
  "FAILED",
] as const;
const trinoError = z.looseObject({
  message: z.string(),
  errorCode: count,
  errorName: z.string().regex(/^[A-Z_]+$/),
  errorType: z.enum(["USER_ERROR", "INTERNAL_ERROR", "INSUFFICIENT_RESOURCES", "EXTERNAL"]),
  failureInfo: z.looseObject({
    type: text,
    message: z.string(),
    suppressed: z.array(z.unknown()),
    stack: z.array(z.string()),
  }),
});
const stats = z.looseObject({
  state: z.enum(trinoStates),
  queued: z.boolean(),
  scheduled: z.boolean(),
  nodes: count,
  totalSplits: count,
  queuedSplits: count,
  runningSplits: count,
  completedSplits: count,
  cpuTimeMillis: count,
  wallTimeMillis: count,
  queuedTimeMillis: count,
  elapsedTimeMillis: count,
  processedRows: count,
  processedBytes: count,
  peakMemoryBytes: count,
});
const trinoColumn = z.strictObject({
  name: z.string(),
  type: text,
  typeSignature: z.looseObject({ rawType: text, arguments: z.array(z.looseObject({})) }),
});
const segments = z.looseObject({
  encoding: text,
  segments: z.array(z.looseObject({ type: text })),
});
const queryResults = z
  .strictObject({
    id: z.string().regex(/^\d{8}_\d{6}_\d{5}_[a-z0-9]{1,8}$/),
    infoUri: z.url(),
    partialCancelUri: z.url().optional(),
    nextUri: z.url().optional(),
    columns: z.array(trinoColumn).optional(),
    data: z.union([z.array(z.array(z.unknown())), segments]).optional(),
    stats,
    error: trinoError.optional(),
    warnings: z.array(
      z.looseObject({ warningCode: z.looseObject({ code: count, name: text }), message: text }),
    ),
    updateType: text.optional(),
    updateCount: count.optional(),
  })
  .refine(({ id, infoUri }) => infoUri.endsWith(`/v1/query/${id}`), "an address of its own")
  .refine(
    ({ data, columns }) =>
      !Array.isArray(data) || data.every((row) => row.length === columns?.length),
    "a cell for each column",
  )
  .refine(
    ({ nextUri, stats: { state } }) =>
      nextUri !== undefined || state === "FINISHED" || state === "FAILED",
    "an end where nothing follows",
  )
  .refine(
    ({ error, stats: { state } }) => error === undefined || state === "FAILED",
    "a failed state with an error",
  );
const serverInfo = z.strictObject({
  nodeVersion: z.strictObject({ version: text }),
  environment: text,
  coordinator: z.boolean(),
  starting: z.boolean(),
  uptime: z.string().regex(/^\d+\.\d\d(ms|s|m|h|d)$/),
});
const queryInfo = z.looseObject({ queryId: text, state: z.enum(trinoStates), query: z.string() });

/** What the document claims to be by its own members. */
export function trinoSchema(document: unknown, status: number): z.ZodType {
  if (status !== 200) return z.never("a document with another status than 200");
  if (typeof document === "string") return z.enum(["ACTIVE", "SHUTTING_DOWN"]);
  if (Array.isArray(document)) return z.array(queryInfo.omit({ query: true }));
  if (has(document, "nodeVersion")) return serverInfo;
  return has(document, "queryId") ? queryInfo : queryResults;
}
