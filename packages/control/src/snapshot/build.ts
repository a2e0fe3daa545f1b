/**
 * From objects to the bytes of a snapshot and back.
 *
 * The bytes depend on the objects and on nothing else: not on their order, not on a clock, not on the
 * defaults of a release. What the objects mean is judged before, in config/judge.ts.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { snapshotBodySchema, type SnapshotBody } from "@gateway/contract/snapshot.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Built } from "../config/configuration.ts";
import { isList, isMap, present, type ConfigObject, type JsonMap } from "../config/file.ts";

/** A body with its only bytes and their hash. */
export interface BuiltBody {
  readonly body: SnapshotBody;
  readonly bytes: Uint8Array;
  /** `sha256:…` over `bytes`. */
  readonly hash: string;
}

/** Builds the body of a snapshot. `objects` passed the check and hold each name once. */
export function buildBody(objects: Iterable<ConfigObject>): BuiltBody {
  const body = bodyOf(objects);
  const bytes = new TextEncoder().encode(canonicalJson(body));
  return { body, bytes, hash: hashOf(bytes) };
}

/** `sha256:` and 64 hex digits. */
export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
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
  { body, bytes }: BuiltBody,
  revision: Pick<Built, "revision" | "schemaVersion" | "createdAt">,
): Promise<Built> {
  const { schemaVersion, createdAt } = revision;
  const gzipTail = await tailOf(bytes);
  return { revision: revision.revision, schemaVersion, body, bytes, gzipTail, createdAt };
}

const compress = promisify(gzip);

/**
 * Everything after the first `{`, as a gzip member of its own: an answer is a member with
 * `{"head":…,` and then this one. The comma is right because a body always has keys.
 */
async function tailOf(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length <= emptyBodyBytes) throw new Error("a snapshot without keys");
  return compress(bytes.subarray(1));
}

/** `{}` */
const emptyBodyBytes = 2;

/** The body as JSON and as the contract has it at once. */
function bodyOf(objects: Iterable<ConfigObject>) {
  const ofKind = new Map<ConfigObject["kind"], [string, JsonMap][]>();
  for (const { kind, name, body } of objects) {
    const found = ofKind.get(kind) ?? [];
    found.push([name, mapIn(body)]);
    ofKind.set(kind, found);
  }
  const named = (kind: ConfigObject["kind"]) => Object.fromEntries(ofKind.get(kind) ?? []);
  const { routers, routingFallback } = named("routing")["routing"] ?? {};
  const { translation, history, ...settings } = named("setting");
  // Lists have an order that counts, so this one has to come from the names.
  const scripts = (ofKind.get("script") ?? []).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    clusters: named("cluster"),
    clusterGroups: named("clusterGroup"),
    routers: listIn(routers).map(mapIn),
    ...(typeof routingFallback === "string" ? { routingFallback } : {}),
    scripts: scripts.map(([name, script]) => ({ ...script, name })),
    settings,
    translation: translation ?? {},
    history: history ?? {},
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

/** The check let nothing else through. */
function mapIn(value: Json): JsonMap {
  return isMap(value) ? value : {};
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
