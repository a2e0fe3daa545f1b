/**
 * What becomes of a client's settings. A ClickHouse cluster gets all of them. Before other engines some are obeyed
 * here, some say only how a ClickHouse server should work, and any other is refused: it would not be done.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { named } from "../errors.ts";
import type { FormatLook } from "../encode.ts";
import { isOn } from "../read/fields.ts";

/** Settings that are done here, whatever the engine. */
const obeyed: ReadonlySet<string> = new Set([
  "client_protocol_version",
  "enable_http_compression",
  "max_execution_time",
  "output_format_json_quote_64bit_integers",
  "output_format_json_quote_decimals",
  "output_format_json_quote_denormals",
  "readonly",
]);

/** Settings that never change what is answered. */
const indifferent: ReadonlySet<string> = new Set([
  "add_http_cors_header",
  "cancel_http_readonly_queries_on_client_close",
  "connect_timeout",
  "http_headers_progress_interval_ms",
  "http_receive_timeout",
  "http_response_buffer_size",
  "http_send_timeout",
  "http_write_exception_in_output_format",
  "http_zlib_compression_level",
  "log_comment",
  "log_queries",
  "max_block_size",
  "max_insert_threads",
  "max_threads",
  "network_compression_method",
  "optimize_read_in_order",
  "output_format_parallel_formatting",
  "receive_timeout",
  "send_progress_in_http_headers",
  "send_timeout",
  "use_query_cache",
  "use_uncompressed_cache",
]);

/** The settings that a client may be told of; what `system.settings` lists before other engines. */
export const knownSettings: readonly string[] = [...obeyed, ...indifferent].toSorted();

/** The refusal of the first setting that only a ClickHouse server knows; undefined where all are done here. */
export function strangeSetting(settings: ReadonlyMap<string, string>): GatewayError | undefined {
  for (const name of settings.keys()) {
    if (obeyed.has(name) || indifferent.has(name)) continue;
    const message = `Setting ${name} is for a ClickHouse cluster only`;
    return gatewayError("query.unsupported", { message, vendor: named("UNKNOWN_SETTING") });
  }
  return undefined;
}

/** Newest version of Native that is written here. */
const nativeRevisionMax = 54_453;

const plainLook = readLook(new Map());

/** How rows are written. */
export function lookOf(settings: ReadonlyMap<string, string>): FormatLook {
  return settings.size === 0 ? plainLook : readLook(settings);
}

function readLook(settings: ReadonlyMap<string, string>): FormatLook {
  const on = (name: string, otherwise: boolean): boolean => {
    const value = settings.get(name);
    return value === undefined ? otherwise : isOn(value);
  };
  return {
    // A number beyond 2^53 loses digits in JavaScript without a word.
    quotes64: on("output_format_json_quote_64bit_integers", true),
    quotesDecimals: on("output_format_json_quote_decimals", false),
    quotesDenormals: on("output_format_json_quote_denormals", false),
    nativeRevision: Math.min(
      Number(settings.get("client_protocol_version") ?? 0) || 0,
      nativeRevisionMax,
    ),
  };
}

/** Milliseconds that the statement may take by its client's own word; undefined for no limit. */
export function limitMsOf(settings: ReadonlyMap<string, string>): number | undefined {
  if (settings.size === 0) return undefined;
  const seconds = Number(settings.get("max_execution_time") ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}

/** True where the client asked for reads only. */
export function readsOnly(settings: ReadonlyMap<string, string>): boolean {
  return (settings.get("readonly") ?? "0") !== "0";
}
