/**
 * Turns bytes that somebody served into a snapshot, and proves that a control plane with our secret
 * wrote it: limits, head and its mac, hash, JSON, shape. Every failure is a value, and none repeats
 * a part of the bytes.
 *
 * It does not judge whether the snapshot may be taken (core/snapshot/offer.ts), nor whether it can
 * be opened.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import {
  headKeyInfo,
  headText,
  snapshotBodySchema,
  snapshotHeadSchema,
  snapshotSchemaVersions,
  type SnapshotBody,
  type SnapshotHead,
} from "@gateway/contract/snapshot.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { z } from "zod";
import { parseSliced, pieceLevelsMax, sha256Sliced } from "../../judge/slices.ts";
import { snapshotBytesMax, snapshotDepthMax, snapshotInflatedBytesMax } from "../limits.ts";

export interface VerifiedSnapshot {
  readonly head: SnapshotHead;
  readonly body: SnapshotBody;
  /** Canonical JSON of the body, UTF-8, beginning with `{`. */
  readonly bytes: Uint8Array;
}

export type SnapshotFault =
  | { readonly code: "tooLarge"; readonly bytesMax: number }
  | { readonly code: "notGzip" }
  | { readonly code: "unknownCoding" }
  | { readonly code: "notJson" }
  | { readonly code: "tooDeep"; readonly depthMax: number }
  /** `path` names fields and objects, never values. */
  | { readonly code: "shape"; readonly path: string }
  | { readonly code: "schemaUnknown"; readonly offered: number; readonly max: number }
  /** The head was written without our secret, or was changed on the way. */
  | { readonly code: "mac" }
  /** The body is not the one that the head names. */
  | { readonly code: "hash" };

/** One line for status and log. */
export function faultText(fault: SnapshotFault): string {
  switch (fault.code) {
    case "tooLarge":
      return `the snapshot is larger than ${fault.bytesMax} bytes`;
    case "notGzip":
      return "the snapshot is damaged: it can not be inflated";
    case "unknownCoding":
      return "the snapshot has a content coding that was not asked for";
    case "notJson":
      return "the snapshot is damaged: it is not JSON in UTF-8";
    case "tooDeep":
      return `the snapshot nests deeper than ${fault.depthMax}`;
    case "shape":
      return `the snapshot has a missing, wrong or unknown field: ${fault.path}`;
    case "schemaUnknown":
      return `schema version ${fault.offered} is not understood; this build reads up to ${fault.max}`;
    case "mac":
      return "the snapshot's head is not authentic under the fleet secret";
    case "hash":
      return "the snapshot's content does not have the hash that its head names";
  }
}

/** Keys that authenticate heads, one per secret. */
export type HeadKeys = readonly Uint8Array[];

/** Derives them; `secrets` are the current and, while it is changed, the previous one. */
export function headKeysOf(secrets: readonly Secret[]): HeadKeys {
  return secrets.map(
    (secret) => new Uint8Array(hkdfSync("sha256", secret.reveal(), "", headKeyInfo, 32)),
  );
}

const inflate = promisify(gunzip);

/** The bytes behind `coding` (a `Content-Encoding`), within the limits. */
export async function inflated(
  bytes: Uint8Array,
  coding: string | undefined,
): Promise<Result<Uint8Array, SnapshotFault>> {
  if (bytes.length > snapshotBytesMax && coding === "gzip") return tooLarge(snapshotBytesMax);
  if (bytes.length > snapshotInflatedBytesMax) return tooLarge(snapshotInflatedBytesMax);
  if (coding === undefined || coding === "identity" || coding === "") return ok(bytes);
  if (coding !== "gzip") return err({ code: "unknownCoding" });
  try {
    // Stops while inflating, so a bomb costs no more memory than an honest snapshot.
    return ok(await inflate(bytes, { maxOutputLength: snapshotInflatedBytesMax }));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") return tooLarge(snapshotInflatedBytesMax);
    return err({ code: "notGzip" });
  }
}

/**
 * Verifies `{head, …body}` as served, inflated. A large one is read in slices, with turns of the event
 * loop in between.
 */
export async function verifySnapshot(
  bytes: Uint8Array,
  keys: HeadKeys,
): Promise<Result<VerifiedSnapshot, SnapshotFault>> {
  if (bytes.length > snapshotInflatedBytesMax) return tooLarge(snapshotInflatedBytesMax);
  const split = splitHead(bytes);
  if (split !== undefined) {
    const head = verifyHead(split.head, keys);
    if (!head.ok) return head;
    // Nothing that is not authentic is parsed, and the usual case needs no second serialisation.
    if (`sha256:${await sha256Sliced(split.bodyBytes)}` === head.value.revision) {
      const value = await parsedBody(split.bodyBytes);
      return value.ok ? shaped(head.value, value.value, split.bodyBytes) : value;
    }
  }
  return verifyRewritten(bytes, keys);
}

async function parsedBody(bytes: Uint8Array): Promise<Result<unknown, SnapshotFault>> {
  const value = await parseSliced(bytes, isShallow);
  return value === undefined ? parsed(bytes) : ok(value);
}

/** A piece lies some levels deep itself. Where one might be too deep, the text is judged as a whole. */
function isShallow(piece: unknown): boolean {
  return faultIn(piece, snapshotDepthMax - pieceLevelsMax) === undefined;
}

/** For what was written by another serialiser: the same values in other bytes. */
function verifyRewritten(
  bytes: Uint8Array,
  keys: HeadKeys,
): Result<VerifiedSnapshot, SnapshotFault> {
  const value = parsed(bytes);
  if (!value.ok) return value;
  if (!isMap(value.value)) return err({ code: "shape", path: "snapshot" });
  const { head: written, ...body } = value.value;
  const head = verifyHead(written, keys);
  if (!head.ok) return head;
  const bodyBytes = canonicalBytes(body);
  if (bodyBytes === undefined) return err({ code: "notJson" });
  if (hashOf(bodyBytes) !== head.value.revision) return err({ code: "hash" });
  return shaped(head.value, body, bodyBytes);
}

/** Verifies a head, as an answer to a wait or a heartbeat has it. */
export function verifyHead(value: unknown, keys: HeadKeys): Result<SnapshotHead, SnapshotFault> {
  const max = Math.max(...snapshotSchemaVersions);
  // A format that is not known may have any other shape, so its number is looked at first.
  const format = versionSchema.safeParse(value);
  if (
    format.success &&
    !snapshotSchemaVersions.some((known) => known === format.data.schemaVersion)
  ) {
    return err({ code: "schemaUnknown", offered: format.data.schemaVersion, max });
  }
  const head = snapshotHeadSchema.safeParse(value);
  if (!head.success) return err({ code: "shape", path: pathOf("head", head.error) });
  const mac = Buffer.from(head.data.mac, "hex");
  const text = headText(head.data);
  const fits = keys.map((key) =>
    timingSafeEqual(createHmac("sha256", key).update(text, "utf8").digest(), mac),
  );
  return fits.includes(true) ? ok(head.data) : err({ code: "mac" });
}

const versionSchema = z.looseObject({ schemaVersion: z.int() });

const opening = Buffer.from('{"head":', "utf8");
/** A head is a few hundred bytes; what is longer is none. */
const headBytesMax = 4_096;
const [brace, closing, comma] = [0x7b, 0x7d, 0x2c];

/** Takes `{"head":{…},` off the front; undefined when the bytes do not begin so. */
function splitHead(
  bytes: Uint8Array,
): { readonly head: unknown; readonly bodyBytes: Uint8Array } | undefined {
  if (Buffer.compare(bytes.subarray(0, opening.length), opening) !== 0) return undefined;
  const end = bytes.subarray(0, headBytesMax).indexOf(closing);
  if (end === -1 || bytes[end + 1] !== comma) return undefined;
  const head = parsed(bytes.subarray(opening.length, end + 1));
  if (!head.ok) return undefined;
  // The comma's place takes the body's opening brace: in a copy, because the caller owns `bytes`.
  const bodyBytes = new Uint8Array(bytes.subarray(end + 1));
  bodyBytes[0] = brace;
  return { head: head.value, bodyBytes };
}

/** Collections of documents, each of which is any object: looked at here, because there may be many. */
const collections = ["clusters", "clusterGroups", "routers", "scripts"] as const;

function shaped(
  head: SnapshotHead,
  value: unknown,
  bytes: Uint8Array,
): Result<VerifiedSnapshot, SnapshotFault> {
  if (!isMap(value)) return err({ code: "shape", path: "snapshot" });
  const hollow: Record<string, unknown> = { ...value };
  for (const name of collections) {
    const documents = value[name];
    if (typeof documents !== "object" || documents === null) continue;
    const wrong = Object.entries(documents).find(([, document]) => !isMap(document));
    if (wrong !== undefined) return err({ code: "shape", path: `snapshot.${name}.${wrong[0]}` });
    hollow[name] = Array.isArray(documents) ? [] : {};
  }
  const outline = snapshotBodySchema.safeParse(hollow);
  if (!outline.success) return err({ code: "shape", path: pathOf("snapshot", outline.error) });
  // The outline has the right shape, and so has each document of the collections.
  return ok({ head, body: value as SnapshotBody, bytes });
}

function parsed(bytes: Uint8Array): Result<unknown, SnapshotFault> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // The parser's message quotes the text, which holds credentials.
    return err({ code: "notJson" });
  }
  const fault = faultIn(value, snapshotDepthMax);
  return fault === undefined ? ok(value) : err(fault);
}

/** Recursion ends at the limit, so the walk itself can not run out of stack. */
function faultIn(value: unknown, depth: number): SnapshotFault | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return { code: "tooDeep", depthMax: snapshotDepthMax };
  // Copying such an object would set its prototype and lose the member that was hashed.
  if (Object.hasOwn(value, "__proto__")) return { code: "shape", path: "__proto__" };
  for (const member of Object.values(value)) {
    const fault = faultIn(member, depth - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function canonicalBytes(body: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  try {
    // It came out of JSON.parse, so it is JSON.
    return Buffer.from(canonicalJson(body as Json), "utf8");
  } catch {
    // Half a character, or a number that is not finite: no control plane wrote that.
    return undefined;
  }
}

function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function pathOf(root: string, error: z.ZodError): string {
  const issue = error.issues[0];
  const keys = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [root, ...(issue?.path ?? []), ...keys].map((part) => String(part)).join(".");
  return path.slice(0, 256);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tooLarge(bytesMax: number): Result<never, SnapshotFault> {
  return err({ code: "tooLarge", bytesMax });
}
