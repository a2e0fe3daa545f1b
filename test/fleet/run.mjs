/**
 * `npm run test:fleet`: control planes and workers as real processes, faults from the matrix, and the
 * invariants computed from the database, the engine and the workers' own answers. The last line counts.
 * Arguments pick cases by the beginning of their file's name.
 */
import { readdir } from "node:fs/promises";
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { openFleet, Skip } from "./fleet.mjs";
import { within } from "./wait.mjs";

const caseSeconds = 120;
const only = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };

await buildIfStale();
const files = (await readdir(new URL("cases/", import.meta.url))).toSorted();
for (const file of files) {
  if (only.length > 0 && !only.some((start) => file.startsWith(start))) continue;
  await one(await import(new URL(`cases/${file}`, import.meta.url)));
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

async function one({ title, run }) {
  const fromMs = performance.now();
  const fleet = await openFleet();
  let line;
  try {
    await within("the case ends", run(fleet), caseSeconds);
    fleet.judgeLogs();
    counts.passed += 1;
    line = `passed   ${title}`;
  } catch (error) {
    line = outcomeOf(error, title, fleet);
  }
  await fleet.end();
  console.log(`${line} [${((performance.now() - fromMs) / 1000).toFixed(1)} s]`);
  for (const figure of fleet.figures) console.log(`         ${figure}`);
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
