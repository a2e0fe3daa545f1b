/**
 * Functions of DuckDB that no client may call, and pragmas that every client may use.
 *
 * A locked configuration does not hold these back: logging and profiling write files and standard
 * output (and end the process when the file may not be written), others take SQL as text and so get
 * around every check, or take raw addresses. A test asks the engine for all functions it has, so that
 * a new version can not bring one that nobody has judged.
 */

/** Lower-case names; refused wherever one is called. */
export const refusedFunctions: ReadonlySet<string> = new Set([
  // Their argument is SQL.
  "query",
  "json_execute_serialized_sql",
  "check_peg_parser",
  // They switch something on or off for the whole database.
  "enable_logging",
  "disable_logging",
  "enable_profiling",
  "disable_profiling",
  "enable_peg_parser",
  "disable_peg_parser",
  "truncate_duckdb_logs",
  "checkpoint",
  "force_checkpoint",
  // They show or forge what others did.
  "duckdb_logs",
  "duckdb_logs_parsed",
  "duckdb_log_contexts",
  "write_log",
  // They take addresses of memory.
  "arrow_scan",
  "arrow_scan_dumb",
  "seq_scan",
]);

/** Lower-case names; every other pragma is refused. None of them takes a value by `=`. */
export const harmlessPragmas: ReadonlySet<string> = new Set([
  "collations",
  "database_list",
  "database_size",
  "functions",
  "metadata_info",
  "platform",
  "show",
  "show_databases",
  "show_tables",
  "show_tables_expanded",
  "storage_info",
  "table_info",
  "user_agent",
  "version",
]);
