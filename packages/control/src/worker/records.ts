/**
 * `POST /worker/query-records`: finished queries of a worker on their way into the history.
 *
 * Whatever is acknowledged is stored. Records are judged one by one, and nothing of a record's content
 * is told in an error.
 */
import {
  queryRecordSchema,
  recordBatchSchema,
  recordSchemaVersion,
  type RecordBatchResponse,
} from "@gateway/contract/record.ts";
import { instanceIdHeader, instanceTokenHeader } from "@gateway/contract/workerApi.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Context } from "hono";
import { z } from "zod";
import type { ControlDeps } from "../deps.ts";
import { readJsonBody } from "../http/body.ts";
import { tokenHashOf } from "../http/secretCompare.ts";
import { problemResponse } from "../problem.ts";
import { storableRecord } from "../store/storable.ts";
import type { IncomingRecord } from "../store/store.ts";
import { incomingRecord } from "../store/written.ts";
import type { WorkerEnv } from "./auth.ts";
import { batchBytesMax, batchesMax, batchInflatedBytesMax } from "./limits.ts";
import { workerApiFamilies } from "./metrics.ts";
import { invalidBody, notRegistered, storeGone, tooBusy } from "./refuse.ts";

type WorkerContext = Context<WorkerEnv>;

/** Looked at before the rest: another version may have another shape. */
const versioned = z.looseObject({ schemaVersion: z.int() });

const bodyLimits = {
  bytesMax: batchBytesMax,
  inflatedBytesMax: batchInflatedBytesMax,
  // One odd character must not refuse two hundred records, nor even its own: it is replaced.
  text: "any",
} as const;

/** The handler. One per app: it counts the batches in memory. */
export function ingestRecords(deps: ControlDeps): (ctx: WorkerContext) => Promise<Response> {
  const conflicts = deps.metrics.counter(workerApiFamilies.conflicts, {});
  let batches = 0;

  async function ingest(ctx: WorkerContext): Promise<Response> {
    const registered = await nameOf(deps, ctx);
    if (!registered.ok) return registered.error;
    const name = registered.value;
    const body = await readJsonBody(ctx.req.raw, bodyLimits);
    if (!body.ok) return problemResponse(body.error);
    const { value, storable } = body.value;
    const version = versioned.safeParse(value);
    if (!version.success) return invalidBody(version.error);
    if (version.data.schemaVersion !== recordSchemaVersion) return otherFormat();
    const batch = recordBatchSchema.safeParse(value);
    if (!batch.success) return invalidBody(batch.error);
    if (batch.data.worker !== name) return otherWorker();

    const { incoming, rejected } = judged(batch.data.records, { worker: name, storable });
    const stored = await deps.store.records.ingest(incoming, deps.clock.unixMs());
    if (!stored.ok) return storeGone(deps.log, stored.error);
    const { accepted } = stored.value;
    // A different second record is kept apart, and is a duplicate to its sender: taken, not to be sent again.
    const duplicates = incoming.length - accepted;
    const differing = stored.value.conflicts.length;
    if (differing > 0) {
      conflicts.add(differing);
      const [first] = stored.value.conflicts;
      deps.log.write("warn", "records.conflict", { worker: name, count: differing, first });
    }
    const answer: RecordBatchResponse = { accepted, duplicates, rejected };
    return Response.json(answer, { headers: { "cache-control": "no-store" } });
  }

  return async (ctx) => {
    if (batches >= batchesMax) return tooBusy();
    batches += 1;
    try {
      return await ingest(ctx);
    } finally {
      batches -= 1;
    }
  };
}

/** The registered name of the instance whose id and token the request carries. */
async function nameOf(
  { store, log }: ControlDeps,
  ctx: WorkerContext,
): Promise<Result<string, Response>> {
  const instanceId = ctx.req.header(instanceIdHeader);
  const token = ctx.req.header(instanceTokenHeader);
  if (instanceId === undefined || token === undefined) return err(notRegistered());
  const name = await store.workers.nameOf(instanceId, tokenHashOf(token));
  if (!name.ok) return err(storeGone(log, name.error));
  return name.value === undefined ? err(notRegistered()) : ok(name.value);
}

/** What is known of a whole batch. */
interface BatchFacts {
  /** The registered name of its sender. */
  readonly worker: string;
  /** No text of it needs mending. */
  readonly storable: boolean;
}

function judged(records: readonly unknown[], facts: BatchFacts) {
  const incoming: IncomingRecord[] = [];
  const rejected: { index: number; error: string }[] = [];
  for (const [index, value] of records.entries()) {
    const record = judgedRecord(value, facts);
    if (record.ok) incoming.push(record.value);
    else rejected.push({ index, error: record.error });
  }
  return { incoming, rejected };
}

/** The error names a field and a reason, never a value: keys below the first level are the client's text. */
function judgedRecord(
  value: unknown,
  { worker, storable }: BatchFacts,
): Result<IncomingRecord, string> {
  const parsed = queryRecordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return err(`${String(issue?.path[0] ?? "record")}: ${issue?.code ?? "invalid"}`);
  }
  const record = parsed.data;
  if (record.worker !== undefined && record.worker !== worker) {
    return err("worker: not the name this instance registered");
  }
  // The parser made this object for us; a copy of each would be a tenth of the work.
  record.worker = worker;
  return ok(incomingRecord(storable ? record : storableRecord(record)));
}

function otherFormat(): Response {
  return problemResponse({
    status: 409,
    code: "schemaVersion",
    title: "Conflict",
    detail: "This format of records is not read here; keep them.",
    supported: [recordSchemaVersion],
  });
}

function otherWorker(): Response {
  return problemResponse({
    status: 403,
    code: "otherWorker",
    title: "Forbidden",
    detail: "The batch names another worker than this instance registered.",
  });
}
