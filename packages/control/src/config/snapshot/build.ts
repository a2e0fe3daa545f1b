/**
 * From objects to the bytes of a snapshot and back.
 *
 * The bytes depend on the objects and on nothing else: not on their order, not on a clock, not on the
 * defaults of a release. What the objects mean is judged before, in config/judge.ts.
 */
import { hash as digestOf } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Json } from "@gateway/contract/canonical.ts";
import { snapshotBodySchema, type SnapshotBody } from "@gateway/contract/snapshot.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Built } from "../configuration.ts";
import { isList, isMap, present, type ConfigObject, type JsonMap } from "../file.ts";
import { compressor, type Compress } from "./compress.ts";
import { documentsOf, textsOf, wholeText, type BodyTexts, type Documents } from "./texts.ts";

/** A body with its only bytes and their hash. */
export interface BuiltBody {
  readonly body: SnapshotBody;
  readonly bytes: Uint8Array;
  /** `sha256:…` over `bytes`. */
  readonly hash: string;
}

/** Builds the body of a snapshot. `objects` passed the check and hold each name once; `texts` are theirs. */
export function buildBody(objects: Iterable<ConfigObject>, texts?: BodyTexts): BuiltBody {
  const all = [...objects];
  const bytes = new TextEncoder().encode(wholeText(texts ?? textsOf(all)));
  let body: SnapshotBody | undefined;
  return {
    // Made for those who ask: what is served and stored are the bytes.
    get body() {
      return (body ??= bodyOf(documentsOf(all)));
    },
    bytes,
    hash: hashOf(bytes),
  };
}

/** `sha256:` and 64 hex digits. */
export function hashOf(bytes: Uint8Array): string {
  return `sha256:${digestOf("sha256", bytes, "hex")}`;
}

/** Why stored bytes are no body: a fault of the store, or a newer format. */
export type BodyRefusal = { readonly code: "hashDiffers" } | { readonly code: "notABody" };

/** Reads bytes that `buildBody` made, here or in another release; `hash` is what the store says they hash to. */
export function readBody(bytes: Uint8Array, hash: string): Result<BuiltBody, BodyRefusal> {
  if (hashOf(bytes) !== hash) return err({ code: "hashDiffers" });
  const body = snapshotBodySchema.safeParse(jsonOf(bytes));
  return body.success ? ok({ body: body.data, bytes, hash }) : err({ code: "notABody" });
}

/** The objects of a body, for comparing and for rolling back. What says nothing becomes no object. */
export function objectsOfBody(bytes: Uint8Array): readonly ConfigObject[] {
  const json = jsonOf(bytes);
  const body: JsonMap = isMap(json) ? json : {};
  const named = (key: string, kind: "cluster" | "clusterGroup"): readonly ConfigObject[] =>
    entriesOf(body[key]).map(([name, document]) => ({ kind, name, body: document }));
  const settings = [
    ...entriesOf(body["settings"]),
    ...(["translation", "history"] as const).flatMap((name) => {
      const document = body[name];
      return entriesOf(document).length === 0 ? [] : [[name, document ?? {}] as const];
    }),
  ];
  return [
    ...named("clusters", "cluster"),
    ...named("clusterGroups", "clusterGroup"),
    ...routingOf(body),
    ...scriptsOf(body["scripts"]),
    ...settings.map(([name, document]): ConfigObject => ({
      kind: "setting",
      name,
      body: document,
    })),
  ];
}

/** Puts together what is served. `body` came from `buildBody` or `readBody`. */
export async function builtOf(
  built: BuiltBody,
  revision: Pick<Built, "revision" | "schemaVersion" | "createdAt">,
  compress: Compress = compressor(),
): Promise<Built> {
  const { schemaVersion, createdAt } = revision;
  const { bytes } = built;
  const gzipTail = await tailOf(bytes, compress);
  return {
    revision: revision.revision,
    schemaVersion,
    get body() {
      return built.body;
    },
    bytes,
    gzipTail,
    createdAt,
  };
}

/**
 * Everything after the first `{`, as a gzip member of its own: an answer is a member with
 * `{"head":…,` and then this one. The comma is right because a body always has keys.
 */
async function tailOf(bytes: Uint8Array, compress: Compress): Promise<Uint8Array> {
  if (bytes.length <= emptyBodyBytes) throw new Error("a snapshot without keys");
  return compress(bytes.subarray(1));
}

/** `{}` */
const emptyBodyBytes = 2;
/** The character that a tail lacks. */
const bodyStart = "{".charCodeAt(0);

const inflate = promisify(gunzip);

/**
 * What the revision log keeps of a snapshot, in clear: its tail as it is served, a fifth of the bytes.
 * Every replica then serves the same ones compressed as well.
 */
export function logBytesOf({ gzipTail }: Pick<Built, "gzipTail">): Uint8Array {
  return gzipTail;
}

/** A snapshot as it was logged. */
export interface LoggedBody {
  readonly body: BuiltBody;
  /** Undefined where only the bytes were logged. */
  readonly gzipTail: Uint8Array | undefined;
}

/**
 * Reads what the log keeps; `hash` is what the store says the snapshot's bytes hash to. Rows from
 * before tails were kept hold the bytes themselves, which begin with `{`.
 */
export async function readLogged(
  logged: Uint8Array,
  hash: string,
): Promise<Result<LoggedBody, BodyRefusal>> {
  const gzipTail = logged[0] === bodyStart ? undefined : logged;
  const bytes = gzipTail === undefined ? logged : await inflated(gzipTail);
  const body = bytes === undefined ? err({ code: "notABody" } as const) : readBody(bytes, hash);
  return body.ok ? ok({ body: body.value, gzipTail }) : body;
}

/** The body that a tail is of; undefined where it is no tail. */
async function inflated(gzipTail: Uint8Array): Promise<Uint8Array | undefined> {
  try {
    const tail = await inflate(gzipTail, { maxOutputLength: loggedBytesMax });
    const bytes = new Uint8Array(tail.length + 1);
    bytes[0] = bodyStart;
    bytes.set(tail, 1);
    return bytes;
  } catch {
    return undefined;
  }
}

/** Longest snapshot that is read back; its writer had it in memory. */
const loggedBytesMax = 1024 * 1024 * 1024;

/** The body as JSON and as the contract has it at once. */
function bodyOf({ named, settings, routingFallback, ...rest }: Documents) {
  return {
    clusters: Object.fromEntries(named("cluster")),
    clusterGroups: Object.fromEntries(named("clusterGroup")),
    ...rest,
    routers: [...rest.routers],
    scripts: [...rest.scripts],
    ...(routingFallback === undefined ? {} : { routingFallback }),
    settings: Object.fromEntries(settings),
  } satisfies SnapshotBody;
}

function routingOf({ routers, routingFallback }: JsonMap): readonly ConfigObject[] {
  const list = listIn(routers).length > 0 ? { routers } : {};
  const fallback = routingFallback === undefined ? {} : { routingFallback };
  const body = { ...list, ...fallback };
  return Object.keys(body).length === 0 ? [] : [{ kind: "routing", name: "routing", body }];
}

function scriptsOf(scripts: Json | undefined): readonly ConfigObject[] {
  return listIn(scripts).flatMap((script): readonly ConfigObject[] => {
    if (!isMap(script)) return [];
    const { name, ...body } = script;
    return typeof name === "string" ? [{ kind: "script", name, body }] : [];
  });
}

function listIn(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isMap(value) ? present(value) : [];
}

function jsonOf(bytes: Uint8Array): Json {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Json;
  } catch {
    return null;
  }
}
