/** Measures translations in a process of its own; tells its parent. */
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { inWordsOf } from "@gateway/core/snapshot/engineSql.ts";
import { translatorOf } from "@gateway/core/snapshot/translator.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";

const host = nodeHost(new URL("../../packages/gateway/dist/", import.meta.url), "silent");
const rounds = 7;
const cold = 300;
/** Each with a number that no other statement has. */
const typical = [
  (n) => `SELECT id, name FROM customers WHERE id = ${n}`,
  (n) =>
    `SELECT o.customer_id, date_trunc('month', o.created_at) AS month, sum(o.amount) AS total, count(*) AS orders FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.id WHERE o.created_at >= DATE '2024-01-01' AND c.country IN ('DE', 'FR', 'IT') AND o.status <> 'cancelled' AND o.id > ${n} GROUP BY 1, 2 HAVING count(*) > 3 ORDER BY total DESC LIMIT 100`,
  (n) =>
    `WITH recent AS (SELECT customer_id, max(created_at) AS last FROM orders WHERE shop = ${n} GROUP BY customer_id) SELECT c.name, r.last FROM recent r LEFT JOIN customers c ON c.id = r.customer_id ORDER BY r.last DESC LIMIT 20`,
  (n) => `INSERT INTO events (id, kind, amount) VALUES (${n}, 'click', 1.5), (${n}, 'view', NULL)`,
];

const signal = new AbortController().signal;
const backend = { dialect: "duckdb" };
let number = 0;

// No thread of the parser keeps a process alive by itself.
const alive = setInterval(() => {}, 1_000);
const off = await hot("off");
const remembered = await hot("bestEffort");
const bestEffort = await coldTimes("bestEffort");
const strict = await coldTimes("strict");
clearInterval(alive);
process.send({ off, remembered, bestEffort, strict }, () => process.exit());

function writingOf(mode) {
  const translator = translatorOf({ mode, errorOnUnsupported: false }, host);
  return { host, backend, signal, recordsMasked: false, translator };
}

function askedOf(sql) {
  const query = queryOf(sql);
  const session = { ...query.session, dialect: "postgres" };
  return { ...query, session, statement: readStatement(sql, "postgres"), allowedSql: sql };
}

/** Microseconds of one, by round. */
async function hot(mode) {
  const writing = writingOf(mode);
  const query = askedOf(typical[1](0));
  await inWordsOf(query, writing);
  const found = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    for (let count = 0; count < 100_000; count += 1) {
      if (!inWordsOf(query, writing).ok) throw new Error("it was not remembered");
    }
    found.push((performance.now() - startedMs) / 100);
  }
  return found;
}

/** Median microseconds of new texts, one after the other, by round. */
async function coldTimes(mode) {
  const writing = writingOf(mode);
  const found = [];
  for (let round = -1; round < rounds; round += 1) {
    const times = [];
    for (let count = 0; count < cold; count += 1) {
      number += 1;
      const query = askedOf(typical[count % typical.length](number));
      const startedMs = performance.now();
      const made = await inWordsOf(query, writing);
      times.push((performance.now() - startedMs) * 1_000);
      if (!made.ok) throw new Error(made.error.message);
    }
    // In the first round the parser is loaded and compiled.
    if (round >= 0) found.push(times.toSorted((a, b) => a - b)[cold / 2]);
  }
  return found;
}
