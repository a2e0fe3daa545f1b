/**
 * How the database is opened: what the engine itself locks, and in which order.
 *
 * External access is switched off after the allowed directories were set and the contents made,
 * because neither can be done afterwards; the lock comes last. Nothing here can be changed by a client.
 */
import { totalmem } from "node:os";
import type { DatabaseOptions, SetupStatement } from "../../native/message.ts";
import type { DuckDbConfig } from "../config.ts";
import { quoteText } from "../sql/quote.ts";

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
    // Otherwise what queries freed stays with the process until the next one.
    ["allocator_background_threads", "true"],
  ];
  if (threads !== undefined) options.push(["threads", `${threads}`]);
  if (memoryLimit !== undefined) options.push(["memory_limit", memoryLimit]);
  if (readOnly) options.push(["access_mode", "read_only"]);
  // A fault of the engine in one query otherwise makes the whole database refuse everything. Where
  // anything is written this must stay so: with it off, DuckDB keeps half of a failed statement.
  if (readOnly) options.push(["disable_database_invalidation", "true"]);
  return { options, setup: [...timeZone, ...contents, ...locks(config.allowedDirectories)] };
}

/** What parse trees, results on their way and the program itself may take beside the engine's buffers. */
const besideBuffersBytes = 2 ** 30;

/** Resident bytes beyond which the engine's process is ended: its own limit counts buffers alone. */
export function processMemoryMax({ memoryLimit }: DuckDbConfig): number {
  const [, number = "", unit = ""] = /^([0-9.]+)(\w+)$/.exec(memoryLimit ?? "") ?? [];
  const factor = unitBytes[unit];
  const machine = Math.floor(totalmem() * 0.9);
  return factor === undefined ? machine : Number(number) * factor + besideBuffersBytes;
}

const unitBytes: Readonly<Record<string, number>> = {
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

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
