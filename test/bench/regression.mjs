/**
 * `node test/bench/regression.mjs [--save]`: whether a query costs more than it did. For each wire, in one short run on one
 * core, the processor time of a query in the gateway over that in a bare Node relay, in the middle of the queries; compared
 * with `baseline.json`. More than 30 % above it in three runs out of three fails. A ratio within one run does not care
 * how fast the machine is, and processor time does not care what else it does; caches do, hence three runs. `--save` keeps
 * the middle of three.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { median } from "./figures.mjs";

const marginMax = 1.3;
const runsMax = 3;
const wires = ["trino", "mysql", "postgres", "clickhouse"];
const gatewayRow = "gateway, history in memory";
const oneCore = fileURLToPath(new URL("oneCore.mjs", import.meta.url));
const baselineFile = new URL("baseline.json", import.meta.url);
const isSaving = process.argv.includes("--save");
/** Apart from where the page of all figures finds its own: a run is too short for it. */
const folder = "bench/regression";
const baseline = JSON.parse(readFileSync(baselineFile, "utf8"));

const counts = { passed: 0, failed: 0 };
for (const wire of wires) {
  const found = [];
  const isEnough = () => !isSaving && Math.min(...found) <= limitOf(wire);
  do found.push(ratioOf(wire));
  while (found.length < runsMax && !isEnough());
  const least = Math.min(...found);
  const isFine = least <= limitOf(wire);
  counts[isFine ? "passed" : "failed"] += 1;
  const all = found.map((ratio) => ratio.toFixed(2)).join(", ");
  console.log(
    `${isFine ? "passed" : "FAILED"}   a query of ${wire}: ${all} times a bare relay's, ${baseline[wire]} before`,
  );
  if (isSaving) baseline[wire] = Number(median(found).toFixed(2));
}
if (isSaving) writeFileSync(baselineFile, `${JSON.stringify(baseline, undefined, 2)}\n`);
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed === 0 ? 0 : 1);

/** A wire without a figure yet has nothing to be held to. */
function limitOf(wire) {
  return isSaving || baseline[wire] === undefined ? Infinity : baseline[wire] * marginMax;
}

function ratioOf(wire) {
  const asked = { BENCH_WAYS: "memory", BENCH_SHARE: "0.4", BENCH_SECONDS: "12" };
  const env = { ...process.env, ...asked, BENCH_INTO: folder };
  const run = spawnSync(process.execPath, [oneCore, wire], { env, encoding: "utf8" });
  if (run.status !== 0) throw new Error(`${wire}: ${run.stderr}`);
  const rows = JSON.parse(readFileSync(`${folder}/oneCore-${wire}.json`, "utf8"));
  return rows.find(({ what }) => what === gatewayRow).mainToRelay[0];
}
