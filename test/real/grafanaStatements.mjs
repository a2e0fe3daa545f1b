/**
 * What Grafana's data sources ask of a database, in our own layout: the browser of databases, tables and columns, what
 * its settings page looks for, and panels whose macros (`$__timeGroup` and its kin) are written out. One with
 * `args` is sent with parameters, as its table browser does; the others go as text.
 */

/** A range of time as panels have it, in seconds: half an hour. */
const from = 1_709_208_000;
const to = from + 1_800;
const [fromNano, toNano] = [from, to].map((seconds) => `${seconds}000000000`);
const [fromIso, toIso] = [from, to].map((seconds) =>
  new Date(seconds * 1000).toISOString().replace(".000Z", "Z"),
);
const at = (seconds) => new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19);

/** The table of the panels, in words that PostgreSQL and MySQL have. `moment` is its type of a moment. */
export const metricTable = (moment) => [
  "drop table if exists metric",
  `create table metric (at ${moment}, epoch bigint, nano bigint, host varchar(20), load_avg double precision, hits int, cost decimal(8,2))`,
  `insert into metric values ('${at(from)}', ${from}, ${fromNano}, 'a', 0.5, 1, 1.25), ('${at(from + 61)}', ${from + 61}, ${from + 61}000000000, 'b', 1.5, 2, null), ('${at(from + 400)}', ${from + 400}, ${from + 400}000000000, 'a', null, 3, 99.99), ('${at(to + 5)}', ${to + 5}, ${toNano}, 'it''s', 4.5, 4, 0)`,
];

const mysqlText = "('text','tinytext','mediumtext','longtext','varchar','char')";
const mysqlMoment = "('timestamp','datetime','bigint','int','double','float')";
const mysqlNumber = "('bigint','int','smallint','mediumint','tinyint','double','decimal','float')";
const columnsOf = (table) =>
  `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = ${table}`;
const firstColumn = (types, name) =>
  `(SELECT column_name AS column_name FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.data_type IN ${types} ORDER BY ordinal_position LIMIT 1) AS ${name}`;
const mysqlValues = (column, number) =>
  `SELECT '${column}' AS col_name, CAST(\`${column}\` AS CHAR) AS val FROM (SELECT DISTINCT \`${column}\` FROM \`metric\` WHERE \`${column}\` IS NOT NULL ORDER BY \`${column}\` LIMIT 100) sub_${number}`;

export const mysqlStatements = [
  "SELECT DISTINCT TABLE_SCHEMA from information_schema.TABLES where TABLE_TYPE != 'SYSTEM VIEW' ORDER BY TABLE_SCHEMA",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'demo' ORDER BY table_name",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name",
  `${columnsOf("'demo'")} AND table_name = 'every' ORDER BY column_name`,
  `${columnsOf("database()")} AND table_name = 'metric' AND data_type IN ${mysqlMoment} ORDER BY column_name`,
  `${columnsOf("database()")} AND table_name = 'metric' AND data_type IN ${mysqlNumber} AND column_name <> 'epoch' ORDER BY column_name`,
  `SELECT table_name AS table_name, ${firstColumn("('timestamp','datetime')", "time_column")}, ${firstColumn(mysqlText, "value_column")} FROM information_schema.tables t WHERE t.table_schema = database() AND EXISTS (SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.data_type IN ('timestamp','datetime')) ORDER BY 1 LIMIT 1;`,
  "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'VIEW') ORDER BY TABLE_NAME",
  {
    sql: "SELECT COLUMN_NAME, DATA_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION",
    args: ["every"],
  },
  ["host", "cost"].map(mysqlValues).join(" UNION ALL "),
  'SELECT UNIX_TIMESTAMP(at) DIV 300 * 300 AS "time", host AS metric, avg(load_avg) FROM metric GROUP BY 1, 2 ORDER BY 1, 2',
  `SELECT UNIX_TIMESTAMP(at) as time_sec, hits AS value FROM metric WHERE at BETWEEN FROM_UNIXTIME(${from}) AND FROM_UNIXTIME(${to}) ORDER BY at ASC`,
  `SELECT at, cost FROM metric WHERE at > FROM_UNIXTIME(${from}) AND at <= FROM_UNIXTIME(${to}) ORDER BY at`,
  `SELECT at FROM metric WHERE at BETWEEN DATE_ADD(FROM_UNIXTIME(0), INTERVAL -86400 SECOND) AND FROM_UNIXTIME(${to}) ORDER BY at`,
  `SELECT epoch DIV 60 * 60 AS "time", sum(hits), sum(cost) FROM metric WHERE epoch >= ${from} AND epoch <= ${to} GROUP BY 1 ORDER BY 1`,
  `SELECT nano, host FROM metric WHERE nano >= ${fromNano} AND nano <= ${toNano} ORDER BY nano`,
  'SELECT UNIX_TIMESTAMP(at) DIV 0.5 * 0.5 AS "time", 1 AS value FROM metric ORDER BY 1',
  "SELECT COUNT(hits), host FROM demo.metric WHERE host = 'a' GROUP BY host ORDER BY COUNT(hits) DESC LIMIT 50 ",
  "SELECT host AS __text, hits AS __value FROM metric WHERE host IN ('a','it''s') ORDER BY 1",
  "SELECT * FROM every ORDER BY id",
  "SELECT id, t, y, bit12, j FROM every WHERE id = 2",
  { sql: "SELECT * FROM metric WHERE host = ? AND hits > ? ORDER BY at", args: ["a", 0] },
  "SELECT 1 FROM metric WHERE false",
  "selec 1",
  "SELECT nothing FROM metric",
  "SELECT * FROM nowhere",
  "-- only a comment",
];

const hidden = [
  "information_schema",
  "pg_catalog",
  "pg_toast",
  "_timescaledb_cache",
  "_timescaledb_catalog",
  "_timescaledb_internal",
  "_timescaledb_config",
  "timescaledb_information",
  "timescaledb_experimental",
]
  .map((name) => `'${name}'`)
  .join(", ");
const path = "string_to_array(current_setting('search_path'),',')";
const onPath = `quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM generate_series(array_lower(${path},1), array_upper(${path},1)) as i, ${path} s)`;
const typesOf = (table) =>
  `SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE CASE WHEN array_length(parse_ident('${table}'),1) = 2 THEN quote_ident(table_schema) = (parse_ident('${table}'))[1] AND quote_ident(table_name) = (parse_ident('${table}'))[2] ELSE quote_ident(table_name) = '${table}' AND ${onPath} END`;
const postgresValues = (column, number) =>
  `SELECT '${column}' AS col_name, "${column}"::text AS val FROM (SELECT DISTINCT "${column}" FROM "public"."metric" WHERE "${column}" IS NOT NULL ORDER BY "${column}" LIMIT 100) sub_${number}`;

/** The tables beside those of the panels. */
export const postgresTables = [
  ...metricTable("timestamptz"),
  "create schema told",
  `create table told.sale (id bigserial primary key, "odd Name" varchar(20), amount numeric(10,2), done boolean, on_day date, at_time time, took interval, data jsonb, raw bytea, tags text[], who uuid, kind char(3), small smallint, ratio real)`,
  `insert into told.sale ("odd Name", amount, done, on_day, at_time, took, data, raw, tags, who, kind, small, ratio) values ('it''s', 9.50, true, '2024-02-29', '12:34:56.5', '1 day 02:03:04', '{"a": [1, null]}', '\\x00ff', '{a,NULL}', '00112233-4455-6677-8899-aabbccddeeff', 'ab', -3, 1.5), (null, null, null, null, null, null, null, null, null, null, null, null, null)`,
  "create view told.shown as select id, amount from told.sale",
];

export const postgresStatements = [
  "SELECT current_setting('server_version_num')::int/100 as version",
  "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'",
  `SELECT schema_name AS "name" FROM information_schema.schemata WHERE schema_name NOT IN (${hidden}) ORDER BY schema_name`,
  `SELECT quote_ident(table_name) AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) = 'told' ORDER BY 1`,
  `SELECT CASE WHEN ${onPath} THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN (${hidden}) ORDER BY CASE WHEN ${onPath} THEN 0 ELSE 1 END, 1`,
  typesOf("metric"),
  typesOf("told.sale"),
  typesOf("nothing"),
  "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'pg_%' AND schema_name != 'information_schema' ORDER BY schema_name",
  {
    sql: "SELECT table_name FROM information_schema.tables WHERE table_schema = $1 AND table_type IN ('BASE TABLE', 'VIEW') ORDER BY table_name",
    args: ["told"],
  },
  {
    sql: "SELECT column_name, data_type, udt_name, numeric_precision, numeric_scale FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position",
    args: ["told", "sale"],
  },
  { sql: ["host", "cost"].map(postgresValues).join(" UNION ALL "), args: [] },
  'SELECT floor(extract(epoch from at)/300)*300 AS "time", host AS metric, avg(load_avg) FROM metric GROUP BY 1, 2 ORDER BY 1, 2',
  `SELECT at AS "time", hits AS value FROM metric WHERE at BETWEEN '${fromIso}' AND '${toIso}' ORDER BY at`,
  `SELECT extract(epoch from at) as "time", cost FROM metric WHERE at > '${fromIso}' AND at <= '${toIso}' ORDER BY 1`,
  `SELECT floor((epoch)/60)*60 AS "time", sum(hits), sum(cost) FROM metric WHERE epoch >= ${from} AND epoch <= ${to} GROUP BY 1 ORDER BY 1`,
  `SELECT nano, host FROM metric WHERE nano >= ${fromNano} AND nano <= ${toNano} ORDER BY nano`,
  `SELECT floor(extract(epoch from at)/0.5)*0.5 AS "time", 1 AS value FROM metric ORDER BY 1`,
  "SELECT COUNT(hits), host FROM metric WHERE host = 'a' GROUP BY host ORDER BY COUNT(hits) DESC LIMIT 50 ",
  "SELECT host AS __text, hits AS __value FROM metric WHERE host IN ('a','it''s') ORDER BY 1",
  "SELECT * FROM told.sale ORDER BY id",
  "SELECT * FROM metric ORDER BY at",
  "SELECT time_bucket('300.000s',at) FROM metric",
  "SELECT 1 AS a; SELECT 2 AS b",
  "SELECT 1 FROM metric WHERE false",
  "selec 1",
  "SELECT nothing FROM metric",
  "SELECT * FROM nowhere",
  "-- only a comment",
];

const orders = "tpch.tiny.orders";

export const trinoStatements = [
  "SHOW CATALOGS",
  "SHOW SCHEMAS",
  "SHOW SCHEMAS FROM tpch",
  "SHOW TABLES",
  "SHOW TABLES FROM tpch.tiny",
  `SHOW COLUMNS FROM ${orders}`,
  `SELECT DISTINCT orderstatus FROM ${orders} ORDER BY 1`,
  `SELECT FROM_UNIXTIME(FLOOR(TO_UNIXTIME(orderdate)/86400)*86400) AS time, orderpriority AS metric, avg(totalprice) AS value FROM ${orders} WHERE orderdate BETWEEN TIMESTAMP '1995-01-01 00:00:00' AND TIMESTAMP '1995-01-05 23:59:59' GROUP BY 1, 2 ORDER BY 1, 2`,
  `SELECT orderdate AS time, totalprice FROM ${orders} WHERE orderdate BETWEEN date '1995-01-01' AND date '1995-01-03' ORDER BY orderkey`,
  "SELECT FROM_UNIXTIME(FLOOR(1709208061/60)*60) AS time, 1 AS value",
  "SELECT x FROM (VALUES 1709208000, 1709299999) t(x) WHERE x BETWEEN 1709208000 AND 1709209800",
  "SELECT parse_datetime('2024-02-29 12','yyyy-MM-dd HH') AS time, TIMESTAMP '2024-02-29 12:00:00' AS t",
  `SELECT orderdate as time, orderstatus as level, 'order ' || cast(orderkey as varchar) as message FROM ${orders} WHERE orderdate BETWEEN TIMESTAMP '1995-01-01 00:00:00' AND TIMESTAMP '1995-01-02 23:59:59' ORDER BY orderkey`,
  "SHOW ROLES FROM memory",
  "SELECT 1 WHERE false",
  "selec 1",
  `SELECT nothing FROM ${orders}`,
  "SELECT * FROM nowhere",
];
