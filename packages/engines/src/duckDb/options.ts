/**
 * How the database is opened: what the engine itself locks, and in which order.
 *
 * External access is switched off after the allowed directories were set and the contents made,
 * because neither can be done afterwards; the lock comes last. Nothing here can be changed by a client.
 */
import type { DatabaseOptions, SetupStatement } from "../adbc/message.ts";
import type { DuckDbConfig } from "./config.ts";
import { quoteText } from "./quote.ts";

/** `path` is absolute, or `:memory:`. `contents` is run before the lock. */
export function databaseOptions(
  path: string,
  config: DuckDbConfig,
  contents: readonly SetupStatement[],
): DatabaseOptions {
  const { memoryLimit, threads, readOnly } = config;
  const options: (readonly [string, string])[] = [
    ["path", path],
    ["errors_as_json", "true"],
    // Without it 128-bit integers, times with an offset and UUIDs lose their type or their digits.
    ["arrow_lossless_conversion", "true"],
    ...temporaryFiles(config),
    ["autoinstall_known_extensions", "false"],
    ["autoload_known_extensions", "false"],
    ["allow_community_extensions", "false"],
    ["allow_persistent_secrets", "false"],
  ];
  if (threads !== undefined) options.push(["threads", `${threads}`]);
  if (memoryLimit !== undefined) options.push(["memory_limit", memoryLimit]);
  if (readOnly) options.push(["access_mode", "read_only"]);
  // A fault of the engine in one query otherwise makes the whole database refuse everything. Where
  // anything is written this must stay so: with it off, DuckDB keeps half of a failed statement.
  if (readOnly) options.push(["disable_database_invalidation", "true"]);
  return { options, setup: [...timeZone, ...contents, ...locks(config.allowedDirectories)] };
}

/** Answers do not depend on the zone of the machine; a session's own zone is applied where results are shown. */
const timeZone: readonly SetupStatement[] = [{ sql: "SET GLOBAL TimeZone = 'UTC'" }];

function locks(allowedDirectories: readonly string[]): readonly SetupStatement[] {
  const folders = allowedDirectories.map((folder) => quoteText(folder.replace(/\/*$/, "/")));
  return [
    { sql: `SET GLOBAL allowed_directories = [${folders.join(", ")}]` },
    { sql: "SET GLOBAL enable_external_access = false" },
    { sql: "SET GLOBAL lock_configuration = true" },
  ];
}

/**
 * DuckDB lets every query read the folder of its temporary files, so there is none unless the
 * operator names one. The files are then encrypted with a key of the process; DuckDB calls its
 * built-in cryptography unsafe because of its random numbers, and the config says so.
 */
function temporaryFiles({ tempDirectory }: DuckDbConfig): readonly (readonly [string, string])[] {
  if (tempDirectory === undefined) return [["temp_directory", ""]];
  return [
    ["temp_directory", tempDirectory],
    ["temp_file_encryption", "true"],
    ["force_mbedtls_unsafe", "true"],
  ];
}
