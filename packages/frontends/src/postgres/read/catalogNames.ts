/** Names that show a statement to be about catalogs: relations, functions and words of PostgreSQL. */

/** Tables and views of `pg_catalog`. A name that only begins like one may be a table of the backend. */
const relations: ReadonlySet<string> = new Set(
  `
  pg_aggregate pg_aios pg_am pg_amop pg_amproc pg_attrdef pg_attribute pg_auth_members pg_authid 
  pg_available_extension_versions pg_available_extensions pg_backend_memory_contexts pg_cast 
  pg_class pg_collation pg_config pg_constraint pg_conversion pg_cursors pg_database 
  pg_db_role_setting pg_default_acl pg_depend pg_description pg_enum pg_event_trigger 
  pg_extension pg_file_settings pg_foreign_data_wrapper pg_foreign_server pg_foreign_table 
  pg_group pg_hba_file_rules pg_ident_file_mappings pg_index pg_indexes pg_inherits pg_init_privs 
  pg_language pg_largeobject pg_largeobject_metadata pg_locks pg_matviews pg_namespace pg_opclass 
  pg_operator pg_opfamily pg_parameter_acl pg_partitioned_table pg_policies pg_policy 
  pg_prepared_statements pg_prepared_xacts pg_proc pg_publication pg_publication_namespace 
  pg_publication_rel pg_publication_tables pg_range pg_replication_origin 
  pg_replication_origin_status pg_replication_slots pg_rewrite pg_roles pg_rules pg_seclabel 
  pg_seclabels pg_sequence pg_sequences pg_settings pg_shadow pg_shdepend pg_shdescription 
  pg_shmem_allocations pg_shmem_allocations_numa pg_shseclabel pg_stat_activity 
  pg_stat_all_indexes pg_stat_all_tables pg_stat_archiver pg_stat_bgwriter pg_stat_checkpointer 
  pg_stat_database pg_stat_database_conflicts pg_stat_gssapi pg_stat_io pg_stat_progress_analyze 
  pg_stat_progress_basebackup pg_stat_progress_cluster pg_stat_progress_copy 
  pg_stat_progress_create_index pg_stat_progress_vacuum pg_stat_recovery_prefetch 
  pg_stat_replication pg_stat_replication_slots pg_stat_slru pg_stat_ssl pg_stat_subscription 
  pg_stat_subscription_stats pg_stat_sys_indexes pg_stat_sys_tables pg_stat_user_functions 
  pg_stat_user_indexes pg_stat_user_tables pg_stat_wal pg_stat_wal_receiver 
  pg_stat_xact_all_tables pg_stat_xact_sys_tables pg_stat_xact_user_functions 
  pg_stat_xact_user_tables pg_statio_all_indexes pg_statio_all_sequences pg_statio_all_tables 
  pg_statio_sys_indexes pg_statio_sys_sequences pg_statio_sys_tables pg_statio_user_indexes 
  pg_statio_user_sequences pg_statio_user_tables pg_statistic pg_statistic_ext 
  pg_statistic_ext_data pg_stats pg_stats_ext pg_stats_ext_exprs pg_subscription 
  pg_subscription_rel pg_tables pg_tablespace pg_timezone_abbrevs pg_timezone_names pg_transform 
  pg_trigger pg_ts_config pg_ts_config_map pg_ts_dict pg_ts_parser pg_ts_template pg_type pg_user 
  pg_user_mapping pg_user_mappings pg_views pg_wait_events
`
    .trim()
    .split(/\s+/),
);

/** True for a relation of `pg_catalog`, by its name alone. */
export function catalogRelation(name: string): boolean {
  return relations.has(name);
}

const functions: ReadonlySet<string> = new Set(
  `
  aclexplode acldefault col_description current_database current_schema current_schemas
  current_setting format_type getdatabaseencoding inet_client_addr inet_client_port
  inet_server_addr inet_server_port obj_description set_config shobj_description to_regclass
  to_regnamespace to_regoper to_regoperator to_regproc to_regprocedure to_regrole to_regtype
  to_regcollation txid_current version
`
    .trim()
    .split(/\s+/),
);

/** True for a function that is about the server, its catalogs or the session. */
export function catalogFunction(name: string): boolean {
  return functions.has(name) || name.startsWith("pg_") || /^has_\w+_privilege$/.test(name);
}

/** True for a function that is about the session, and names nothing that an engine has. */
export function sessionFunction(name: string): boolean {
  return session.test(name);
}

const session =
  /^(?:current_(?:database|setting|catalog|role|user)|session_user|set_config|version|getdatabaseencoding|inet_(?:client|server)_(?:addr|port)|pg_(?:backend_pid|client_encoding|is_in_recovery|advisory_unlock_all))$/;

/**
 * True for a function whose answer only the engine can know: sizes, statistics, waits, locks, transactions, the
 * log. The mirror's tables are empty and its sessions its own.
 */
export function liveFunction(name: string): boolean {
  return live.test(name) && name !== "pg_column_size";
}

const live =
  /^(?:pg_(?:\w+_size|stat_\w+|sleep\w*|(?:try_)?advisory_xact_lock\w*|\w*blocking_pids|lock_status|isolation_test\w*|wal\w*|current_(?:wal|xact|snapshot)\w*|last_(?:wal|xact|committed)\w*|xact_\w+|snapshot_\w+|postmaster_start_time|conf_load_time)|txid_\w+)$/;

/** True for a relation that shows the same. */
export function liveRelation(name: string): boolean {
  return liveRelations.test(name);
}

const liveRelations =
  /^pg_(?:locks|prepared_xacts|replication_slots|stats|stats_ext|stats_ext_exprs|stat(?:io)?_\w+)$/;

/**
 * True for a function that locks something, or lets it go, for as long as the session lasts: our connections to an
 * engine are shared, so the lock would be gone with its statement.
 */
export function sessionLock(name: string): boolean {
  return /^pg_(?:try_)?advisory_(?:lock|unlock)(?:_shared)?$/.test(name);
}

/** Functions of every PostgreSQL, and keywords before a bracket: they do not show what a statement is about. */
const plain: ReadonlySet<string> = new Set(
  `
  abs all and any array array_agg array_append array_cat array_length array_position
  array_positions array_prepend array_remove array_to_json array_to_string array_upper as avg
  between bigint bit bool_and bool_or btrim by case cast char chr coalesce concat concat_ws count
  distinct else except exists extract filter format from generate_series generate_subscripts
  greatest group having in initcap int4range integer intersect is json_agg json_build_array
  json_build_object json_each json_object_agg jsonb_agg jsonb_build_object jsonb_each
  jsonb_object_agg justify_interval least left length like lower lpad ltrim materialized max md5 min not now
  nullif numeric octet_length on or order over overlay partition position quote_ident
  quote_literal quote_nullable regexp_match regexp_matches regexp_replace regexp_split_to_array
  regexp_split_to_table repeat replace reverse right round row row_number row_to_json rpad rtrim
  select set some split_part starts_with string_agg string_to_array string_to_table strpos
  substr substring sum then timestamp to_char to_json to_jsonb translate trim union unnest upper
  using values varchar when where with
`
    .trim()
    .split(/\s+/),
);

export function plainFunction(name: string): boolean {
  return plain.has(name);
}

const words: ReadonlySet<string> = new Set([
  "current_catalog",
  "current_role",
  "current_schema",
  "current_user",
  "session_user",
]);

/** True for a word without brackets that asks about the session. */
export function systemWord(word: string): boolean {
  return words.has(word);
}
