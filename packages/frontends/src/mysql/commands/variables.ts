/**
 * The `@@` variables: what a client may ask for and set, and what it is told.
 *
 * The session keeps variables that can be set, and `set.ts` acts on those that mean something to the
 * gateway. Any other variable is unknown, as on a server. Values are those of MySQL 8.4 unless the
 * gateway really differs.
 */
import {
  lastInsertId,
  trackedVariablesDefault,
  waitSecsDefault,
  type ClientSession,
  type Setting,
} from "../session/clientSession.ts";
import { compressionNames } from "../compression.ts";
import { preparedMax } from "../limits.ts";
import { serverVersion } from "./server.ts";

/** What variables are computed from. */
export interface VariableContext {
  readonly client: ClientSession;
  /** Bytes of the longest packet that is taken here. */
  readonly packetBytesMax: () => number;
  readonly maxConnections: number;
  readonly port: number;
  /** Whether the listener offers TLS. */
  readonly tls: boolean;
  /** Unix milliseconds. */
  nowMs: number;
  /** True where only engines of MySQL's family can be reached: what is not about the session is theirs to say. */
  readonly ownWords: () => boolean;
  /** True where statements go to servers that speak MySQL to the client. */
  readonly relays: () => boolean;
  /** What the engine was asked for and said, by the expression. */
  readonly told?: ReadonlyMap<string, Setting>;
}

/** Names of the variables that a session may set, and what they are before. */
const settable: Readonly<Record<string, Setting>> = {
  auto_increment_increment: 1n,
  auto_increment_offset: 1n,
  big_tables: 0n,
  binlog_format: "ROW",
  bulk_insert_buffer_size: 8_388_608n,
  cte_max_recursion_depth: 1000n,
  default_storage_engine: "Gateway",
  default_tmp_storage_engine: "Gateway",
  default_week_format: 0n,
  div_precision_increment: 4n,
  explicit_defaults_for_timestamp: 1n,
  foreign_key_checks: 1n,
  group_concat_max_len: 1024n,
  information_schema_stats_expiry: 86_400n,
  innodb_lock_wait_timeout: 50n,
  interactive_timeout: waitSecsDefault,
  join_buffer_size: 262_144n,
  lc_messages: "en_US",
  lc_time_names: "en_US",
  lock_wait_timeout: 31_536_000n,
  low_priority_updates: 0n,
  max_execution_time: 0n,
  max_heap_table_size: 16_777_216n,
  max_join_size: 18_446_744_073_709_551_615n,
  max_length_for_sort_data: 4096n,
  max_sort_length: 1024n,
  net_buffer_length: 16_384n,
  net_read_timeout: 30n,
  net_retry_count: 10n,
  net_write_timeout: 60n,
  optimizer_search_depth: 62n,
  optimizer_switch: "",
  profiling: 0n,
  query_cache_type: "OFF",
  read_buffer_size: 131_072n,
  session_track_gtids: "OFF",
  session_track_schema: 1n,
  session_track_state_change: 0n,
  session_track_system_variables: trackedVariablesDefault,
  session_track_transaction_info: "OFF",
  show_create_table_verbosity: 0n,
  sort_buffer_size: 262_144n,
  sql_auto_is_null: 0n,
  sql_big_selects: 1n,
  sql_buffer_result: 0n,
  sql_mode:
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
  sql_notes: 1n,
  sql_quote_show_create: 1n,
  sql_safe_updates: 0n,
  sql_select_limit: 18_446_744_073_709_551_615n,
  sql_warnings: 0n,
  tmp_table_size: 16_777_216n,
  unique_checks: 1n,
  updatable_views_with_limit: "YES",
  wait_timeout: waitSecsDefault,
  windowing_use_high_precision: 1n,
};

/** Names whose value follows from the session or the listener. `set.ts` knows which of them can be set. */
const computed: Readonly<Record<string, (context: VariableContext) => Setting>> = {
  autocommit: ({ client }) => (client.autocommit ? 1n : 0n),
  character_set_client: ({ client }) => client.charset.name,
  character_set_connection: ({ client }) => client.charset.name,
  character_set_results: ({ client }) => {
    const set = client.settings.get("character_set_results");
    return set === undefined ? "utf8mb4" : set;
  },
  collation_connection: ({ client }) => client.charset.collation,
  error_count: ({ client }) =>
    BigInt(client.warnings.filter(({ level }) => level === "Error").length),
  identity: ({ client }) => lastInsertId(client),
  last_insert_id: ({ client }) => lastInsertId(client),
  have_openssl: ({ tls }) => (tls ? "YES" : "DISABLED"),
  have_ssl: ({ tls }) => (tls ? "YES" : "DISABLED"),
  max_allowed_packet: ({ packetBytesMax }) => BigInt(packetBytesMax()),
  max_connections: ({ maxConnections }) => BigInt(maxConnections),
  port: ({ port }) => BigInt(port),
  pseudo_thread_id: ({ client }) => BigInt(client.connectionId),
  time_zone: ({ client }) => client.settings.get("time_zone") ?? "SYSTEM",
  timestamp: ({ nowMs }) => (nowMs / 1000).toFixed(6),
  transaction_isolation: ({ client }) => isolationOf(client),
  transaction_read_only: ({ client }) => (client.readOnly ? 1n : 0n),
  tx_isolation: ({ client }) => isolationOf(client),
  tx_read_only: ({ client }) => (client.readOnly ? 1n : 0n),
  warning_count: ({ client }) => BigInt(client.warnings.length),
};

const fixed: Readonly<Record<string, Setting>> = {
  authentication_policy: "*,,",
  basedir: "/",
  character_set_database: "utf8mb4",
  character_set_filesystem: "binary",
  character_set_server: "utf8mb4",
  character_set_system: "utf8mb3",
  character_sets_dir: "/",
  collation_database: "utf8mb4_0900_ai_ci",
  collation_server: "utf8mb4_0900_ai_ci",
  connect_timeout: 10n,
  datadir: "/",
  event_scheduler: "OFF",
  general_log: 0n,
  gtid_mode: "OFF",

  have_profiling: "NO",
  have_query_cache: "NO",

  hostname: "gateway",
  init_connect: "",
  innodb_version: "8.4.0",
  insert_id: 0n,
  keyring_file_data: null,
  license: "Apache-2.0",
  local_infile: 0n,
  log_bin: 0n,
  lower_case_file_system: 0n,
  lower_case_table_names: 0n,
  max_prepared_stmt_count: BigInt(preparedMax),
  max_user_connections: 0n,
  performance_schema: 0n,
  pid_file: "",
  protocol_compression_algorithms: compressionNames,
  protocol_version: 10n,
  query_cache_size: 0n,
  read_only: 0n,
  secure_file_priv: null,
  server_id: 0n,
  skip_networking: 0n,
  skip_show_database: 0n,
  slow_query_log: 0n,
  socket: "",
  sql_log_bin: 0n,
  super_read_only: 0n,
  system_time_zone: "UTC",
  table_open_cache: 4000n,
  thread_cache_size: 0n,
  tls_version: "TLSv1.2,TLSv1.3",
  tmpdir: "/",
  version: serverVersion,
  version_comment: "Query Gateway",
  version_compile_machine: "x86_64",
  version_compile_os: "Linux",
  version_compile_zlib: "1.3.1",
};

/** How a client may treat a variable. */
export type VariableKind = "settable" | "computed" | "fixed";

/** Undefined for a name no server of ours has. `name` is in lower case. */
export function variableKind(name: string): VariableKind | undefined {
  if (Object.hasOwn(settable, name)) return "settable";
  if (Object.hasOwn(computed, name)) return "computed";
  return Object.hasOwn(fixed, name) ? "fixed" : undefined;
}

/** The value as it is now; undefined for an unknown name. */
export function variableValue(name: string, context: VariableContext): Setting | undefined {
  const compute = Object.hasOwn(computed, name) ? computed[name] : undefined;
  if (compute !== undefined) return compute(context);
  if (Object.hasOwn(fixed, name)) return fixed[name];
  if (!Object.hasOwn(settable, name)) return undefined;
  const set = context.client.settings.get(name);
  return set === undefined ? settable[name] : set;
}

/** What DEFAULT means for a variable that can be set. */
export function variableDefault(name: string): Setting | undefined {
  return Object.hasOwn(settable, name) ? settable[name] : undefined;
}

/** Every name in order, for SHOW VARIABLES. */
export const variableNames: readonly string[] = [
  ...Object.keys(settable),
  ...Object.keys(computed),
  ...Object.keys(fixed),
].toSorted();

/** Names whose numbers SHOW VARIABLES prints as ON and OFF. */
const switches: ReadonlySet<string> = new Set([
  "autocommit",
  "big_tables",
  "explicit_defaults_for_timestamp",
  "foreign_key_checks",
  "general_log",
  "local_infile",
  "log_bin",
  "low_priority_updates",
  "lower_case_file_system",
  "performance_schema",
  "profiling",
  "read_only",
  "session_track_schema",
  "session_track_state_change",
  "skip_networking",
  "skip_show_database",
  "slow_query_log",
  "sql_auto_is_null",
  "sql_big_selects",
  "sql_buffer_result",
  "sql_log_bin",
  "sql_notes",
  "sql_quote_show_create",
  "sql_safe_updates",
  "sql_warnings",
  "super_read_only",
  "transaction_read_only",
  "tx_read_only",
  "unique_checks",
  "windowing_use_high_precision",
]);

/** True when the variable is shown as ON or OFF and may be set by these words. */
export function isSwitch(name: string): boolean {
  return switches.has(name);
}

/** What holds when nobody asked for another level. */
export const defaultIsolation = "READ-COMMITTED";

function isolationOf(client: ClientSession): Setting {
  return client.settings.get("transaction_isolation") ?? defaultIsolation;
}
