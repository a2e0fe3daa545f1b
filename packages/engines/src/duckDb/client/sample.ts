/**
 * The sample that the quick start serves: a shop with customers, orders, their line items, and events.
 *
 * Made by SQL alone, the same on every machine: every value follows from a row's number. A million line
 * items take a second or two. Dates end on 2025-12-31, so that nothing depends on today.
 */
import type { SetupStatement } from "../../native/message.ts";

export const sampleRows = {
  customers: 50_000,
  orders: 250_000,
  lineItems: 1_000_000,
  events: 500_000,
} as const;

/** A number from 0 to `below` - 1 that follows from `seed` and a row's number `i`. */
function pick(seed: string, below: number): string {
  return `(hash(i * 7919 + hash('${seed}')) % ${below})::INTEGER`;
}

/** One of a list of texts, by the row's number. */
function oneOf(seed: string, texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(", ")}][1 + ${pick(seed, texts.length)}]`;
}

const firstNames = [
  "Ada",
  "Björn",
  "Chloé",
  "Dmitri",
  "Emeka",
  "Fatima",
  "Grace",
  "Hiroshi",
  "Inés",
  "João",
  "Katarzyna",
  "Lián",
  "Maya",
  "Noor",
  "Ólafur",
  "Priya",
];
const lastNames = [
  "Andersson",
  "Baptiste",
  "Çelik",
  "Dubois",
  "Eriksen",
  "Fernández",
  "García",
  "Haddad",
  "Ivanova",
  "Jensen",
  "Kowalski",
  "Lefèvre",
  "Müller",
  "Nakamura",
  "Okafor",
  "Patel",
];
const countries = [
  "AT",
  "BR",
  "CA",
  "CH",
  "DE",
  "DK",
  "ES",
  "FR",
  "GB",
  "IN",
  "IT",
  "JP",
  "MX",
  "NL",
  "NO",
  "PL",
  "SE",
  "US",
];
const products = [
  "lamp",
  "desk",
  "chair",
  "shelf",
  "rug",
  "mirror",
  "clock",
  "vase",
  "kettle",
  "blanket",
];

const customers = `
CREATE TABLE IF NOT EXISTS customers AS
SELECT
  (i + 1)::INTEGER AS customer_id,
  ${oneOf("first", firstNames)} || ' ' || ${oneOf("last", lastNames)} AS name,
  'customer' || (i + 1) || '@example.com' AS email,
  ${oneOf("country", countries)} AS country,
  ${oneOf("segment", ["consumer", "business", "public"])}::ENUM('consumer', 'business', 'public') AS segment,
  DATE '2018-01-01' + ${pick("signup", 2900)} AS signed_up,
  (${pick("credit", 1000001)} / 100)::DECIMAL(10, 2) AS credit_limit,
  ${pick("newsletter", 3)} = 0 AS newsletter,
  CASE WHEN ${pick("phone", 4)} > 0 THEN '+1 555 ' || lpad(${pick("number", 10000000)}::VARCHAR, 7, '0') END AS phone
FROM range(${sampleRows.customers}) t(i)`;

const orders = `
CREATE TABLE IF NOT EXISTS orders AS
SELECT
  (i + 1)::INTEGER AS order_id,
  (1 + ${pick("customer", sampleRows.customers)})::INTEGER AS customer_id,
  TIMESTAMP '2022-01-01 00:00:00' + to_seconds(${pick("ordered", 126230400)}) AS ordered_at,
  ${oneOf("status", ["open", "paid", "shipped", "delivered", "returned"])} AS status,
  ${oneOf("channel", ["web", "app", "store", "phone"])} AS channel,
  CASE WHEN ${pick("coupon", 5)} = 0 THEN 'SAVE' || (5 * (1 + ${pick("percent", 6)})) END AS coupon,
  (${pick("shipping", 2000)} / 100)::DECIMAL(6, 2) AS shipping,
  ('00000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::UUID AS tracking_id
FROM range(${sampleRows.orders}) t(i)`;

const lineItems = `
CREATE TABLE IF NOT EXISTS line_items AS
SELECT
  (1 + i // 4)::INTEGER AS order_id,
  (1 + i % 4)::TINYINT AS line_number,
  ${oneOf("product", products)} AS product,
  (1 + ${pick("quantity", 9)})::SMALLINT AS quantity,
  ((99 + ${pick("price", 49900)}) / 100)::DECIMAL(10, 2) AS unit_price,
  (${pick("discount", 31)} / 100.0)::DOUBLE AS discount,
  DATE '2022-01-02' + ${pick("delivered", 1460)} AS delivered_on
FROM range(${sampleRows.lineItems}) t(i)`;

const events = `
CREATE TABLE IF NOT EXISTS events AS
SELECT
  (i + 1)::BIGINT AS event_id,
  TIMESTAMPTZ '2025-01-01 00:00:00+00' + to_microseconds(i * 63072000 + ${pick("jitter", 60000000)}) AS happened_at,
  (1 + ${pick("visitor", sampleRows.customers)})::INTEGER AS customer_id,
  ${oneOf("kind", ["view", "search", "cart", "checkout", "login"])} AS kind,
  json_object('page', '/p/' || ${pick("page", 500)}, 'ms', ${pick("ms", 3000)}, 'mobile', ${pick("mobile", 2)} = 0) AS details,
  [${pick("tag1", 10)}, ${pick("tag2", 10)}] AS tags
FROM range(${sampleRows.events}) t(i)`;

/** The statements that make the sample, leaving alone what is there already. */
export const sampleStatements: readonly SetupStatement[] = [
  customers,
  orders,
  lineItems,
  events,
].map((sql) => ({ sql }));
