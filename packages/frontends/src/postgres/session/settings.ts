/**
 * The run-time settings a PostgreSQL client may ask for and change: defaults, what is reported, what
 * is accepted.
 *
 * A setting that changes how values are written is followed or refused, never taken and ignored. Settings of
 * the planner are remembered for the client and have no effect, because there is no such planner.
 */
import type { Isolation } from "@gateway/core/sql/session/statement.ts";
import { charsetName } from "@gateway/wire/postgres/charset/charset.ts";
import { zoneOf } from "@gateway/core/type/zone.ts";
import { quantityText, type Unit } from "./units.ts";

export interface Setting {
  /** As PostgreSQL spells it. */
  readonly name: string;
  readonly initial: string;
  /** Told to the client at the start and on every change (GUC_REPORT). */
  readonly reported: boolean;
  /** The value in the form it is stored, or why it is refused. Absent: the setting can not be changed. */
  readonly accept?: Accept;
  /** The same where every engine that the session may reach is a PostgreSQL: it follows more. Absent where that is `accept`. */
  readonly acceptNative?: Accept;
}

type Accept = (value: string) => string | Refusal;

/** `invalid`: no such value exists. `unsupported`: PostgreSQL has it, we do not. */
export const invalid = Symbol("invalid");
export const unsupported = Symbol("unsupported");
export type Refusal = typeof invalid | typeof unsupported;

/** Clients branch on it, and our catalogs are those of 16. */
export const serverVersion = "16.0 (Query Gateway)";
export const serverVersionNumber = "160000";
export const versionText = `PostgreSQL ${serverVersion} on node, 64-bit`;

/** As `transaction_isolation` shows them. */
export const isolationNames = {
  readUncommitted: "read uncommitted",
  readCommitted: "read committed",
  repeatableRead: "repeatable read",
  serializable: "serializable",
} as const satisfies Record<Isolation, string>;

const any = (value: string): string => value;

function oneOf(...values: readonly string[]): (value: string) => string | Refusal {
  return (value) => (values.includes(value.toLowerCase()) ? value.toLowerCase() : unsupported);
}

function boolean(value: string): "on" | "off" | Refusal {
  if (/^(on|true|yes|1|t|y)$/i.test(value)) return "on";
  return /^(off|false|no|0|f|n)$/i.test(value) ? "off" : invalid;
}

function floatDigits(value: string): string | Refusal {
  const digits = /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : Number.NaN;
  return digits >= -15 && digits <= 3 ? `${digits}` : invalid;
}

/** We support one of the two values and refuse the other. */
function always(wanted: "on" | "off"): (value: string) => string | Refusal {
  return (value) => {
    const given = boolean(value);
    return given === wanted || given === invalid ? given : unsupported;
  };
}

/** PostgreSQL shortens it to the length of a name. */
const nameMax = 63;

function fixed(name: string, initial: string, reported = false): Setting {
  return { name, initial, reported };
}

function open(name: string, initial: string, accept: Accept = any, reported = false): Setting {
  return { name, initial, reported, accept };
}

/** A reported setting of which only a server of PostgreSQL follows every value. */
function followed(name: string, initial: string, accept: Accept, acceptNative: Accept): Setting {
  return { name, initial, reported: true, accept, acceptNative };
}

/** A setting that counts something, shown as PostgreSQL does. */
function counted(name: string, initial: string, unit: Unit, min = 0): Setting {
  return open(name, initial, (value) => quantityText(value, unit, min) ?? invalid);
}

const intervalStyles = ["postgres", "postgres_verbose", "sql_standard", "iso_8601"];

const list: readonly Setting[] = [
  fixed("server_version", serverVersion, true),
  fixed("server_version_num", serverVersionNumber),
  fixed("server_encoding", "UTF8", true),
  fixed("integer_datetimes", "on", true),
  fixed("is_superuser", "off", true),
  fixed("in_hot_standby", "off", true),
  fixed("session_authorization", "", true),
  fixed("max_identifier_length", "63"),
  fixed("max_index_keys", "32"),
  fixed("block_size", "8192"),
  fixed("lc_collate", "C"),
  fixed("lc_ctype", "C.UTF-8"),
  open("application_name", "", (value) => value.slice(0, nameMax), true),
  followed("client_encoding", "UTF8", encoding, anyEncoding),
  followed("DateStyle", "ISO, MDY", dateStyle, anyDateStyle),
  followed("IntervalStyle", "postgres", oneOf("postgres"), oneOf(...intervalStyles)),
  followed("TimeZone", "UTC", zone, (value) => zoneOf(value)?.name ?? value),
  open("standard_conforming_strings", "on", always("on"), true),
  followed("default_transaction_read_only", "off", always("off"), boolean),
  { ...followed("transaction_read_only", "off", always("off"), boolean), reported: false },
  open("default_transaction_isolation", "read committed", isolation),
  open("transaction_isolation", "read committed", isolation),
  open("default_transaction_deferrable", "off", boolean),
  open("transaction_deferrable", "off", boolean),
  open("search_path", '"$user", public'),
  counted("statement_timeout", "0", "ms"),
  { ...followed("bytea_output", "hex", oneOf("hex"), oneOf("hex", "escape")), reported: false },
  open("client_min_messages", "notice", messageLevel),
  open("extra_float_digits", "1", floatDigits),
  open("lc_messages", "C"),
  open("lc_monetary", "C"),
  open("lc_numeric", "C"),
  open("lc_time", "C"),
  counted("lock_timeout", "0", "ms"),
  counted("idle_in_transaction_session_timeout", "0", "ms"),
  counted("idle_session_timeout", "0", "ms"),
  counted("work_mem", "4MB", "kB"),
  counted("maintenance_work_mem", "64MB", "kB"),
  open("jit", "off", boolean),
  open("row_security", "on", boolean),
  open("synchronous_commit", "on"),
  open("check_function_bodies", "on", boolean),
  open("xmloption", "content"),
  open("xmlbinary", "base64"),
  open("default_tablespace", ""),
  open("default_table_access_method", "heap"),
  open("plan_cache_mode", "auto"),
  open("geqo", "on", boolean),
  open("geqo_threshold", "12"),
  open("from_collapse_limit", "8"),
  open("join_collapse_limit", "8"),
  open("random_page_cost", "4"),
  open("seq_page_cost", "1"),
  open("cpu_tuple_cost", "0.01"),
  counted("effective_cache_size", "4GB", "8kB"),
  open("effective_io_concurrency", "1"),
  open("max_parallel_workers_per_gather", "2"),
  open("constraint_exclusion", "partition"),
  open("cursor_tuple_fraction", "0.1"),
  open("default_statistics_target", "100"),
  counted("temp_buffers", "8MB", "8kB"),
  open("temp_tablespaces", ""),
  open("default_text_search_config", "pg_catalog.simple"),
  counted("transaction_timeout", "0", "ms"),
  counted("deadlock_timeout", "1s", "ms"),
  counted("tcp_keepalives_idle", "0", "s"),
  counted("tcp_keepalives_interval", "0", "s"),
  open("tcp_keepalives_count", "0"),
  counted("tcp_user_timeout", "0", "ms"),
  open("track_activities", "on", boolean),
  open("log_statement", "none"),
  open("log_min_messages", "warning"),
  counted("log_min_duration_statement", "-1", "ms", -1),
  open("session_replication_role", "origin"),
  open("ssl_renegotiation_limit", "0"),
  open("enable_hashagg", "on", boolean),
  open("enable_material", "on", boolean),
  open("enable_memoize", "on", boolean),
  open("enable_sort", "on", boolean),
  open("enable_indexonlyscan", "on", boolean),
  open("enable_tidscan", "on", boolean),
  open("enable_parallel_hash", "on", boolean),
  open("enable_parallel_append", "on", boolean),
  open("enable_partition_pruning", "on", boolean),
  open("enable_partitionwise_join", "off", boolean),
  open("enable_partitionwise_aggregate", "off", boolean),
  open("enable_hashjoin", "on", boolean),
  open("enable_mergejoin", "on", boolean),
  open("enable_nestloop", "on", boolean),
  open("enable_seqscan", "on", boolean),
  open("enable_indexscan", "on", boolean),
  open("enable_bitmapscan", "on", boolean),
  open("array_nulls", "on", always("on")),
  open("backslash_quote", "safe_encoding"),
  open("escape_string_warning", "on", boolean),
  open("quote_all_identifiers", "off", boolean),
  open("transform_null_equals", "off", always("off")),
  open("gateway.report_query_id", "auto", (value) =>
    value.toLowerCase() === "auto" ? "auto" : boolean(value),
  ),
  open("gateway.tags", ""),
  fixed("gateway.query_id", ""),
];

/** By lower-case name. */
export const settings: ReadonlyMap<string, Setting> = new Map(
  list.map((setting) => [setting.name.toLowerCase(), setting]),
);

/** Settings told to the client at the start, in this order. */
export const reportedSettings: readonly Setting[] = list.filter(({ reported }) => reported);

/** The bytes of other engines are always UTF-8. SQL_ASCII is taken as well, because it asks for no conversion. */
function encoding(value: string): string | Refusal {
  const name = value.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase();
  if (name === "UTF8" || name === "UNICODE") return "UTF8";
  return name === "SQLASCII" ? "SQL_ASCII" : unsupported;
}

/** A server of PostgreSQL writes and reads others too; they are followed where their texts can be read here. */
function anyEncoding(value: string): string | Refusal {
  const own = encoding(value);
  return typeof own === "symbol" ? (charsetName(value) ?? unsupported) : own;
}

/** Settings of which an engine of another kind follows one value alone. */
/** Not what a transaction is told by its BEGIN, which every engine that has transactions follows. */
const nativeSettings = list.filter(
  ({ name, acceptNative }) => acceptNative !== undefined && name !== "transaction_read_only",
);

/** The setting, by its name, whose value only a server of PostgreSQL follows. */
export function nativeAmong(values: ReadonlyMap<string, string>): string | undefined {
  return nativeSettings.find(({ name, accept }) => {
    const value = values.get(name.toLowerCase());
    return value !== undefined && typeof accept?.(value) === "symbol";
  })?.name;
}

/** A server of PostgreSQL also reads zones that are written as rules (`CET-1CEST`), and says itself which. */
function zone(value: string): string | Refusal {
  return zoneOf(value)?.name ?? invalid;
}

/** We write ISO only. The order of day and month is for reading dates, and we read them in ISO. */
function dateStyle(value: string): string | Refusal {
  const style = anyDateStyle(value);
  return typeof style === "symbol" || style.startsWith("ISO") ? style : unsupported;
}

/** Style and order as PostgreSQL shows them. What is not said stays as it is at the start. */
function anyDateStyle(value: string): string | Refusal {
  let style = "ISO";
  let order: string | undefined;
  for (const part of value.split(",").map((one) => one.trim().toUpperCase())) {
    const known = dateOrders.get(part);
    const named = dateStyles.find((one) => part.startsWith(one.toUpperCase()));
    if (known !== undefined) order = known;
    else if (named === undefined) return invalid;
    else style = named;
  }
  return `${style}, ${order ?? (style === "German" ? "DMY" : "MDY")}`;
}

const dateStyles = ["ISO", "Postgres", "SQL", "German"];

const dateOrders: ReadonlyMap<string, string> = new Map([
  ["MDY", "MDY"],
  ["US", "MDY"],
  ["NONEURO", "MDY"],
  ["DMY", "DMY"],
  ["EURO", "DMY"],
  ["EUROPEAN", "DMY"],
  ["YMD", "YMD"],
]);

/** Remembered for the client; how transactions are isolated is the engine's own. */
function isolation(value: string): string | Refusal {
  const level = value.toLowerCase().replaceAll(/\s+/g, " ");
  const known = ["serializable", "repeatable read", "read committed", "read uncommitted"];
  return known.includes(level) ? level : invalid;
}

const levels = [
  "debug5",
  "debug4",
  "debug3",
  "debug2",
  "debug1",
  "log",
  "notice",
  "warning",
  "error",
];

function messageLevel(value: string): string | Refusal {
  const level = value.toLowerCase();
  return levels.includes(level) ? level : invalid;
}

/** True when a client that set `client_min_messages` to `minimum` wants to see a message of `level`. */
export function wantsMessage(minimum: string, level: "notice" | "warning"): boolean {
  return levels.indexOf(level) >= levels.indexOf(minimum);
}
