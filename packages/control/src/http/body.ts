/**
 * Reads a JSON body within limits: nothing is buffered, inflated or parsed beyond them.
 *
 * What the value means is the caller's schema's business. No answer repeats a part of the body.
 */
import { isAscii } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Problem } from "../problem.ts";
import { isStorable } from "../store/storable.ts";

const inflate = promisify(gunzip);
/** A batch of records in one piece: each further piece is a way to another thread and back. */
const inflatedChunkBytes = 256 * 1_024;

/** Deepest nesting of lists and objects unless told: recursive readers behind this one stay within their stack. */
export const bodyDepthMax = 64;

export interface BodyLimits {
  /** As sent. */
  readonly bytesMax: number;
  /** Allows `Content-Encoding: gzip` and limits what comes out of it; absent: gzip is refused. */
  readonly inflatedBytesMax?: number;
  /** Default `bodyDepthMax`. */
  readonly depthMax?: number;
  /**
   * `storable` (default) refuses what canonical JSON or a database can not hold: U+0000, half a
   * character, a number that is not finite. `any` leaves these to the caller.
   */
  readonly text?: "storable" | "any";
}

/** A parsed body, and what is known of the texts in it. */
export interface JsonBody {
  readonly value: unknown;
  /** True when every text in it can be kept by a store: U+0000 and half a character come as an escape only. */
  readonly storable: boolean;
}

/** The value of `readJsonBody`. */
export async function readJson(
  request: Request,
  limits: BodyLimits,
): Promise<Result<unknown, Problem>> {
  const body = await readJsonBody(request, limits);
  return body.ok ? ok(body.value.value) : body;
}

/**
 * The parsed body, or the problem to answer with: 413 for more bytes than allowed (the declared
 * length is looked at before anything is read, then the bytes are counted), 415 for another type or
 * coding, 400 for what is no JSON, nests too deeply or holds text that can not be kept.
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
): Promise<Result<JsonBody, Problem>> {
  const type = /^\s*([^;\s]*)/.exec(request.headers.get("content-type") ?? "")?.[1] ?? "";
  if (!/^application\/(?:json|[\w.-]+\+json)$/i.test(type)) {
    return err(unsupported("The body must be application/json."));
  }
  const coding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (coding !== "identity" && (coding !== "gzip" || limits.inflatedBytesMax === undefined)) {
    return err(unsupported("This content coding is not taken here."));
  }
  const sent = await readBytes(request, limits.bytesMax);
  if (!sent.ok) return sent;
  const bytes = coding === "gzip" ? await inflated(sent.value, limits.inflatedBytesMax ?? 0) : sent;
  if (!bytes.ok) return bytes;
  const body = parsed(bytes.value);
  if (!body.ok) return body;
  const { value } = body.value;
  const depthMax = limits.depthMax ?? bodyDepthMax;
  const fault = limits.text === "any" ? depthFaultOf(value, depthMax) : faultOf(value, depthMax);
  return fault === undefined ? body : err(malformed(fault));
}

async function readBytes(request: Request, bytesMax: number): Promise<Result<Uint8Array, Problem>> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) return err(tooLarge(bytesMax));
  if (request.body === null) return ok(new Uint8Array());
  const stream: ReadableStream<Uint8Array> = request.body;
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > bytesMax) {
        await reader.cancel();
        return err(tooLarge(bytesMax));
      }
      chunks.push(value);
    }
  } catch {
    // The client left, or broke its own framing: whoever still listens is told the same.
    return err(malformed("The body ended early."));
  }
  return ok(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
}

async function inflated(bytes: Uint8Array, bytesMax: number): Promise<Result<Uint8Array, Problem>> {
  try {
    // Stops while inflating, so a bomb costs no more memory than an honest body.
    const chunkSize = Math.min(inflatedChunkBytes, Math.max(64, bytesMax));
    return ok(await inflate(bytes, { maxOutputLength: bytesMax, chunkSize }));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") return err(tooLarge(bytesMax));
    return err(malformed("The body is not gzip."));
  }
}

function parsed(bytes: Uint8Array): Result<JsonBody, Problem> {
  try {
    // Nearly every batch of records is ASCII, which needs no decoder.
    const text = isAscii(bytes)
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
      : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return ok({ value, storable: !text.includes("\\u") });
  } catch {
    // The parser's message quotes the body, which may hold a secret.
    return err(malformed("The body is not JSON in UTF-8."));
  }
}

/** Recursion ends at `depthMax`, so the walk itself can not run out of stack. */
function faultOf(value: unknown, depthMax: number): string | undefined {
  if (typeof value === "string") {
    return isStorable(value) ? undefined : "The body holds text that can not be kept.";
  }
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : "The body holds a number that is too large.";
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depthMax === 0) return tooDeep;
  const isList = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    const fault = (isList ? undefined : faultOf(key, depthMax)) ?? faultOf(member, depthMax - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function depthFaultOf(value: unknown, depthMax: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depthMax === 0) return tooDeep;
  for (const member of Object.values(value)) {
    const fault = depthFaultOf(member, depthMax - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const tooDeep = "The body nests too deeply.";

function tooLarge(bytesMax: number): Problem {
  return {
    status: 413,
    code: "bodyTooLarge",
    title: "The body is too large",
    detail: `At most ${bytesMax} bytes are read.`,
  };
}

function unsupported(detail: string): Problem {
  return { status: 415, code: "unsupportedBody", title: "This kind of body is not read", detail };
}

function malformed(detail: string): Problem {
  return { status: 400, code: "malformedBody", title: "The body can not be read", detail };
}
