/**
 * The configuration as objects and in the form of the file, and the way between the two.
 *
 * It moves values and judges none: a file of a wrong shape keeps its wrong parts where they are, for
 * the schema to find. Objects stand as they were written, without defaults.
 */
import type { Json } from "@gateway/contract/canonical.ts";
import type { DocumentName } from "../store/store.ts";

/** One object of the configuration, its secrets in clear. Never leaves the process like this. */
export interface ConfigObject extends DocumentName {
  readonly body: Json;
}

export type JsonMap = Readonly<Record<string, Json | undefined>>;

/** Settings by name, each under a root key of the file with the same name, except `history`. */
export const settingNames = [
  "auth",
  "authorization",
  "accessControl",
  "guardrails",
  "catalogProvider",
  "translation",
  "history",
] as const;

/** What the document of routing may hold. */
export const routingKeys: readonly string[] = ["routers", "routingFallback"];

const rootSettings = settingNames.filter((name) => name !== "history");
const historyPath = ["gateway", "workerApi", "history"] as const;
const sections = { clusters: "cluster", clusterGroups: "clusterGroup", scripts: "script" } as const;
type Section = keyof typeof sections;
const sectionNames = ["clusters", "clusterGroups", "scripts"] as const satisfies readonly Section[];

/** `cluster/duck`: unique, and what audit rows and seals are made for. */
export function keyOf({ kind, name }: DocumentName): string {
  return `${kind}/${name}`;
}

/** Where an object stands in the file; the document of routing stands at the root. */
export function pathOf({ kind, name }: DocumentName): readonly string[] {
  switch (kind) {
    case "cluster":
      return ["clusters", name];
    case "clusterGroup":
      return ["clusterGroups", name];
    case "script":
      return ["scripts", name];
    case "routing":
      return [];
    case "setting":
      return name === "history" ? historyPath : [name];
  }
}

/** The file without what stays with the process whose file it is, and is in no object: its Python scripts. */
export function withoutLocal(file: JsonMap): JsonMap {
  const { translation, ...others } = file;
  if (!isMap(translation) || translation["pythonScripts"] === undefined) return file;
  const shared = present(translation).filter(([key]) => key !== "pythonScripts");
  return shared.length === 0 ? others : { ...others, translation: mapOf(shared) };
}

/** Changes each object of a file; what is no object stays as it is. */
export function mapObjects(file: JsonMap, map: (object: ConfigObject) => Json): JsonMap {
  const mapped = new Map<string, Json | undefined>(Object.entries(file));
  for (const section of sectionNames) {
    const objects = file[section];
    if (!isMap(objects)) continue;
    const kind = sections[section];
    const entries = present(objects).map(
      ([name, body]) => [name, map({ kind, name, body })] as const,
    );
    mapped.set(section, mapOf(entries));
  }
  for (const name of rootSettings) {
    const body = file[name];
    if (body !== undefined) mapped.set(name, map({ kind: "setting", name, body }));
  }
  const routing = routingIn(file);
  if (routing !== undefined) {
    const body = map({ kind: "routing", name: "routing", body: routing });
    for (const [key, value] of routingOf(body)) mapped.set(key, value);
  }
  const history = historyIn(file);
  if (history !== undefined) {
    const body = map({ kind: "setting", name: "history", body: history });
    const gateway = mapIn(file, "gateway");
    const workerApi = { ...mapIn(gateway, "workerApi"), history: body };
    mapped.set("gateway", { ...gateway, workerApi });
  }
  return Object.fromEntries(mapped);
}

/** Every object of a file, in the order of the file's sections. */
export function objectsIn(file: JsonMap): readonly ConfigObject[] {
  const found: ConfigObject[] = [];
  mapObjects(file, (object) => {
    found.push(object);
    return object.body;
  });
  return found;
}

/** The file that holds these objects and nothing else; a section without one is absent. */
export function fileOf(objects: Iterable<ConfigObject>): JsonMap {
  const inSections = new Map<string, [string, Json][]>();
  const root = new Map<string, Json>();
  for (const object of objects) {
    const [first, ...rest] = pathOf(object);
    const { kind, name, body } = object;
    if (first === undefined) {
      for (const [key, value] of routingOf(body)) root.set(key, value);
    } else if (kind === "setting") {
      root.set(first, rest.length === 0 ? body : { workerApi: { history: body } });
    } else {
      const entries = inSections.get(first);
      if (entries === undefined) inSections.set(first, [[name, body]]);
      else entries.push([name, body]);
    }
  }
  for (const [section, entries] of inSections) root.set(section, Object.fromEntries(entries));
  return Object.fromEntries(root);
}

/** Keys with a value, as JSON would write them. */
export function present(map: JsonMap): readonly (readonly [string, Json])[] {
  return Object.entries(map).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
}

/** The other way from `present`. */
export function mapOf(entries: Iterable<readonly [string, Json]>): JsonMap {
  return Object.fromEntries(entries);
}

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Only its own keys: any other would become another part of the file. */
function routingOf(body: Json): readonly (readonly [string, Json])[] {
  return isMap(body) ? present(body).filter(([key]) => routingKeys.includes(key)) : [];
}

/** An empty list without a fallback says nothing, so there is no object for it. */
function routingIn(file: JsonMap): Json | undefined {
  const { routers, routingFallback } = file;
  const none = routers === undefined || (isList(routers) && routers.length === 0);
  if (none && routingFallback === undefined) return undefined;
  return {
    ...(routers === undefined ? {} : { routers }),
    ...(routingFallback === undefined ? {} : { routingFallback }),
  };
}

function historyIn(file: JsonMap): Json | undefined {
  return mapIn(mapIn(file, "gateway"), "workerApi")["history"];
}

function mapIn(map: JsonMap, key: string): JsonMap {
  const inner = map[key];
  return isMap(inner) ? inner : {};
}
