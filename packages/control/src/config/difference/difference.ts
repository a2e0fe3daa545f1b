/** What differs between two configurations, object by object and path by path, without a secret's value. */
import type { Json } from "@gateway/contract/canonical.ts";
import { hideSecrets } from "../secret/object.ts";
import type { Difference } from "../configuration.ts";
import { isList, isMap, keyOf, type ConfigObject } from "../file.ts";
import { valueAt, type Path } from "../keys.ts";
import { textOf } from "../check/report.ts";
import { canonicalOf } from "../documentText.ts";

type Objects = ReadonlyMap<string, ConfigObject>;

/** Differences sorted by object. */
export function differencesOf(from: Objects, to: Objects): readonly Difference[] {
  const keys = [...new Set([...from.keys(), ...to.keys()])].toSorted();
  return keys.flatMap((key) => differenceOf(from.get(key), to.get(key)));
}

/** True for the same object with the same content, whatever order its keys have. */
export function sameBody(a: Json, b: Json): boolean {
  return canonicalOf(a) === canonicalOf(b);
}

/** Objects by `keyOf`. */
export function byKey<Named extends ConfigObject>(
  objects: Iterable<Named>,
): ReadonlyMap<string, Named> {
  return new Map([...objects].map((object) => [keyOf(object), object]));
}

function differenceOf(
  from: ConfigObject | undefined,
  to: ConfigObject | undefined,
): readonly Difference[] {
  const object = to ?? from;
  if (object === undefined) return [];
  const { kind, name } = object;
  if (from === undefined) return [{ object: { kind, name }, kind: "added", changes: [] }];
  if (to === undefined) return [{ object: { kind, name }, kind: "removed", changes: [] }];
  if (sameBody(from.body, to.body)) return [];
  const shown = { from: hideSecrets(from), to: hideSecrets(to) };
  const changes = pathsThatDiffer(from.body, to.body, []).map((path) =>
    changeAt(shownPath(path, shown), shown),
  );
  return [{ object: { kind, name }, kind: "changed", changes }];
}

interface Shown {
  readonly from: Json;
  readonly to: Json;
}

function changeAt(path: Path, { from, to }: Shown): Difference["changes"][number] {
  const old = valueAt(from, path) as Json | undefined;
  const now = valueAt(to, path) as Json | undefined;
  return {
    path: textOf(path),
    ...(old === undefined ? {} : { from: old }),
    ...(now === undefined ? {} : { to: now }),
  };
}

/** A secret may be a map; the path ends where the shown form has nothing below. */
function shownPath(path: Path, { from, to }: Shown): Path {
  const end = path.findIndex((_, index) => {
    const parent = path.slice(0, index + 1);
    return valueAt(from, parent) === undefined && valueAt(to, parent) === undefined;
  });
  return end < 0 ? path : path.slice(0, end);
}

/** Leaves first: an object that differs is named by the members that do. */
function pathsThatDiffer(
  from: Json | undefined,
  to: Json | undefined,
  path: Path,
): readonly Path[] {
  if (from !== undefined && to !== undefined && sameBody(from, to)) return [];
  if (isMap(from) && isMap(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
    return keys.flatMap((key) => pathsThatDiffer(own(from, key), own(to, key), [...path, key]));
  }
  if (isList(from) && isList(to)) {
    const length = Math.max(from.length, to.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      pathsThatDiffer(from[index], to[index], [...path, index]),
    );
  }
  return from === undefined && to === undefined ? [] : [path];
}

function own(map: Readonly<Record<string, Json | undefined>>, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
