/** Sums, windows, numbers and texts. */
import { all, ordered } from "./construct.mjs";

/** As a catalog would tell them. */
const salesTypes = [
  {
    path: ["sales"],
    columns: [
      { name: "id", type: "bigint" },
      { name: "qty", type: "bigint" },
      { name: "price", type: "double precision" },
    ],
  },
];

export const valueConstructs = [
  // Sums and windows.
  all("count", "SELECT count(*), count(note), count(DISTINCT customer) FROM sales"),
  all("sum, min, max", "SELECT sum(qty), min(qty), max(amount), sum(amount) FROM sales"),
  all("avg of DECIMAL", "SELECT round(avg(amount), 2) FROM sales", { only: ["avg"] }),
  all("avg of DOUBLE", "SELECT avg(price) FROM sales"),
  all("avg of INTEGER", "SELECT avg(qty) FROM sales WHERE id IN (1, 2, 5)", { only: ["avg"] }),
  all("stddev_samp", "SELECT round(stddev_samp(price), 6) FROM sales", { only: ["stddev_samp"] }),
  all("FILTER", "SELECT count(*) FILTER (WHERE qty > 2) FROM sales"),
  all("bool_and", "SELECT bool_and(ok) FROM sales"),
  all("string_agg", "SELECT string_agg(country, ',' ORDER BY id) FROM customers"),
  all("GROUP_CONCAT", "SELECT GROUP_CONCAT(country ORDER BY id SEPARATOR ',') FROM customers"),
  all("listagg", "SELECT listagg(country, ',') WITHIN GROUP (ORDER BY id) FROM customers"),
  all("array_agg", "SELECT array_agg(id ORDER BY id) FROM customers"),
  all("approx_distinct", "SELECT approx_distinct(customer) FROM sales"),
  all("uniqExact", "SELECT uniqExact(customer) FROM sales"),
  all("countIf", "SELECT countIf(qty > 2) FROM sales"),
  all("count_if", "SELECT count_if(qty > 2) FROM sales"),
  all("max_by", "SELECT max_by(id, amount) FROM sales WHERE id <> 5"),
  all("arg_max", "SELECT arg_max(id, amount) FROM sales WHERE id <> 5"),
  all("row_number", "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY id) FROM sales"),
  all(
    "rank, dense_rank",
    "SELECT id, rank() OVER (ORDER BY customer), dense_rank() OVER (ORDER BY customer) FROM sales",
  ),
  all(
    "lag, lead",
    "SELECT id, lag(qty) OVER (ORDER BY id), lead(qty, 1) OVER (ORDER BY id) FROM sales",
  ),
  all(
    "sum over a window",
    "SELECT id, sum(qty) OVER (PARTITION BY customer ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM sales",
  ),
  all(
    "first_value",
    "SELECT id, first_value(id) OVER (PARTITION BY customer ORDER BY id) FROM sales",
  ),
  all("ntile", "SELECT id, ntile(3) OVER (ORDER BY id) FROM sales"),
  all("count over all", "SELECT id, count(*) OVER () FROM sales"),
  all("named window", "SELECT id, sum(qty) OVER w FROM sales WINDOW w AS (PARTITION BY customer)"),
  all(
    "RANGE of a window",
    "SELECT id, sum(qty) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM sales",
  ),
  all("sum of a CASE", "SELECT sum(CASE WHEN qty > 2 THEN 1 ELSE 0 END) FROM sales"),
  // Numbers.
  all("+, -, *", "SELECT qty + 1, qty - 1, qty * 2, -qty FROM sales"),
  all("INTEGER / INTEGER", "SELECT id, qty / 2 FROM sales", { only: ["div"] }),
  all("INTEGER / a number, types known", "SELECT id, qty / 2, -(qty + 7) / 3 / 2 FROM sales", {
    types: salesTypes,
    not: ["duckdb", "mysql", "clickhouse"],
  }),
  all("DECIMAL / INTEGER", "SELECT id, amount / 3 FROM sales", { only: ["div"] }),
  all("DOUBLE / INTEGER", "SELECT id, price / 2 FROM sales"),
  all("division by zero", "SELECT id, price / 0 FROM sales", { only: ["div"] }),
  all("%", "SELECT qty % 3 FROM sales"),
  all("mod", "SELECT mod(qty, 3) FROM sales"),
  all("DIV", "SELECT qty DIV 2 FROM sales"),
  all("abs, sign", "SELECT abs(qty), sign(qty) FROM sales"),
  all("floor, ceil", "SELECT floor(price), ceil(price) FROM sales"),
  all("round", "SELECT round(price) FROM sales", { only: ["round", "round/1"] }),
  all("round to places", "SELECT round(amount, 1) FROM sales", {
    only: ["round.decimals", "round/2"],
  }),
  all("power, sqrt", "SELECT power(qty, 2), sqrt(16) FROM sales"),
  all("ln, exp", "SELECT round(exp(1), 8), round(ln(10), 8) FROM customers", {
    only: ["ln", "exp"],
  }),
  all("log of one", "SELECT round(log(100), 8) FROM customers", { only: ["log"] }),
  all("greatest, least", "SELECT greatest(qty, 2), least(qty, 2) FROM sales"),
  all("greatest with nulls", "SELECT greatest(note, 'b') FROM sales WHERE note IS NULL", {
    only: ["greatest", "greatest/2"],
  }),
  all("CAST to INTEGER", "SELECT CAST(price AS INTEGER) FROM sales", {
    only: ["cast.data_type=int"],
  }),
  all("CAST to BIGINT", "SELECT CAST(id AS BIGINT) FROM sales"),
  all("CAST to DOUBLE", "SELECT CAST(qty AS DOUBLE) FROM sales"),
  all("CAST to DOUBLE PRECISION", "SELECT CAST(qty AS DOUBLE PRECISION) FROM sales"),
  all("CAST to DECIMAL", "SELECT CAST(price AS DECIMAL(10, 1)) FROM sales", {
    only: ["cast.data_type=decimal"],
  }),
  all("CAST to VARCHAR", "SELECT CAST(qty AS VARCHAR) FROM sales"),
  all("CAST to CHAR", "SELECT CAST(qty AS CHAR) FROM sales"),
  all("CAST to TEXT", "SELECT CAST(qty AS TEXT) FROM sales"),
  all("CAST to DATE", "SELECT CAST('2024-05-06' AS DATE) FROM customers"),
  all("CAST to TIMESTAMP", "SELECT CAST('2024-05-06 07:08:09' AS TIMESTAMP) FROM customers"),
  all("::", "SELECT qty::bigint FROM sales"),
  all("TRY_CAST", "SELECT TRY_CAST(note AS INTEGER) FROM sales"),
  // Texts.
  all("||", "SELECT name || '!' FROM sales", { only: ["concat"], not: ["mysql"] }),
  all("concat", "SELECT concat(name, '-', country) FROM sales, customers"),
  all("concat with nulls", "SELECT concat(note, '!') FROM sales", { only: ["concat/2", "concat"] }),
  all("upper, lower", "SELECT upper(country), lower(country) FROM customers"),
  all("upper of ë", "SELECT upper(name) FROM sales WHERE id = 4", { only: ["upper"] }),
  all("length", "SELECT length(country) FROM customers"),
  all("length of ë", "SELECT length(name) FROM sales WHERE id = 4", { only: ["length"] }),
  all("char_length", "SELECT char_length(name) FROM sales", {
    only: ["length", "char_length", "char_length/1"],
  }),
  all("substring", "SELECT substring(name, 2, 3) FROM sales"),
  all("substring of ë", "SELECT substring(name, 3, 1) FROM sales WHERE id = 4", {
    only: ["substring"],
  }),
  all("substr", "SELECT substr(name, 2, 3) FROM sales"),
  all("SUBSTRING FROM FOR", "SELECT SUBSTRING(name FROM 2 FOR 3) FROM sales"),
  all("trim", "SELECT trim(name), ltrim(name), rtrim(name) FROM sales"),
  all("replace", "SELECT replace(name, 'n', 'm') FROM sales"),
  all("reverse", "SELECT reverse(country) FROM customers"),
  all("lpad, rpad", "SELECT lpad(country, 5, '*'), rpad(country, 5, '*') FROM customers"),
  all("left, right", "SELECT left(name, 2), right(name, 2) FROM sales"),
  all("strpos", "SELECT strpos(name, 'n') FROM sales"),
  all("POSITION IN", "SELECT POSITION('n' IN name) FROM sales"),
  all("LOCATE", "SELECT LOCATE('n', name) FROM sales"),
  all("starts_with", "SELECT starts_with(name, 'A') FROM sales"),
  all("split_part", "SELECT split_part(name, ',', 1) FROM sales"),
  all("repeat", "SELECT repeat(country, 2) FROM customers"),
  all("initcap", "SELECT initcap(lower(country)) FROM customers"),
  all("IFNULL", "SELECT IFNULL(note, 'none') FROM sales"),
  all("IF", "SELECT IF(qty > 2, 'a', 'b') FROM sales"),
  all("text comparison, upper and lower case", "SELECT id FROM sales WHERE name = 'ANNA'", {
    only: [],
  }),
  ordered("order of texts", "SELECT name FROM sales ORDER BY name", { only: [] }),
  all("regexp_like", "SELECT id FROM sales WHERE regexp_like(name, '^[A-Z]')"),
  all("~", "SELECT id FROM sales WHERE name ~ '^[A-Z]'"),
  all("REGEXP", "SELECT id FROM sales WHERE name REGEXP '^[A-Z]'"),
  all("regexp_replace", "SELECT regexp_replace(name, '[aeiou]', '') FROM sales"),
];
