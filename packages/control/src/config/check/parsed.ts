/**
 * A configuration as its schema reads it, put together from its objects, each of which is read once
 * for as long as it lives: a change of one object costs that object and not the other thousand.
 *
 * It holds valid objects only. If any object is invalid, the whole file is parsed for its faults
 * (judge.ts), so that those are the same whichever way a configuration came.
 */
import { fileOf, isMap, settingNames, type ConfigObject } from "../file.ts";
import { fileSchema, type FileConfig } from "../objects.ts";
import { parsedBefore, type Objects, type Parsed, type Step } from "./known.ts";

/** An object alone in a file, read. A document has one place; under another name it is read anew. */
interface Part extends Pick<ConfigObject, "kind" | "name"> {
  /** Only what the object itself gives: no section that a default filled. */
  readonly config: Partial<FileConfig>;
}

// Documents are never changed, so they themselves are the keys.
const parts = new WeakMap<object, Part>();
let empty: FileConfig | undefined;

/** The configuration of these objects, which stay as they are from here on. */
export function parsedOf(objects: Objects, step?: Step): Parsed {
  const known = parsedBefore.get(objects);
  if (known !== undefined) return known;
  const parsed = (step === undefined ? undefined : stepped(step)) ?? {
    file: fileOf(objects.values()),
    config: configOf(objects.values()),
  };
  parsedBefore.set(objects, parsed);
  return parsed;
}

/** A cluster as its schema reads it; undefined for an invalid one and for any other object. */
export function clusterOf(object: ConfigObject): FileConfig["clusters"][string] | undefined {
  return object.kind === "cluster" ? partOf(object)?.clusters?.[object.name] : undefined;
}

/** Undefined where a step saves nothing over parsing everything. */
function stepped({ from, put }: Step): Parsed | undefined {
  const before = parsedBefore.get(from);
  const section = sectionOf(put);
  if (before?.config === undefined || section === undefined) return undefined;
  const { file, config } = before;
  const written = file[section];
  const part = partOf(put)?.[section]?.[put.name];
  if (part === undefined || !isMap(written)) return undefined;
  // Copies of a map are cheap, and keep the order that the objects have.
  return {
    file: { ...file, [section]: { ...written, [put.name]: put.body } },
    config: { ...config, [section]: { ...config[section], [put.name]: part } },
  };
}

function configOf(objects: Iterable<ConfigObject>): FileConfig | undefined {
  // The schema has no rule across sections: each is the same alone and beside the others.
  const sections = {
    clusters: new Map<string, unknown>(),
    clusterGroups: new Map<string, unknown>(),
    scripts: new Map<string, unknown>(),
  };
  const others: Partial<FileConfig>[] = [];
  for (const object of objects) {
    const config = partOf(object);
    if (config === undefined) return undefined;
    const section = sectionOf(object);
    if (section === undefined) others.push(config);
    else sections[section].set(object.name, config[section]?.[object.name]);
  }
  empty ??= fileSchema.parse({});
  const clusters = Object.fromEntries(sections.clusters);
  const clusterGroups = Object.fromEntries(sections.clusterGroups);
  const scripts = Object.fromEntries(sections.scripts);
  return Object.assign({ ...empty, clusters, clusterGroups, scripts }, ...others) as FileConfig;
}

function sectionOf({ kind }: ConfigObject): "clusters" | "clusterGroups" | "scripts" | undefined {
  if (kind === "cluster") return "clusters";
  if (kind === "script") return "scripts";
  return kind === "clusterGroup" ? "clusterGroups" : undefined;
}

function partOf(object: ConfigObject): Partial<FileConfig> | undefined {
  const { kind, name, body } = object;
  if (typeof body !== "object" || body === null) return undefined;
  const known = parts.get(body);
  if (known?.kind === kind && known.name === name) return known.config;
  // A setting of another name could stand in the place of a section.
  if (kind === "setting" && !settingNames.some((setting) => setting === name)) return undefined;
  const file = fileOf([object]);
  const read = fileSchema.safeParse(file);
  if (!read.success) return undefined;
  const given = Object.entries(read.data).filter(([key]) => Object.hasOwn(file, key));
  const config = Object.fromEntries(given) as Partial<FileConfig>;
  parts.set(body, { kind, name, config });
  return config;
}
