/**
 * The sample of the quick start as SQL: customers, orders, line items and events of a shop.
 *
 * Made from row numbers and their hashes, so that every start gives the same rows in about a second
 * and no file is shipped. The largest table has a million rows.
 */
const customers = 10_000;
const orders = 250_000;
const lineItems = 1_000_000;
const events = 500_000;

/** One of a list, by a hash that differs with `salt`. */
function pick(list: readonly string[], salt: number): string {
  const items = list.map((item) => `'${item}'`).join(", ");
  return `([${items}])[1 + (hash(i, ${salt}) % ${list.length})::int]`;
}

/** A whole number from 0 below `limit`. */
function below(limit: number, salt: number): string {
  return `(hash(i, ${salt}) % ${limit})::int`;
}

const countries = [
  "AT",
  "BR",
  "CA",
  "DE",
  "ES",
  "FR",
  "GB",
  "IN",
  "JP",
  "KE",
  "MX",
  "NL",
  "PL",
  "SE",
  "US",
];
const firstNames = [
  "Ada",
  "Ben",
  "Chidi",
  "Dana",
  "Eva",
  "Femi",
  "Grace",
  "Hugo",
  "Ines",
  "Jun",
  "Kira",
  "Luis",
];
const lastNames = [
  "Abe",
  "Baker",
  "Costa",
  "Diaz",
  "Eriksen",
  "Fischer",
  "Gupta",
  "Hansen",
  "Ito",
  "Jones",
];
const products = [
  "anvil",
  "bucket",
  "candle",
  "drill",
  "easel",
  "funnel",
  "globe",
  "hammer",
  "inkwell",
  "jigsaw",
];

/** Statements that make the sample, in order. */
export const sampleStatements: readonly string[] = [
  `create table customers as select
     i::int as customer_id,
     ${pick(firstNames, 1)} || ' ' || ${pick(lastNames, 2)} as name,
     ${pick(countries, 3)} as country,
     ${pick(["consumer", "business", "public"], 4)} as segment,
     (${below(1_000_000, 5)} / 100)::decimal(12,2) as credit_limit,
     date '1950-01-01' + ${below(20_000, 6)} as birth_date,
     hash(i, 7) % 10 <> 0 as active,
     timestamptz '2020-01-01 00:00:00+00' + to_seconds(i * 3600) as created_at,
     ([${pick(["news", "offers"], 8)}, ${pick(["gold", "silver"], 9)}])[1:(hash(i, 10) % 3)::int] as tags
   from range(1, ${customers + 1}) t(i)`,
  `create table orders as select
     i::bigint as order_id,
     1 + ${below(customers, 11)} as customer_id,
     ${pick(["open", "paid", "shipped", "returned"], 12)} as status,
     timestamp '2024-01-01 00:00:00' + to_microseconds((hash(i, 13) % 63072000000000)::bigint) as ordered_at,
     case when hash(i, 14) % 5 <> 0 then date '2024-01-02' + ${below(730, 14)} end as shipped_on,
     ${below(5, 15)}::tinyint as priority
   from range(1, ${orders + 1}) t(i)`,
  `create table line_items as select
     i::bigint as line_id,
     1 + ((i - 1) // ${lineItems / orders})::bigint as order_id,
     (1 + (i - 1) % ${lineItems / orders})::smallint as line_number,
     ${pick(products, 16)} as product,
     1 + ${below(20, 17)} as quantity,
     (1 + ${below(50_000, 18)} / 100)::decimal(10,2) as unit_price,
     (${below(4, 19)} * 0.05)::decimal(4,2) as discount
   from range(1, ${lineItems + 1}) t(i)`,
  `create table events as select
     i::bigint as event_id,
     1 + ${below(customers, 20)} as customer_id,
     ${pick(["view", "search", "cart", "checkout", "login"], 21)} as kind,
     timestamptz '2024-01-01 00:00:00+00' + to_microseconds((i * 126144000)::bigint) as occurred_at,
     ${below(100_000, 22)} / 7.0 as duration_ms,
     case when hash(i, 23) % 3 = 0 then {'page': '/p/' || ${below(500, 24)}, 'source': ${pick(["mail", "web", "app"], 25)}} end as details
   from range(1, ${events + 1}) t(i)`,
];
