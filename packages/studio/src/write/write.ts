/** Writes of configuration objects: with the version that was read, and the cache told afterwards. */
import { cache } from "../api/cache.ts";
import { ApiError, type Expected } from "../api/client.ts";
import { objectQuery, type Collection } from "../api/queries.ts";
import type { ConfigObject, Written } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import type { JsonObject } from "../tool/json.ts";

/** `/clusters/main` */
export type NamedPath = `/${Collection}/${string}`;
export type ObjectPath = NamedPath | "/routing";

export type WriteResult =
  | { readonly kind: "written"; readonly object: ConfigObject & Written }
  /** Somebody was there first; null: it is gone. */
  | { readonly kind: "conflict"; readonly theirs: ConfigObject | null };

/** Throws every refusal but a lost update. */
export async function putObject(
  path: ObjectPath,
  body: JsonObject,
  expected: Expected,
): Promise<WriteResult> {
  try {
    const object = await write<ConfigObject & Written>(
      path === "/routing" ? "PUT /routing" : `PUT /${collectionOf(path)}/:name`,
      { names: namesIn(path), body, expected },
    );
    await told(path);
    return { kind: "written", object };
  } catch (error) {
    if (!isLostUpdate(error)) throw error;
    return { kind: "conflict", theirs: await readAnew(path) };
  }
}

/** As `putObject`. */
export async function deleteObject(path: NamedPath, version: number): Promise<void> {
  const route = `DELETE /${collectionOf(path)}/:name` as const;
  await write<Written>(route, { names: namesIn(path), expected: version });
  cache.removeQueries({ queryKey: objectQuery(path).queryKey });
  await told(path);
}

export function isLostUpdate(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

function collectionOf(path: NamedPath): Collection {
  return path.split("/")[1] as Collection;
}

function namesIn(path: ObjectPath): readonly string[] {
  return path.split("/").slice(2).map(decodeURIComponent);
}

function readAnew(path: ObjectPath): Promise<ConfigObject | null> {
  return cache.fetchQuery({ ...objectQuery(path), staleTime: 0 });
}

async function told(path: ObjectPath): Promise<void> {
  await Promise.all([
    cache.invalidateQueries({ queryKey: ["objects"] }),
    cache.invalidateQueries({ queryKey: objectQuery(path).queryKey }),
    cache.invalidateQueries({ queryKey: ["revisions"] }),
    cache.invalidateQueries({ queryKey: ["status"] }),
  ]);
}
