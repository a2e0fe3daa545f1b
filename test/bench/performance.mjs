/**
 * `node test/bench/performance.mjs`: writes docs/reference/performance.md from what the benches left in `bench/`, which they
 * write themselves: `node test/bench/oneCore.mjs` for the four wires beside a bare relay and HAProxy, `npm run bench
 * memory` and so on for the rest. `--measure` runs those first, some ten minutes, of which nothing else may take any.
 * Figures are judged against targets here and nowhere else: a miss is told with its floor and what would be needed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { targets } from "./targets.mjs";

const wires = { trino: "Trino", postgres: "PostgreSQL", mysql: "MySQL", clickhouse: "ClickHouse" };
/** Those that are measured on a core of their own as well. */
const relayedWires = ["postgres", "mysql"];
const folder = "bench";
const page = new URL("../../docs/reference/performance.md", import.meta.url);
const baseline = JSON.parse(readFileSync(new URL("baseline.json", import.meta.url), "utf8"));

if (process.argv.includes("--measure")) {
  for (const wire of Object.keys(wires)) run("oneCore.mjs", wire);
  for (const wire of relayedWires) run("oneCore.mjs", wire, { BENCH_OWN_CORE: "1" });
  run("run.mjs", "memory");
}
const found = Object.fromEntries(Object.keys(wires).map((wire) => [wire, rowsOf("oneCore", wire)]));
const ownCore = Object.fromEntries(relayedWires.map((wire) => [wire, rowsOf("ownCore", wire)]));
writeFileSync(page, pageOf());
console.log(`written: ${fileURLToPath(page)}`);

function run(file, word, more = {}) {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const env = {
    BENCH_SHARE: "0.4",
    BENCH_SECONDS: "60",
    BENCH_WAYS: "memory",
    ...process.env,
    ...more,
    BENCH_INTO: folder,
  };
  const { status } = spawnSync(process.execPath, [program, word], { env, stdio: "inherit" });
  if (status !== 0) throw new Error(`${file} ${word} ended with ${status}`);
}

/** Rows by what they are; undefined where the bench did not run here. */
function rowsOf(cores, wire) {
  const file = `${folder}/${cores}-${wire}.json`;
  if (!existsSync(file)) return undefined;
  const rows = JSON.parse(readFileSync(file, "utf8"));
  const by = (what) => rows.find((row) => row.what === what);
  return {
    day: statSync(file).mtime.toISOString().slice(0, 10),
    relay: by("bare Node relay"),
    least: by("the least of a gateway"),
    peer: by("HAProxy"),
    gateway: by("gateway, history in memory"),
  };
}

function pageOf() {
  return `${[
    "# Performance",
    "",
    "What the gateway adds to a query, beside others in the same run, and which targets it meets. This page is made by",
    "`node test/bench/performance.mjs` and not written by hand; [figures.md](../figures.md) has every other measurement, and",
    "[query-cost.md](../query-cost.md) where the time of a query goes. Client, engine and what is measured share one core, so that",
    "whatever a process does beside its queries is met by a query; a login is judged and a record is kept of each query. The ways",
    "take turns, and the first queries of a turn, which meet the caches that another way left, are not counted for any of them.",
    "Compare within one run: times move with the machine. The least of a gateway (`test/bench/least.mjs`) frames messages, knows a statement",
    "by its text, sends it over a pool, keeps a record and writes a line of a log, and does nothing else: the floor in this runtime.",
    "",
    ...Object.entries(wires).flatMap(([wire, name]) => wirePart(name, wire, found[wire])),
    "## Targets",
    "",
    "| What | Target | Found | | Floor, and what would be needed |",
    "| --- | --- | --- | --- | --- |",
    ...targets(found, ownCore).map(targetRow),
    "",
    "## What a change is held to",
    "",
    `Each night a query's processor time in the gateway is compared with that in a bare relay of the same run, and more than
30 % above what was kept fails (\`test/bench/regression.mjs\`): ${kept()}.`,
  ].join("\n")}\n`;
}

function kept() {
  return Object.entries(wires)
    .filter(([wire]) => baseline[wire] !== undefined)
    .map(([wire, name]) => `${name} ${baseline[wire]} times`)
    .join(", ");
}

function wirePart(name, wire, rows) {
  if (rows === undefined) return [];
  const ways = Object.entries({
    "bare Node relay": rows.relay,
    "the least of a gateway": rows.least,
    HAProxy: rows.peer,
    gateway: rows.gateway,
  }).filter(([, row]) => row !== undefined);
  return [
    `## ${name} to ${name}`,
    "",
    `Measured ${rows.day}, \`node test/bench/oneCore.mjs ${wire}\`.`,
    "",
    "| | Added, ms: p50 / p95 / p99 | Processor, µs: p50 / p95 / p99 | Queries/s of one core, 8 clients | Memory, MB |",
    "| --- | --- | --- | ---: | ---: |",
    ...ways.map(([what, row]) => wayRow(what, row)),
    "",
    ...plotOf(
      name,
      ways.map(([what, row]) => [what, row.addedMsAt]),
    ),
    ...ownCorePart(ownCore[wire]),
  ];
}

/** Where what a process does behind an answer is not what the next one waits for. */
function ownCorePart(rows) {
  if (rows === undefined) return [];
  const { relay, least, gateway } = rows;
  const ways = { "bare Node relay": relay, "the least of a gateway": least, gateway };
  return [
    "The same with a core of its own for what is measured, beside that of client and server (`BENCH_OWN_CORE=1`):",
    "",
    "| | Added, ms: p50 / p95 / p99 | Of the relay's |",
    "| --- | --- | --- |",
    ...Object.entries(ways).map(
      ([what, { addedMsAt, addedToRelay }]) =>
        `| ${what} | ${addedMsAt.join(" / ")} | ${addedToRelay.map((ratio) => ratio.toFixed(2)).join(" / ")} |`,
    ),
    "",
  ];
}

function wayRow(what, { addedMsAt, mainUs, ofEightUs, rssMb }) {
  const perSecond = Math.round(1e6 / ofEightUs).toLocaleString("en");
  return `| ${what} | ${addedMsAt.join(" / ")} | ${mainUs.join(" / ")} | ${perSecond} | ${rssMb} |`;
}

/** Bars of the three quantiles, one after the other for each way. */
function plotOf(name, ways) {
  const labels = ways.flatMap(([what]) =>
    ["p50", "p95", "p99"].map((part) => `"${short(what)} ${part}"`),
  );
  const values = ways.flatMap(([, added]) => added.map((ms) => Math.max(0, ms)));
  return [
    "```mermaid",
    "xychart-beta",
    `  title "${name}: added, ms"`,
    `  x-axis [${labels.join(", ")}]`,
    `  y-axis "ms" 0 --> ${Math.ceil(Math.max(...values) * 10) / 10}`,
    `  bar [${values.join(", ")}]`,
    "```",
    "",
  ];
}

function short(what) {
  return { "bare Node relay": "relay", "the least of a gateway": "least" }[what] ?? what;
}

/** `met` is undefined where the figure is missing. */
function targetRow({ what, target, figure, met, floor }) {
  const word = met === undefined ? "not measured" : met ? "met" : "missed";
  return `| ${what} | ${target} | ${figure ?? ""} | ${word} | ${met === true ? "" : floor} |`;
}
