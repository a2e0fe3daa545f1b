/** Which database object a cluster shares: by its file, or by its own name in memory. */
import type { Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../adbc/driver.ts";
import type { DriverThread } from "../adbc/driverThread.ts";
import type { DatabaseOptions } from "../adbc/message.ts";
import { inMemoryPath, shareObject, type DatabaseShare } from "../adbc/sharing.ts";
import type { DuckDbConfig } from "./config.ts";

/** What two openings must agree on to share an object; other settings belong to the cluster alone. */
export interface DatabaseKey {
  readonly cluster: string;
  /** From `realDatabasePath`. */
  readonly path: string;
  readonly config: DuckDbConfig;
}

/** Opens a database on `thread`, or takes a share in it when it is open already. Refuses other settings than it has. */
export function shareDatabase(
  { cluster, path, config }: DatabaseKey,
  options: DatabaseOptions,
  thread: DriverThread,
): Promise<Result<DatabaseShare, AdbcFailure>> {
  const key = path === inMemoryPath ? `memory:${cluster}` : `file:${path}`;
  return shareObject({ key, settings: settingsOf(config) }, options, thread);
}

function settingsOf({
  readOnly,
  memoryLimit,
  threads,
  allowedDirectories,
  tempDirectory,
}: DuckDbConfig): string {
  return JSON.stringify([readOnly, memoryLimit, threads, allowedDirectories, tempDirectory]);
}
