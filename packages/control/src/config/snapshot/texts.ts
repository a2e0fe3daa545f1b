/**
 * The canonical text of a body, put together from the texts of its objects: one that did not change is
 * not written again.
 *
 * The text depends on the objects and on nothing else. There are two ways to make it, and both answer
 * the same.
 */
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import type { SnapshotBody } from "@gateway/contract/snapshot.ts";
import { isList, isMap, type ConfigObject, type JsonMap } from "../file.ts";
import { canonicalOf, memberOf } from "../documentText.ts";

type Named = ReadonlyMap<string, JsonMap>;

/** By kind and name. */
export interface Documents {
  readonly named: (kind: ConfigObject["kind"]) => Named;
  /** Sorted by name: the order of a list counts, and nothing else decides this one. */
  readonly scripts: readonly JsonMap[];
  readonly routers: readonly JsonMap[];
  readonly routingFallback: string | undefined;
  readonly settings: Named;
  readonly translation: JsonMap;
  readonly history: JsonMap;
}

/** The objects by where they stand in a body. */
export function documentsOf(objects: Iterable<ConfigObject>): Documents {
  const ofKind = new Map<ConfigObject["kind"], Map<string, JsonMap>>();
  for (const { kind, name, body } of objects) {
    let found = ofKind.get(kind);
    if (found === undefined) ofKind.set(kind, (found = new Map<string, JsonMap>()));
    found.set(name, mapIn(body));
  }
  const named = (kind: ConfigObject["kind"]): Named => ofKind.get(kind) ?? new Map();
  const { routers, routingFallback } = named("routing").get("routing") ?? {};
  const settings = new Map(named("setting"));
  const translation = settings.get("translation") ?? {};
  const history = settings.get("history") ?? {};
  settings.delete("translation");
  settings.delete("history");
  return {
    named,
    scripts: sorted(named("script")).map(([name, script]) => ({ ...script, name })),
    routers: (isList(routers) ? routers : []).map(mapIn),
    routingFallback: typeof routingFallback === "string" ? routingFallback : undefined,
    settings,
    translation,
    history,
  };
}

/** Members of a map in their order; `texts` hold the names as well. */
interface Members {
  readonly names: readonly string[];
  readonly texts: readonly string[];
}

type Large = "clusters" | "clusterGroups";

/** The text of a body in parts; those with many members can be changed by one. */
export interface BodyTexts extends Readonly<Record<Large, Members>> {
  readonly others: Readonly<Record<Exclude<keyof SnapshotBody, Large>, string | undefined>>;
}

/** The texts of these objects. */
export function textsOf(objects: Iterable<ConfigObject>): BodyTexts {
  const { named, scripts, routers, routingFallback, ...rest } = documentsOf(objects);
  const { settings, translation, history } = rest;
  return {
    clusters: membersOf(named("cluster")),
    clusterGroups: membersOf(named("clusterGroup")),
    others: {
      routers: listText(routers),
      routingFallback: routingFallback === undefined ? undefined : canonicalJson(routingFallback),
      scripts: listText(scripts),
      settings: mapText(membersOf(settings)),
      translation: canonicalOf(translation),
      history: canonicalOf(history),
    },
  };
}

/** The texts with one object put into them; undefined where that saves nothing over making all anew. */
export function textsWith(texts: BodyTexts, { kind, name, body }: ConfigObject) {
  const document = mapIn(body);
  if (kind === "cluster") {
    return { ...texts, clusters: withMember(texts.clusters, name, document) };
  }
  if (kind === "clusterGroup") {
    return { ...texts, clusterGroups: withMember(texts.clusterGroups, name, document) };
  }
  return undefined;
}

/** Canonical JSON of the body. */
export function wholeText({ clusters, clusterGroups, others }: BodyTexts): string {
  const texts = { ...others, clusters: mapText(clusters), clusterGroups: mapText(clusterGroups) };
  const members = Object.entries(texts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, text]) => (text === undefined ? [] : [`${canonicalJson(key)}:${text}`]));
  return `{${members.join(",")}}`;
}

function membersOf(named: Named): Members {
  const entries = sorted(named);
  return {
    names: entries.map(([name]) => name),
    texts: entries.map(([name, document]) => memberOf(name, document)),
  };
}

function withMember({ names, texts }: Members, name: string, document: JsonMap): Members {
  const text = memberOf(name, document);
  const at = placeOf(names, name);
  if (names[at] === name) return { names, texts: texts.with(at, text) };
  return { names: names.toSpliced(at, 0, name), texts: texts.toSpliced(at, 0, text) };
}

/** Where `name` is in sorted names, or would be. */
function placeOf(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = names[middle];
    if (found !== undefined && found < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function mapText({ texts }: Members): string {
  return `{${texts.join(",")}}`;
}

function listText(documents: readonly JsonMap[]): string {
  return `[${documents.map(canonicalOf).join(",")}]`;
}

/** By UTF-16 code units, as RFC 8785 §3.2.3 wants keys. */
function sorted(documents: Named): readonly (readonly [string, JsonMap])[] {
  return [...documents].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The check let nothing else through. */
function mapIn(value: Json): JsonMap {
  return isMap(value) ? value : {};
}
