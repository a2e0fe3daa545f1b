/** Plain JSON values: equality, paths, differences of two and the merge of three. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}
export type Path = readonly (string | number)[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The order of keys means nothing. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => sameJson(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

export interface Change {
  readonly path: Path;
  /** Undefined: absent on that side. */
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** What differs, at the deepest place that is no list: a list that changed is one change. */
export function changesOf(from: unknown, to: unknown, path: Path = []): readonly Change[] {
  if (sameJson(from, to)) return [];
  if (!isObject(from) || !isObject(to)) {
    return [{ path, from: from as Json | undefined, to: to as Json | undefined }];
  }
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return keys.flatMap((key) => changesOf(own(from, key), own(to, key), [...path, key]));
}

/** The value with another at the path; undefined takes the key away. Objects on the way are made. */
export function withAt(value: unknown, path: Path, next: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...(value as readonly Json[])] : [];
    const made = withAt(list[key], rest, next);
    if (made === undefined) list.splice(key, 1);
    else list[key] = made;
    return list;
  }
  const entries = isObject(value) ? Object.entries(value) : [];
  const made = withAt(own(value, key), rest, next);
  const at = entries.findIndex(([name]) => name === key);
  if (made === undefined) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(at < 0 ? [...entries, [key, made]] : entries.with(at, [key, made]));
}

/** What is the value's own: a key may be called `toString`. */
function own(value: unknown, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export interface Merge {
  /** Theirs, with all of mine that nobody else touched. */
  readonly merged: Json;
  /** Changed on both sides to different values; `merged` has theirs there. */
  readonly clashes: readonly {
    readonly path: Path;
    readonly mine: Change;
    readonly theirs: Change;
  }[];
}

/** What two people made of one value, from where both began. */
export function mergeOf(base: Json, mine: Json, theirs: Json): Merge {
  const theirChanges = changesOf(base, theirs);
  const clashes: { path: Path; mine: Change; theirs: Change }[] = [];
  let merged = theirs;
  for (const change of changesOf(base, mine)) {
    const other = theirChanges.find(
      ({ path }) => within(path, change.path) || within(change.path, path),
    );
    if (other === undefined) merged = withAt(merged, change.path, change.to) ?? null;
    else if (!sameJson(other.to, change.to) || !sameJson(other.path, change.path)) {
      clashes.push({ path: change.path, mine: change, theirs: other });
    }
  }
  return { merged, clashes };
}

function within(path: Path, outer: Path): boolean {
  return outer.every((step, at) => path[at] === step);
}

/** `members`, `queryAuth.type`, `rules.0.regex` */
export function pathText(path: Path): string {
  return path.join(".");
}

/** On one line where it is short. */
export function jsonText(value: unknown): string {
  if (value === undefined) return "";
  const line = JSON.stringify(value);
  return line.length <= 72 ? line : JSON.stringify(value, undefined, 2);
}

/** A text of an object; empty where there is none. */
export function textAt(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}
