/**
 * What the differential suite asks: one statement for each construct, in the words that several source dialects share
 * or in each one's own. A source that refuses a statement itself has no such construct.
 *
 * `only` names the words (packages/sql/src/translate/features.ts) that a difference is the fault of, where the text
 * holds other new ones; the same words are tested by several statements where one set of values proves too little.
 */

import { all } from "./construct.mjs";
import { queryConstructs } from "./queryConstructs.mjs";
import { valueConstructs } from "./valueConstructs.mjs";

export const constructs = [
  ...queryConstructs,
  ...valueConstructs,
  // Dates.
  all("DATE literal", "SELECT id FROM sales WHERE sold_on >= DATE '2024-02-29'"),
  all("TIMESTAMP literal", "SELECT id FROM sales WHERE sold_at < TIMESTAMP '2024-02-29 23:59:59'"),
  ...["year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "doy"].flatMap(
    (unit) => [
      all(`EXTRACT ${unit}`, `SELECT EXTRACT(${unit} FROM sold_at) FROM sales`, {
        only: [
          `extract.field=${unit}`,
          ...(unit === "dow" ? ["extract.field=dayofweek", "day_of_week"] : []),
        ],
      }),
    ],
  ),
  ...["year", "quarter", "month", "week", "day", "hour", "minute"].map((unit) =>
    all(`date_trunc ${unit}`, `SELECT date_trunc('${unit}', sold_at) FROM sales`),
  ),
  all("date_trunc month of a DATE", "SELECT date_trunc('month', sold_on) FROM sales", {
    only: ["date_trunc('month')"],
  }),
  all("year(), month(), day()", "SELECT year(sold_on), month(sold_on), day(sold_on) FROM sales"),
  all("hour(), minute()", "SELECT hour(sold_at), minute(sold_at) FROM sales"),
  ...["day", "month", "year", "hour"].flatMap((unit) => [
    all(`INTERVAL '1' ${unit}`, `SELECT sold_at + INTERVAL '1' ${unit} FROM sales`),
    all(`INTERVAL 1 ${unit}`, `SELECT sold_at + INTERVAL 1 ${unit} FROM sales`),
    all(`INTERVAL '1 ${unit}'`, `SELECT sold_at + INTERVAL '1 ${unit}' FROM sales`),
    all(`date_diff ${unit}`, `SELECT date_diff('${unit}', sold_on, DATE '2024-03-15') FROM sales`),
    all(`date_add ${unit}`, `SELECT date_add('${unit}', 2, sold_at) FROM sales`),
    all(
      `TIMESTAMPDIFF ${unit}`,
      `SELECT TIMESTAMPDIFF(${unit}, sold_at, TIMESTAMP '2024-03-15 01:00:00') FROM sales`,
    ),
    all(`DATE_ADD ${unit}`, `SELECT DATE_ADD(sold_on, INTERVAL 2 ${unit}) FROM sales`),
    all(`DATE_SUB ${unit}`, `SELECT DATE_SUB(sold_at, INTERVAL 2 ${unit}) FROM sales`),
  ]),
  all("DATEDIFF", "SELECT DATEDIFF(sold_on, DATE '2024-01-01') FROM sales"),
  all("DATE - DATE", "SELECT sold_on - DATE '2024-01-01' FROM sales", { only: [] }),
  all("DATE + INTEGER", "SELECT sold_on + 1 FROM sales", { only: [] }),
  all("CURRENT_DATE", "SELECT id FROM customers WHERE CURRENT_DATE > DATE '2024-01-01'"),
  all(
    "CURRENT_TIMESTAMP",
    "SELECT id FROM customers WHERE CURRENT_TIMESTAMP > TIMESTAMP '2024-01-01 00:00:00'",
  ),
  all("now()", "SELECT id FROM customers WHERE now() > TIMESTAMP '2024-01-01 00:00:00'"),
  all("CAST of a moment to DATE", "SELECT CAST(sold_at AS DATE) FROM sales"),
  all("date()", "SELECT date(sold_at) FROM sales"),
  all("last_day", "SELECT last_day(sold_on) FROM sales"),
  all("last_day_of_month", "SELECT last_day_of_month(sold_on) FROM sales"),
  all("DATE_FORMAT %Y-%m-%d", "SELECT DATE_FORMAT(sold_at, '%Y-%m-%d') FROM sales"),
  all("DATE_FORMAT %H:%i:%s", "SELECT DATE_FORMAT(sold_at, '%H:%i:%s') FROM sales"),
  all("DATE_FORMAT %M %W", "SELECT DATE_FORMAT(sold_at, '%M %W') FROM sales"),
  all("to_char YYYY-MM-DD", "SELECT to_char(sold_at, 'YYYY-MM-DD') FROM sales"),
  all("to_char HH24:MI", "SELECT to_char(sold_at, 'HH24:MI') FROM sales"),
  all("strftime %Y-%m-%d", "SELECT strftime(sold_at, '%Y-%m-%d') FROM sales"),
  all("formatDateTime %Y-%m", "SELECT formatDateTime(sold_at, '%Y-%m') FROM sales"),
  all("to_date", "SELECT to_date('06-05-2024', 'DD-MM-YYYY') FROM customers"),
  all("STR_TO_DATE", "SELECT STR_TO_DATE('06-05-2024', '%d-%m-%Y') FROM customers"),
  all("strptime", "SELECT strptime('06-05-2024', '%d-%m-%Y') FROM customers"),
  all("from_unixtime", "SELECT from_unixtime(1700000000) FROM customers"),
  all("to_unixtime", "SELECT to_unixtime(sold_at) FROM sales"),
  all("UNIX_TIMESTAMP", "SELECT UNIX_TIMESTAMP(sold_at) FROM sales"),
  all("epoch", "SELECT epoch(sold_at) FROM sales"),
  all("toStartOfMonth", "SELECT toStartOfMonth(sold_on) FROM sales"),
  all("toDate", "SELECT toDate(sold_at) FROM sales"),
  all("toYear", "SELECT toYear(sold_on) FROM sales"),
  // Lists and JSON.
  all("ARRAY", "SELECT ARRAY[1, 2, 3] FROM customers"),
  all("cardinality", "SELECT cardinality(ARRAY[1, 2, 3]) FROM customers"),
  all("UNNEST", "SELECT x FROM UNNEST(ARRAY[1, 2, 3]) AS t (x)"),
  all(
    "CROSS JOIN UNNEST",
    "SELECT c.id, x FROM customers c CROSS JOIN UNNEST(ARRAY[1, 2]) AS t (x)",
  ),
  all("arrayJoin", "SELECT arrayJoin([1, 2]) FROM customers"),
  all("contains of a list", "SELECT contains(ARRAY[1, 2], 2) FROM customers"),
  all("generate_series", "SELECT x FROM generate_series(1, 3) AS t (x)"),
  all("json_extract_scalar", `SELECT json_extract_scalar('{"a": "b"}', '$.a') FROM customers`),
  all("->>", `SELECT CAST('{"a": "b"}' AS JSON) ->> 'a' FROM customers`),
  all(
    "JSON_UNQUOTE(JSON_EXTRACT())",
    `SELECT JSON_UNQUOTE(JSON_EXTRACT('{"a": "b"}', '$.a')) FROM customers`,
  ),
  // Writes: the statements leave the tables as they were.
  {
    name: "CREATE TABLE AS, DROP TABLE",
    steps: [
      "CREATE TABLE made AS SELECT id, country FROM customers",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
  {
    name: "CREATE TABLE, INSERT VALUES",
    only: ["create_table.data_type", "insert.values"],
    steps: [
      "CREATE TABLE made (id INTEGER, name VARCHAR(20))",
      "INSERT INTO made (id, name) VALUES (1, 'it''s'), (2, NULL)",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
  {
    name: "INSERT SELECT",
    steps: [
      "CREATE TABLE made (id INTEGER, name VARCHAR(20))",
      "INSERT INTO made SELECT id, country FROM customers",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
  {
    name: "UPDATE",
    steps: [
      "CREATE TABLE made (id INTEGER, name VARCHAR(20))",
      "INSERT INTO made SELECT id, country FROM customers",
      "UPDATE made SET name = 'x' WHERE id = 10",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
  {
    name: "DELETE",
    steps: [
      "CREATE TABLE made (id INTEGER, name VARCHAR(20))",
      "INSERT INTO made SELECT id, country FROM customers",
      "DELETE FROM made WHERE id = 10",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
  {
    name: "TRUNCATE",
    steps: [
      "CREATE TABLE made AS SELECT id FROM customers",
      "TRUNCATE TABLE made",
      "SELECT * FROM made",
      "DROP TABLE made",
    ],
  },
];
