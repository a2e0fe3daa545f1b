/** Clusters behind real ADBC drivers, whose libraries lie in the folder that the environment names. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Backend, TableListing } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { open } from "@gateway/engines/adbc/adapter.ts";
import { adbcConfig } from "@gateway/engines/adbc/config.ts";
import { hostOf, valueOf } from "@gateway/engines/rig/backend.ts";

/** Where the drivers lie. */
export const driverFolder = process.env["GATEWAY_TEST_ADBC"] ?? "";
let clusters = 0;

/** A host that finds the drivers. */
export function driverHost(): Host {
  return { ...hostOf(), libraryFolders: [driverFolder] };
}

/** A library under a name that says nothing, which is all that is then known of it; `folder` is the caller's to remove. */
export async function unknownLibrary(path: string, folder: string): Promise<string> {
  const link = join(folder, "nobodys.so");
  await symlink(path, link);
  return link;
}

/** What two listings of one database must agree on. */
export function listedNames(tables: readonly TableListing[]): readonly string[] {
  return tables
    .map(({ catalog, schema, name, kind, columns }) => {
      const named = columns.map((column) => `${column.name} ${column.type.kind}`);
      return `${kind} ${catalog}.${schema}.${name}: ${named.join(", ")}`;
    })
    .toSorted();
}

/** A cluster of its own for each call. */
export async function clusterOf(config: object): Promise<Backend> {
  const parsed = adbcConfig.parse({ engine: "adbc", poolSize: 1, ...config });
  return valueOf(await open(`real${(clusters += 1)}`, parsed, driverHost()));
}

/** A cluster before the PostgreSQL server that the environment names. */
export function postgresCluster(more: object = {}): Promise<Backend> {
  const url = new URL(process.env["GATEWAY_TEST_POSTGRES"] ?? "");
  const password = url.password === "" ? "none" : url.password;
  const auth = { type: "basic", username: url.username, password };
  const uri = `postgresql://${url.host}${url.pathname}`;
  return clusterOf({ driver: "postgresql", uri, auth, ...more });
}
