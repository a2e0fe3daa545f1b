/** Measures the police step in a process of its own, with the parser in its thread; tells its parent. */
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { guardSchema } from "@gateway/contract/config/guardrail.ts";
import { policyOf } from "@gateway/access/policy/open.ts";
import { compileGuards } from "@gateway/core/guard/guards.ts";
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { policingOf } from "@gateway/core/snapshot/policing.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { FakePolicyServer } from "../fake/policyServer.ts";
import { median } from "./figures.mjs";

const host = nodeHost(new URL("../../packages/gateway/dist/", import.meta.url), "silent");
const share = Number(process.env["BENCH_SHARE"] ?? 1);
const rounds = 7;
const fresh = Math.ceil(400 * share);
const repeated = Math.ceil(16_000 * share);
const shownColumns = ["id", "name", "customer_id", "created_at", "amount", "country", "shop"];
const columns = [...shownColumns, "status", "kind", "email"];
const rowFilter = "region IN ('EU', 'analysts')";
const masks = { email: "'hidden'" };
/** Each with a number that no other statement has. */
const typical = [
  (n) => `SELECT id, name FROM customers WHERE id = ${n}`,
  (n) =>
    `SELECT o.customer_id, date_trunc('month', o.created_at) AS month, sum(o.amount) AS total, count(*) AS orders FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.id WHERE o.created_at >= DATE '2024-01-01' AND c.country IN ('DE', 'FR', 'IT') AND o.status <> 'cancelled' AND o.id > ${n} GROUP BY 1, 2 HAVING count(*) > 3 ORDER BY total DESC LIMIT 100`,
  (n) =>
    `WITH recent AS (SELECT customer_id, max(created_at) AS last FROM orders WHERE shop = ${n} GROUP BY customer_id) SELECT c.name, r.last FROM recent r LEFT JOIN customers c ON c.id = r.customer_id ORDER BY r.last DESC LIMIT 20`,
  (n) => `SELECT id, amount FROM sales.orders WHERE status = 'open' AND customer_id = ${n}`,
];
/** Of a group beside the one that is asked. */
const elsewhere = ["others"];
const signal = new AbortController().signal;
const log = { acted: () => {} };
let number = 0;

// No thread of the parser keeps a process alive by itself.
const alive = setInterval(() => {}, 1_000);
const opa = await FakePolicyServer.start();
opa.says = { result: { allow: true, rule: "own", rowFilter, columns, masks } };
const cerbos = await FakePolicyServer.start();
cerbos.says = cerbosPlan();
const common = { defaultSchema: "sales" };
const rules = [{ name: "own", tables: ["sales.*"], rowFilter, columns, masks }];
const shown = [{ name: "all", tables: ["sales.*"] }];
const ttl = { cacheTtlMs: 300_000, timeoutMs: 2_000 };
const policies = {
  "rules, rows and columns hidden": { provider: "rules", rules },
  "rules, all shown": { provider: "rules", rules: shown },
  "Open Policy Agent": {
    provider: "opa",
    opa: { url: opa.url, api: "data", path: "gateway/decision", ...ttl },
  },
  Cerbos: { provider: "cerbos", cerbos: { url: cerbos.url, kind: "table", ...ttl } },
};
const found = [];
await hotRow("no access control, no guard", {});
for (const [name, config] of Object.entries(policies)) {
  const step = stepOf({ accessControl: { ...common, ...config } });
  await freshRow(`${name}: a new text of a new form`, step, (n) => typicalText(n) + ` /* ${n} */`);
  await freshRow(`${name}: a new text`, step, typicalText);
  await hotRow(`${name}: a text that comes again`, step);
}
await notMet();
clearInterval(alive);
await Promise.all([opa, cerbos].map((server) => server[Symbol.asyncDispose]()));
process.send(found, () => process.exit());

/** What the configuration has, and a query does not meet. */
async function notMet() {
  const accessControl = { ...common, provider: "rules", rules, clusterGroups: elsewhere };
  await hotRow("access control of another group", stepOf({ accessControl }));
  const guard = { name: "read", type: "readOnly", action: "deny" };
  await hotRow(
    "a guard of another group",
    stepOf({ guards: [{ ...guard, clusterGroups: elsewhere }] }),
  );
  const conditions = [{ type: "protocolBased", protocols: ["mysqlWire"] }];
  await hotRow(
    "a guard whose condition does not hold",
    stepOf({ guards: [{ ...guard, conditions }] }),
  );
  await hotRow("a guard that lets it pass", stepOf({ guards: [guard] }));
  const script = { name: "own", type: "script", script: "own", conditions };
  await hotRow("a script of a guard whose condition does not hold", stepOf({ guards: [script] }));
}

function stepOf({ accessControl, guards = [] }) {
  const config = accessControl && accessControlSchema.parse(accessControl);
  const ask = async () => {
    throw new Error("no script is asked here");
  };
  const limits = { maxExecutionMs: undefined, maxRows: undefined };
  const group = {
    config: { agentWrites: "allow", strategy: { type: "roundRobin" } },
    members: [],
    guards: compileGuards(
      guards.map((guard) => guardSchema.parse(guard)),
      "main",
      limits,
      { ask },
    ),
    dialects: ["duckdb"],
  };
  const policy = config && policyOf(config, host);
  const parts = { host, ask, running: new Map(), policy };
  return policingOf(config, parts, () => group);
}

function askedOf(sql) {
  const dialect = "duckdb";
  const identity = { user: "alice", groups: ["EU", "analysts"], roles: [], method: "static" };
  const query = queryOf(sql, { dialect, identity, schema: "sales" });
  return { ...query, statement: readStatement(sql, dialect), group: "main", trace: [] };
}

/** With a value that no other has. */
function typicalText(n) {
  return typical[n % typical.length](n);
}

/** Microseconds of a text that was never asked before: the median, and what all threads took for each. */
async function freshRow(what, step, textOf) {
  const wall = [];
  const processor = [];
  for (let round = -2; round < rounds; round += 1) {
    const times = [];
    const queries = Array.from({ length: fresh }, () => {
      number += 1;
      return askedOf(textOf(number));
    });
    const before = process.cpuUsage();
    for (const query of queries) {
      const startedMs = performance.now();
      const made = await step.police(query, log, signal);
      times.push((performance.now() - startedMs) * 1_000);
      if (!made.ok) throw new Error(`${what}: ${made.error.message}`);
    }
    // In the first rounds the parser is loaded, and compiled anew.
    if (round < 0) continue;
    wall.push(median(times));
    processor.push(processorSince(before) / fresh);
  }
  found.push({ what, wall, processor });
}

/** Microseconds of a text that is asked again and again: the mean of each round. */
async function hotRow(what, parts) {
  const step = "police" in parts ? parts : stepOf(parts);
  const queries = typical.map((textOf) => askedOf(textOf(0)));
  const wall = [];
  const processor = [];
  for (let round = -2; round < rounds; round += 1) {
    const before = process.cpuUsage();
    const startedMs = performance.now();
    for (let count = 0; count < repeated; count += 1) {
      const made = step.police(queries[count % queries.length], log, signal);
      if (!(made instanceof Promise ? await made : made).ok) throw new Error(what);
    }
    if (round < 0) continue;
    wall.push(((performance.now() - startedMs) * 1_000) / repeated);
    processor.push(processorSince(before) / repeated);
  }
  found.push({ what, wall, processor });
}

function processorSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function cerbosPlan() {
  const values = ["EU", "analysts"];
  const operands = [{ variable: "request.resource.attr.row.region" }, { value: values }];
  const condition = { expression: { operator: "in", operands } };
  return {
    requestId: "gateway",
    action: "select",
    resourceKind: "table",
    filter: { kind: "KIND_CONDITIONAL", condition },
  };
}
