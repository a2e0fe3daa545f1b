/**
 * A configuration as its schema reads it, put together from its objects, each of which is read once
 * for as long as it lives: a change of one object costs that object and not the other thousand.
 *
 * It knows only what is right. Where any object is not, the whole file is parsed for its faults
 * (judge.ts), so that those are the same whichever way a configuration came.
 */
import { fileOf, settingNames, type ConfigObject } from "./file.ts";
import { fileSchema, type FileConfig } from "./objects.ts";

/** An object alone in a file, read. A document has one place; under another name it is read anew. */
interface Part extends Pick<ConfigObject, "kind" | "name"> {
  /** Only what the object itself gives: no section that a default filled. */
  readonly config: Partial<FileConfig>;
}

const parts = new WeakMap<object, Part>();
let empty: FileConfig | undefined;

/** What `fileSchema` makes of the file of these objects; undefined where it finds a fault. */
export function parsedOf(objects: Iterable<ConfigObject>): FileConfig | undefined {
  // The schema has no rule across sections: each is the same alone and beside the others.
  const clusters: Record<string, FileConfig["clusters"][string]> = {};
  const clusterGroups: Record<string, FileConfig["clusterGroups"][string]> = {};
  const others: Partial<FileConfig>[] = [];
  for (const object of objects) {
    const config = partOf(object);
    if (config === undefined) return undefined;
    const { kind, name } = object;
    const cluster = kind === "cluster" ? config.clusters?.[name] : undefined;
    const group = kind === "clusterGroup" ? config.clusterGroups?.[name] : undefined;
    // The schema let the name through, so it is none with a meaning to the language.
    if (cluster !== undefined) clusters[name] = cluster;
    else if (group !== undefined) clusterGroups[name] = group;
    else others.push(config);
  }
  empty ??= fileSchema.parse({});
  return Object.assign({ ...empty, clusters, clusterGroups }, ...others) as FileConfig;
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
