/** Which database object a cluster shares: by its file, or by its own name in memory. */
import { realpath } from "node:fs/promises";
import type { Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import type { DatabaseOptions } from "../../native/message.ts";
import {
  inMemoryPath,
  realDatabasePath,
  shareObject,
  type DatabaseShare,
  type Opener,
} from "../../native/reach/sharing.ts";
import type { DuckDbConfig } from "../config.ts";

/** What two openings must agree on to share an object; other settings belong to the cluster alone. */
export interface DatabaseKey {
  readonly cluster: string;
  /** From `realDatabasePath`. */
  readonly path: string;
  readonly config: DuckDbConfig;
}

/** The key of a cluster's database, with all links followed. */
export async function databaseKeyOf(cluster: string, config: DuckDbConfig): Promise<DatabaseKey> {
  const path = realDatabasePath(config.databasePath);
  return { cluster, path, config: await withRealFolders(config) };
}

/** DuckDB compares paths as they are written, so links are followed here. */
async function withRealFolders(config: DuckDbConfig): Promise<DuckDbConfig> {
  const allowedDirectories = await Promise.all(
    config.allowedDirectories.map((folder) => realpath(folder).catch(() => folder)),
  );
  return { ...config, allowedDirectories };
}

/** Names the object, and the process it lives in. */
export function objectKey({ cluster, path }: Pick<DatabaseKey, "cluster" | "path">): string {
  return path === inMemoryPath ? `memory:${cluster}` : `file:${path}`;
}

/** Opens a database, or takes a share in it when it is open already. Refuses other settings than it has. */
export function shareDatabase(
  key: DatabaseKey,
  options: DatabaseOptions,
  opener: Opener,
): Promise<Result<DatabaseShare, AdbcFailure>> {
  const { config } = key;
  return shareObject({ key: objectKey(key), settings: settingsOf(config) }, options, opener);
}

const agreedOn = [
  "readOnly",
  "memoryLimit",
  "threads",
  "allowedDirectories",
  "tempDirectory",
  "isolation",
] as const satisfies readonly (keyof DuckDbConfig)[];

function settingsOf(config: DuckDbConfig): string {
  return JSON.stringify(agreedOn.map((name) => config[name]));
}
