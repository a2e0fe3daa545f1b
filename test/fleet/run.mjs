/**
 * `npm run test:fleet`: control planes and workers as real processes, faults from the matrix, and the
 * invariants computed from the database, the engine and the workers' own answers. The last line counts.
 * Arguments pick cases by the beginning of their file's name. A case may say how long it usually takes: those that take
 * long begin first, so that no lane waits for one at the end.
 */
import { readdir } from "node:fs/promises";
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { count as addCount, printCounted } from "../evidence/counted.mjs";
import { openFleet, Skip } from "./fleet.mjs";
import { night } from "./night.mjs";
import { within } from "./wait.mjs";

const caseSeconds = 180;
const only = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };

/** Most of a case by day is waiting for somebody's next try; at night much of one is load. */
const casesAtOnce = night ? 2 : 3;

/** A client that fails before its case waits for it is judged there, and ends nobody else's case. */
const unawaited = new Map();
process.on("unhandledRejection", (error, promise) => unawaited.set(promise, error));
process.on("rejectionHandled", (promise) => unawaited.delete(promise));

await buildIfStale();
const names = (await readdir(new URL("cases/", import.meta.url))).toSorted();
const files = names.filter(
  (file) => only.length === 0 || only.some((start) => file.startsWith(start)),
);
const cases = await Promise.all(
  files.map(async (file) => ({
    faultsMade: /^f\d/.test(file) ? 1 : 0,
    usualSeconds: 0,
    ...(await import(new URL(`cases/${file}`, import.meta.url))),
  })),
);
cases.sort((a, b) => b.usualSeconds - a.usualSeconds);
const beginMs = performance.now();
await Promise.all(Array.from({ length: casesAtOnce }, lane));
for (const error of unawaited.values()) {
  counts.failed += 1;
  console.log(`FAILED   what no case waited for\n${error?.stack ?? String(error)}`);
}
console.log(`seconds: ${Math.round((performance.now() - beginMs) / 1000)}, ${casesAtOnce} at once`);
printCounted();
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

async function lane() {
  for (let some = cases.shift(); some !== undefined; some = cases.shift()) await one(some);
}

/** `seconds` is a case's limit, `faultsMade` how many of the matrix it makes. */
async function one({ title, run, seconds = caseSeconds, faultsMade }) {
  const fromMs = performance.now();
  const fleet = await openFleet();
  let line;
  try {
    await within("the case ends", run(fleet), seconds);
    fleet.judgeLogs();
    counts.passed += 1;
    addCount("faults", faultsMade);
    line = `passed   ${title}`;
  } catch (error) {
    line = outcomeOf(error, title, fleet);
  }
  await fleet.end().catch((error) => {
    counts.failed += 1;
    console.log(`FAILED   the end of: ${title}\n${error.stack}`);
  });
  const took = ((performance.now() - fromMs) / 1000).toFixed(1);
  const figures = fleet.figures.map((figure) => `\n         ${figure}`).join("");
  console.log(`${line} [${took} s]${figures}`);
}

function outcomeOf(error, title, fleet) {
  if (error instanceof Skip) {
    counts.skipped += 1;
    return `skipped  ${title} (${error.message})`;
  }
  counts.failed += 1;
  const text = error instanceof Error ? error.stack : String(error);
  return `FAILED   ${title}\n${`${text}\n${fleet.tails()}`.replaceAll(/^/gm, "         ")}`;
}
