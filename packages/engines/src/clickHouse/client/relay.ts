/**
 * Runs a statement for a client of ClickHouse's own HTTP interface: its answer passes as it came, in the format
 * and the compression that the client asked for. What it holds is not read but for an exception at its end.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { ColumnsEvent, DoneEvent, LastEvent, WholeResult } from "@gateway/core/query/event.ts";
import { waited, type Course } from "@gateway/core/query/course.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { errorOf, readException, vendorOf } from "../errors.ts";
import type { HttpResponse } from "./exchange.ts";
import { answered, doneOf, failedBy, send, type Running, type Trace } from "./run.ts";
import { headerOf } from "./wire.ts";

const exceptionTag = "x-clickhouse-exception-tag";

/** The headers of an answer that are about its body, by their lower-case names. */
const passedHeaders = [
  "content-type",
  "content-encoding",
  "x-clickhouse-format",
  "x-clickhouse-timezone",
  "x-clickhouse-summary",
  "x-clickhouse-progress",
  "x-clickhouse-server-display-name",
  exceptionTag,
] as const;

const nothing = new Uint8Array(0);

/** How much of the end is looked at; a server writes no longer exception behind its rows. */
const tailBytesMax = 32 * 1024;

/** Runs it, and returns the last event. The caller ends what is still open, and drops what is left of the answer. */
export function* runRelayed(
  running: Running,
  trace: Trace,
  signal: AbortSignal,
): Course<LastEvent> {
  const sent = running.sent ?? send(running, signal);
  if ("code" in sent) return failedBy(sent);
  const response = yield* answered(running, sent, trace, signal);
  if ("code" in response) return failedBy(response);
  const whole = running.whole ? wholeDone(running, response, sent.sentMs) : undefined;
  if (whole !== undefined) {
    trace.open = false;
    return whole;
  }
  const columns = columnsOf(response);
  const tail = new Tail();
  yield columns;
  let bytes = 0;
  let broken: string | undefined;
  for (;;) {
    const due = response.body.next();
    const step = due instanceof Promise ? yield* waited(due) : due;
    if (step.kind === "failed") broken = step.reason;
    if (step.kind !== "bytes") break;
    tail.add(step.bytes);
    bytes += step.bytes.length;
    yield { kind: "batch", batch: batchOf(step.bytes) };
  }
  const failed = endOf(tail, { response, broken, running });
  trace.open = failed !== undefined && failed.vendor === undefined;
  return failed === undefined ? doneAt(running, response, sent.sentMs, bytes) : failedBy(failed);
}

/** The end of a statement with its result, where all of it is here and holds no exception. */
export function wholeDone(
  running: Running,
  response: HttpResponse,
  sentMs: number,
): DoneEvent | undefined {
  const bytes = response.body.whole();
  if (bytes === undefined) return undefined;
  const tag = headerOf(response, exceptionTag);
  if (tag !== undefined && tagged(tailOf(bytes), tag) !== undefined) return undefined;
  const batch = bytes.length === 0 ? undefined : batchOf(bytes);
  const done = doneAt(running, response, sentMs, bytes.length);
  return doneWith(done, { columns: columnsOf(response), batch });
}

function doneAt(
  running: Running,
  response: HttpResponse,
  sentMs: number,
  bytes: number,
): DoneEvent {
  const executionMs = running.clock.nowMs() - sentMs;
  return doneOf(running, response, { queueMs: 0, executionMs, rows: 0, bytes });
}

/** The last headers, and what they say to a client: a connection whose answers begin with the same bytes has the same ones. */
let last: { readonly headers: HttpResponse["headers"]; readonly columns: ColumnsEvent } | undefined;

function columnsOf(response: HttpResponse): ColumnsEvent {
  if (last?.headers === response.headers) return last.columns;
  const headers = passedFrom(response);
  const native = { format: "clickHouseBody", bytes: nothing, headers } as const;
  const columns: ColumnsEvent = { kind: "columns", columns: [], native };
  last = { headers: response.headers, columns };
  return columns;
}

function batchOf(bytes: Uint8Array): Batch {
  return { form: "native", format: "clickHouseBody", rows: 0, bytes };
}

function doneWith({ stats, updateType, updateCount }: DoneEvent, whole: WholeResult): DoneEvent {
  return { kind: "done", stats, updateType, updateCount, whole };
}

function passedFrom(response: HttpResponse): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = headerOf(response, name);
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

interface Ended {
  readonly response: HttpResponse;
  readonly broken: string | undefined;
  readonly running: Running;
}

/**
 * Why the answer is no whole one; undefined for one that is. A server since 25.11 marks an exception with the tag of
 * its head. An older one writes plain text, which rows may hold as well: that counts only where the
 * connection broke too.
 */
function endOf(tail: Tail, { response, broken, running }: Ended): GatewayError | undefined {
  const tag = headerOf(response, exceptionTag);
  if (tag === undefined && broken === undefined) return undefined;
  const text = tag === undefined ? untagged(tail.bytes()) : tagged(tail.bytes(), tag);
  if (text !== undefined) {
    const exception = readException(text);
    const { caller } = running.submission;
    const error = errorOf(exception, { shown: running.shown, caller, shiftBytes: 0 });
    // Its client has read the server's own words already.
    return { ...error, vendor: vendorOf(exception) };
  }
  return broken === undefined ? undefined : gatewayError("engine.broken", { detail: broken });
}

function tagged(tail: Buffer, tag: string): string | undefined {
  const mark = `__exception__\r\n${tag}\r\n`;
  const at = tail.indexOf(mark);
  if (at < 0) return undefined;
  const text = tail.subarray(at + mark.length).toString();
  return text.slice(0, text.lastIndexOf("\n", text.lastIndexOf(` ${tag}`)));
}

function untagged(tail: Buffer): string | undefined {
  return /Code: \d+\. DB::\w*Exception: [\s\S]*$/.exec(tail.toString())?.[0];
}

/** The last bytes of an answer, copied: what passes is read into again as soon as its client has it. */
class Tail {
  #bytes = nothing;
  #length = 0;

  add(piece: Uint8Array): void {
    const added = piece.subarray(Math.max(0, piece.length - tailBytesMax));
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(2 * tailBytesMax);
    if (this.#length + added.length > this.#bytes.length) {
      const kept = Math.min(this.#length, tailBytesMax - added.length);
      this.#bytes.copyWithin(0, this.#length - kept, this.#length);
      this.#length = kept;
    }
    this.#bytes.set(added, this.#length);
    this.#length += added.length;
  }

  bytes(): Buffer {
    return tailOf(this.#bytes.subarray(0, this.#length));
  }
}

function tailOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  const from = Math.max(0, length - tailBytesMax);
  return Buffer.from(buffer, byteOffset + from, length - from);
}
