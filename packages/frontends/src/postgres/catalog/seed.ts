/**
 * Makes an empty PGlite a safe mirror: a reader without rights and without functions that have effects, and the
 * gateway's own answers about the server.
 *
 * It runs once, when the data folder is made; a mirror loads the result.
 */
import { serverVersion, serverVersionNumber, versionText } from "../session/settings.ts";

/** The role that statements run as. It gets the name of the session's user for as long as one statement runs. */
export const reader = "mirror_reader";

/**
 * Volatile functions without an effect beyond their answer. All other volatile functions are taken
 * from the reader: among them are locks, notifications, large objects, sequences and signals.
 */
const harmless = [
  "clock_timestamp",
  "gen_random_uuid",
  "pg_collation_actual_version",
  "pg_database_collation_actual_version",
  "pg_get_replication_slots",
  "pg_get_sequence_data",
  "pg_is_in_recovery",
  "pg_is_wal_replay_paused",
  "pg_jit_available",
  "pg_last_wal_receive_lsn",
  "pg_last_wal_replay_lsn",
  "pg_last_xact_replay_timestamp",
  "pg_partition_ancestors",
  "pg_partition_tree",
  "pg_prepared_xact",
  "pg_sequence_last_value",
  "pg_show_replication_origin_status",
  "pg_timezone_names",
  "pg_xact_commit_timestamp",
  "random",
  "timeofday",
];

/**
 * Functions about what the engine alone knows, and a mirror would answer for itself: they answer NULL, which is
 * PostgreSQL's own answer for what it does not know. So do all of one value that begin with `pg_stat_get_`.
 */
const unknown = [
  "pg_conf_load_time",
  "pg_database_size",
  "pg_indexes_size",
  "pg_postmaster_start_time",
  "pg_relation_size",
  "pg_table_size",
  "pg_tablespace_size",
  "pg_total_relation_size",
];

/**
 * Sizes and statistics are not known, and no view has rows of them. Sessions and locks are refused: an empty
 * answer would say that there are none.
 */
const liveSql = `
DO $$
DECLARE found record;
BEGIN
  FOR found IN
    SELECT p.oid::regprocedure AS own, p.proname AS name, p.proretset OR p.prorettype = 'record'::regtype AS wide,
      pg_get_function_identity_arguments(p.oid) AS arguments, p.prorettype::regtype AS type
    FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND (p.proname LIKE 'pg\\_stat\\_get\\_%' OR p.proname = ANY ('{${unknown.join(",")}}'))
  LOOP
    IF found.wide THEN
      EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', found.own);
      CONTINUE;
    END IF;
    EXECUTE format('ALTER FUNCTION %s RENAME TO %I', found.own, 'gateway_' || found.name);
    EXECUTE format('CREATE FUNCTION pg_catalog.%I(%s) RETURNS %s LANGUAGE sql STABLE AS ''SELECT NULL::%s''',
      found.name, found.arguments, found.type, found.type);
  END LOOP;
  FOR found IN
    SELECT c.relname AS name, rtrim(pg_get_viewdef(c.oid), ';') AS query FROM pg_catalog.pg_class c
    WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'v' AND c.relname ~ '^pg_stat(io)?_'
      AND c.relname <> 'pg_stat_activity'
  LOOP
    EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.%I AS SELECT * FROM (%s) AS known WHERE false', found.name, found.query);
  END LOOP;
END $$;
ALTER FUNCTION pg_catalog.pg_lock_status() RENAME TO gateway_lock_status;
GRANT EXECUTE ON FUNCTION pg_catalog.gateway_lock_status() TO PUBLIC;
REVOKE SELECT ON pg_catalog.pg_locks, pg_catalog.pg_stat_activity FROM PUBLIC;
`;

/** Settings that are the gateway's: which catalogs a client may expect, and the path as the client set it. */
const settingCase = (name: string, otherwise: string): string =>
  `CASE ${name} WHEN 'server_version' THEN '${serverVersion}'
    WHEN 'server_version_num' THEN '${serverVersionNumber}'
    WHEN 'search_path' THEN pg_catalog.gateway_setting('gateway.search_path', true)
    ELSE ${otherwise} END`;

/** The script, in one transaction. */
export const seedSql = `
BEGIN;
DROP SCHEMA public CASCADE;
-- No user has such a name, and \\du leaves it out.
UPDATE pg_catalog.pg_authid SET rolname = 'pg_gateway' WHERE oid = 10;
CREATE ROLE ${reader} LOGIN;
DO $$
DECLARE found regprocedure;
BEGIN
  FOR found IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
    WHERE p.provolatile = 'v' AND p.prokind = 'f'
      AND p.proname NOT LIKE 'pg\\_stat\\_get\\_%'
      AND NOT p.proname = ANY ('{${harmless.join(",")}}')
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', found);
  END LOOP;
END $$;
${liveSql}
REVOKE ALL ON LANGUAGE plpgsql FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC;

-- NOT NULL is a mark of the column, as clients of ${serverVersion} know it.
DELETE FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog.pg_constraint'::regclass
  AND objid IN (SELECT oid FROM pg_catalog.pg_constraint WHERE contype = 'n');
DELETE FROM pg_catalog.pg_constraint WHERE contype = 'n';

-- PostgreSQL calls what is built in by its number, whatever the catalog says of it: renamed, not replaced.
ALTER FUNCTION pg_catalog.version() RENAME TO gateway_version;
ALTER FUNCTION pg_catalog.pg_backend_pid() RENAME TO gateway_backend_pid;
ALTER FUNCTION pg_catalog.set_config(text, text, boolean) RENAME TO gateway_set_config;
REVOKE EXECUTE ON FUNCTION pg_catalog.gateway_set_config(text, text, boolean) FROM PUBLIC;
ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO gateway_setting;
ALTER FUNCTION pg_catalog.current_setting(text, boolean) RENAME TO gateway_setting;
CREATE FUNCTION pg_catalog.version() RETURNS text
  LANGUAGE sql STABLE AS $$ SELECT '${versionText}'::text $$;
CREATE FUNCTION pg_catalog.pg_backend_pid() RETURNS integer
  LANGUAGE sql STABLE AS $$ SELECT pg_catalog.gateway_setting('gateway.process')::integer $$;
-- A mirror remembers nothing between two statements.
CREATE FUNCTION pg_catalog.set_config(text, text, boolean) RETURNS text
  LANGUAGE sql STABLE AS $$ SELECT $2 $$;
CREATE FUNCTION pg_catalog.current_setting(text) RETURNS text
  LANGUAGE sql STABLE STRICT
  AS $$ SELECT ${settingCase("lower($1)", "pg_catalog.gateway_setting($1)")} $$;
CREATE FUNCTION pg_catalog.current_setting(text, boolean) RETURNS text
  LANGUAGE sql STABLE STRICT
  AS $$ SELECT ${settingCase("lower($1)", "pg_catalog.gateway_setting($1, $2)")} $$;
CREATE OR REPLACE VIEW pg_catalog.pg_settings AS
  SELECT a.name, ${settingCase("a.name", "a.setting")} AS setting, a.unit, a.category,
    a.short_desc, a.extra_desc, a.context, a.vartype, a.source, a.min_val, a.max_val, a.enumvals,
    a.boot_val, a.reset_val, a.sourcefile, a.sourceline, a.pending_restart
  FROM pg_catalog.pg_show_all_settings() a;

-- Names that a client of ${serverVersion} asks for and later releases renamed.
ALTER TABLE pg_catalog.pg_database RENAME TO pg_database_stored;
CREATE VIEW pg_catalog.pg_database AS
  SELECT d.*, d.datlocale AS daticulocale, d.xmin, d.tableoid
  FROM pg_catalog.pg_database_stored d WHERE NOT d.datistemplate;
ALTER TABLE pg_catalog.pg_collation RENAME TO pg_collation_stored;
CREATE VIEW pg_catalog.pg_collation AS
  SELECT c.*, c.colllocale AS colliculocale, c.xmin, c.tableoid
  FROM pg_catalog.pg_collation_stored c;
GRANT SELECT ON pg_catalog.pg_database, pg_catalog.pg_collation TO PUBLIC;
COMMIT;
`;
