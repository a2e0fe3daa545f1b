/** What a client may not do to the host, tried on the real engine with every disguise we know. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { inOneGo } from "@gateway/core/sql/reading/steps.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { guardAlong, guardStatement } from "./guard.ts";
import { textOf } from "../listing.ts";
import { harmlessPragmas, refusedFunctions } from "./refusedFunctions.ts";

let folder: string;
let backend: Backend;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "guard-"));
  await writeFile(join(folder, "in.csv"), "x,y\n1,2\n");
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1, allowedDirectories: [folder] });
  backend = valueOf(await open("guarded", config, hostOf()));
  await ran(backend, "create table t as select 1 as x, 2 as y");
});

afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** `OUT` is a file in the allowed folder that must never appear. */
const writesFiles: readonly string[] = [
  "copy t to 'OUT'",
  "COPY t TO 'OUT' (FORMAT parquet)",
  "copy (select 1) to 'OUT'",
  "copy (from t) to 'OUT'",
  "copy t(x) to 'OUT'",
  "  \n copy t to 'OUT'",
  ";copy t to 'OUT'",
  "-- comment\ncopy t to 'OUT'",
  "--\rcopy t to 'OUT'",
  "/* a */ copy t to 'OUT'",
  "/* a /* nested */ */copy t to 'OUT'",
  "copy/**/t/**/to/**/'OUT'",
  "copy\u00a0t to 'OUT'",
  "copy\u3000t\u2003to 'OUT'",
  "\ufeffcopy t to 'OUT'",
  "(copy t to 'OUT')",
  "copy t to $$OUT$$",
  "copy t to $x$OUT$x$",
  "copy t to e'OUT'",
  "copy \"t\" to 'OUT'",
  "copy memory.\"main\".t to 'OUT'",
  "copy t to 'OUT' with (header, delimiter ' from ')",
  "copy (select * from t) to 'OUT' -- from 'in.csv'",
  "copy \"from\" to 'OUT'",
  "copy t from 'IN' to 'OUT'",
  "explain copy t to 'OUT'",
  "explain analyze copy t to 'OUT'",
  "EXPLAIN ANALYSE copy t to 'OUT'",
  "explain (analyze) copy t to 'OUT'",
  "explain (analyze, format json) copy t to 'OUT'",
  "explain /* x */ analyze /* y */ copy t to 'OUT'",
  "explain (copy t to 'OUT')",
  "describe copy t to 'OUT'",
  "prepare p as copy t to 'OUT'",
  "execute p",
  "execute immediate 'copy t to ''OUT'''",
  "select 1; copy t to 'OUT'",
  "copy t to 'OUT'; select 1",
  "select 1;;;/* */copy t to 'OUT';",
  "with a as (select 1) copy a to 'OUT'",
  "create macro m() as table copy t to 'OUT'",
  "create view v as copy t to 'OUT'",
  "select * from (copy t to 'OUT')",
  "select * from query('copy t to ''OUT''')",
  "select * from QUERY('copy t to ''OUT''')",
  "select * from \"query\"('copy t to ''OUT''')",
  "select * from system.main.query /* */ ('copy t to ''OUT''')",
  "export database 'OUT'",
  "EXPORT DATABASE 'OUT' (FORMAT csv)",
  "explain analyze export database 'OUT'",
  "attach 'OUT' as other",
  "ATTACH DATABASE IF NOT EXISTS 'OUT' AS other (TYPE duckdb)",
  "copy from database memory to other",
  "set temp_directory = 'OUT'",
  "set log_query_path = 'OUT'",
  "pragma profiling_output = 'OUT'",
  "pragma enable_profiling = 'json'",
  "call enable_logging(storage = 'file', storage_path = 'OUT')",
  "call ENABLE_LOGGING('QueryLog', storage = 'file', storage_path = 'OUT')",
  "select * from enable_logging(storage = 'file', storage_path = 'OUT')",
  "from enable_profiling(save_location = 'OUT')",
  "call \"enable_profiling\"(save_location = 'OUT')",
  "create macro sneaky() as table from enable_logging(storage = 'file', storage_path = 'OUT')",
  "pragma json_execute_serialized_sql('{}')",
  "select * from json_execute_serialized_sql('{}')",
];

const reachesOut: readonly string[] = [
  "attach ':memory:' as other",
  "detach memory",
  "install json",
  "force install json",
  "load json",
  "load 'IN'",
  "update extensions",
  "update extensions (json)",
  "import database 'OUT'",
  "set enable_external_access = true",
  "set global allowed_directories = ['/']",
  "set lock_configuration = false",
  "reset lock_configuration",
  "set memory_limit = '1TB'",
  "set variable a = 1",
  "pragma threads = 64",
  "pragma memory_limit = '1TB'",
  "pragma disable_optimizer",
  "pragma enable_verification",
  "create secret s (type http, bearer_token 'x')",
  "create or replace persistent secret s (type http)",
  "drop secret s",
  "force checkpoint",
  "select * from force_checkpoint()",
  "call truncate_duckdb_logs()",
  "select write_log('forged')",
  "select * from duckdb_logs()",
  "select * from arrow_scan(1, 2, 3)",
  "do $$ begin end $$",
  "begin",
  "commit",
  "rollback",
  "savepoint a",
  "discard all",
];

const readsOutside: readonly string[] = [
  "select * from read_text('/etc/passwd')",
  "select * from read_csv('FOLDER/../../etc/passwd')",
  "select * from '/etc/passwd'",
  "select * from read_blob('/proc/self/environ')",
  "select * from glob('/*')",
  "select * from sniff_csv('/etc/passwd')",
  "copy t from '/etc/passwd'",
  "create view leak as select * from read_text('/etc/passwd')",
  "select * from parquet_metadata('/etc/passwd')",
];

const harmless: readonly string[] = [
  "select 1",
  "(select 1)",
  "values (1), (2)",
  "from t",
  "table t",
  "with a as (select 1 as x) select * from a",
  "show tables",
  "describe t",
  "describe select 1",
  "summarize t",
  "explain select 1",
  "explain analyze select * from t",
  "explain (format json) select 1",
  "explain (select 1)",
  "pragma version",
  "pragma table_info('t')",
  "call pragma_version()",
  "select 'copy t to x' as \"copy to\"",
  "select 1 -- copy t to 'x'",
  "select query from (select 1 as query)",
  "select * from read_csv('IN')",
  "select * from 'IN'",
  "copy t from 'IN'",
  "insert into t from 'IN'",
  "create table made as select 1 as a",
  "create or replace view made_view as from made",
  "create table temp (a integer)",
  "create index made_index on made (a)",
  "alter table made add column b integer",
  "comment on table made is 'to'",
  "update made set b = 1",
  "delete from made",
  "truncate made",
  "merge into made using t on made.a = t.x when not matched then insert values (1, 2)",
  "vacuum",
  "analyze",
  "checkpoint",
  "drop view made_view",
  "drop table made",
  "unpivot t on x, y",
  "pivot t on x using count(*)",
  "select 1;",
  "select 1; -- the end",
];

describe("guardStatement and the engine's locks", () => {
  for (const sql of writesFiles) {
    it(`keep files from being written by ${JSON.stringify(sql)}`, async () => {
      expect((await ran(backend, placed(sql))).last?.kind).toBe("failed");
      expect((await backend.describe(identifiedOf(placed(sql)), never)).ok).toBe(false);
      expect(await readdir(folder)).toEqual(["in.csv"]);
    });
  }

  for (const sql of [...reachesOut, ...readsOutside]) {
    it(`refuse ${JSON.stringify(sql)}`, async () => {
      expect((await ran(backend, placed(sql))).last?.kind).toBe("failed");
      expect(await readdir(folder)).toEqual(["in.csv"]);
    });
  }

  for (const sql of harmless) {
    it(`let through ${JSON.stringify(sql)}`, async () => {
      expect(await ran(backend, placed(sql))).toMatchObject({ last: { kind: "done" } });
    });
  }

  it("hold inside a transaction too", async () => {
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    for (const sql of [...writesFiles, ...reachesOut, ...readsOutside]) {
      const { last } = await ran(lane, placed(sql));
      expect([sql, last?.kind]).toEqual([sql, "failed"]);
    }
    expect(await readdir(folder)).toEqual(["in.csv"]);
  });

  it("leave the engine as it was", async () => {
    const { rows } = await ran(
      backend,
      "select count(*) from duckdb_databases() where not internal",
    );
    expect(rows).toEqual([[1n]]);
    const locked = await ran(
      backend,
      "select current_setting('lock_configuration'), current_setting('enable_external_access')",
    );
    expect(locked.rows).toEqual([[true, false]]);
  });
});

describe("guardStatement", () => {
  it("lets a statement that it can not read go no further than the engine's parser", async () => {
    expect(codeOf(await ran(backend, "selec 1"))).toBe("query.syntax");
    expect(codeOf(await ran(backend, "select 'open"))).toBe("query.syntax");
    for (const sql of ["selec 1", "select 'open"]) {
      const judged = guardStatement(sql, { pinned: false });
      expect(judged.ok && judged.value.expected.types).toEqual([]);
    }
  });

  it("refuses a NUL character, behind which the driver would not look", () => {
    const judged = guardStatement("select 1\0; copy t to 'x'", { pinned: false });
    expect(judged).toMatchObject({ ok: false, error: { code: "query.syntax" } });
  });

  it.each([
    ["comments", "select 1", "/**/", ""],
    ["comments inside comments", "select 1 ", "/*", "*/".repeat(1_001)],
    ["open comments", "select 1 ", "/*", ""],
    ["signs", "select 1", "+", "1"],
    ["signs and comments", "select 1 ", "-/**/+", "1"],
  ])(
    "refuses a run of %s, at which the engine's scanner would work for ever",
    (_, head, unit, end) => {
      const guarded = guardStatement(head + unit.repeat(1_001) + end, { pinned: false });
      expect(guarded).toMatchObject({ ok: false, error: { code: "query.syntax" } });
    },
  );

  it.each([
    ["a frame of stars", `select /*${"*".repeat(5_000)}*/ 1`],
    ["a line of dashes", `select ${"-".repeat(5_000)}\n1`],
    ["lines of comments", `select 1\n${"-- a /* line\n".repeat(5_000)}`],
    ["signs with blanks between them", `select 1${" + 1".repeat(5_000)}`],
    ["a thousand comments", `select 1${"/**/".repeat(1_000)}`],
  ])("lets %s pass", (_, sql) => {
    expect(guardStatement(sql, { pinned: false }).ok).toBe(true);
  });

  it("refuses a text without a statement before the driver sees it", () => {
    for (const sql of ["", "  ", ";;", "-- nothing", "/* nothing */ ;"]) {
      expect(guardStatement(sql, { pinned: false })).toMatchObject({
        error: { code: "query.syntax" },
      });
    }
  });
});

describe("refusedFunctions and harmlessPragmas", () => {
  /** Functions of the pinned version that were looked at and may be called. A new one must be judged before it appears here. */
  const judged = new Set(
    `checkpoint duckdb_approx_database_count duckdb_columns duckdb_connection_count duckdb_constraints
     duckdb_coordinate_systems duckdb_databases duckdb_dependencies duckdb_extensions
     duckdb_external_file_cache duckdb_functions duckdb_indexes duckdb_keywords duckdb_memory
     duckdb_optimizers duckdb_prepared_statements duckdb_profiling_settings duckdb_schemas
     duckdb_secret_types duckdb_secrets duckdb_sequences duckdb_settings duckdb_table_sample
     duckdb_tables duckdb_temporary_files duckdb_types duckdb_variables duckdb_views generate_series
     glob histogram histogram_values icu_calendar_names json_each json_tree parquet_bloom_probe
     parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan
     parquet_schema pg_timezone_names pragma_collations pragma_database_size pragma_metadata_info
     pragma_platform pragma_show pragma_storage_info pragma_table_info pragma_user_agent
     pragma_version query_table range read_blob read_csv read_csv_auto read_duckdb read_json
     read_json_auto read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto
     read_ndjson_objects read_parquet read_text repeat repeat_row sniff_csv sql_auto_complete summary
     test_all_types test_vector_types unnest which_secret`.split(/\s+/),
  );

  it("know every table function that the engine has", async () => {
    const sql =
      "select distinct function_name from duckdb_functions() where function_type in ('table', 'table_macro')";
    const { rows } = await ran(backend, sql);
    const unknown = rows
      .flat()
      .filter((name) => !judged.has(textOf(name)) && !refusedFunctions.has(textOf(name)));
    expect(rows.length).toBeGreaterThan(80);
    expect(unknown).toEqual([]);
  });

  it("name only pragmas that the engine has", async () => {
    const { rows } = await ran(
      backend,
      "select distinct function_name from duckdb_functions() where function_type = 'pragma'",
    );
    const names = new Set(rows.flat());
    expect([...harmlessPragmas].filter((name) => !names.has(name))).toEqual([]);
  });
});

function placed(sql: string): string {
  return sql
    .replaceAll("OUT", join(folder, "out"))
    .replaceAll("IN", join(folder, "in.csv"))
    .replaceAll("FOLDER", folder);
}

describe("a long text", () => {
  const pad = "1, ".repeat(longTextUnits / 3);

  it.each([
    `select ${pad} 2`,
    `select ${pad} read_text('/etc/passwd')`,
    `select 1 -- ${pad}\n; select "read_text" /* ${pad} */ ('x')`,
    `insert into t values (${pad} 2) returning 1`,
    `copy t to '${pad}'`,
    `select ${"+/**/".repeat(20_000)} 1`,
    `from t pivot (sum(a) for b in (${pad} 2));`,
    `explain analyze select ${pad} getenv('HOME')`,
    `select '${pad}`,
  ])("is judged alike when its tokens were read along: %.30s", (sql) => {
    const context = { pinned: false };
    const along = guardAlong(sql);
    expect(along).toBeDefined();
    inOneGo(readLongText(sql, "duckdb", Number.POSITIVE_INFINITY, along));
    expect(guardAlong(sql)).toBeUndefined();
    const otherText = `${sql} `;
    expect(guardStatement(sql, context)).toEqual(guardStatement(otherText, context));
  });
});
