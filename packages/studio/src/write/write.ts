/** Writes of configuration objects: with the version that was read, and the cache told afterwards. */
import { cache } from "../api/cache.ts";
import { ApiError, ask, type Expected } from "../api/client.ts";
import { objectQuery } from "../api/queries.ts";
import type { ConfigObject, Written } from "../api/shapes.ts";
import type { JsonObject } from "../tool/json.ts";

export type WriteResult =
  | { readonly kind: "written"; readonly object: ConfigObject & Written }
  /** Somebody was there first; null: it is gone. */
  | { readonly kind: "conflict"; readonly theirs: ConfigObject | null };

/** `path` as `/clusters/main`. Throws every refusal but a lost update. */
export async function putObject(
  path: string,
  body: JsonObject,
  expected: Expected,
): Promise<WriteResult> {
  try {
    const object = await ask<ConfigObject & Written>(path, { method: "PUT", body, expected });
    await told(path);
    return { kind: "written", object };
  } catch (error) {
    if (!isLostUpdate(error)) throw error;
    return { kind: "conflict", theirs: await readAnew(path) };
  }
}

/** As `putObject`. */
export async function deleteObject(path: string, version: number): Promise<void> {
  await ask<Written>(path, { method: "DELETE", expected: version });
  cache.removeQueries({ queryKey: objectQuery(path).queryKey });
  await told(path);
}

export function isLostUpdate(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

function readAnew(path: string): Promise<ConfigObject | null> {
  return cache.fetchQuery({ ...objectQuery(path), staleTime: 0 });
}

async function told(path: string): Promise<void> {
  await Promise.all([
    cache.invalidateQueries({ queryKey: ["objects"] }),
    cache.invalidateQueries({ queryKey: objectQuery(path).queryKey }),
    cache.invalidateQueries({ queryKey: ["revisions"] }),
    cache.invalidateQueries({ queryKey: ["status"] }),
  ]);
}
