/**
 * `node test/fuzz/trino.mjs N [seed]`: N made-up requests into the readers of the Trino wire, and a
 * hundredth of them over sockets against a listener. Ends with 1 when one of them throws, is logged as
 * a bug, takes longer than a second, or when memory does not come back. Says how many branches of the readers were taken.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { countedLine } from "../evidence/counted.mjs";
import { branchesOf, sayBranches, startCoverage } from "./coverage.mjs";

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const slowestMsMax = 1_000;
const grownMax = 200 * 1024 * 1024;
const readers =
  /wire\/src\/trino\/|frontends\/src\/trino\/(read|session|login|body|exchange|requests)/;
const root = fileURLToPath(new URL("../../", import.meta.url));

const folder = await mkdtemp(join(tmpdir(), "fuzz-trino-"));
const outfile = join(folder, "fuzz.mjs");
await build({
  entryPoints: [join(root, "packages/frontends/src/trino/rig/fuzz.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
});
const session = await startCoverage();
const { fuzzListener, fuzzReaders } = await import(outfile);

const before = process.memoryUsage().rss;
const from = performance.now();
const problems = [];
let slowestMs = 0;
let requests = 0;
const statuses = {};
for (let done = 0, part = 0; done < count; done += 100_000, part += 1) {
  const size = Math.min(100_000, count - done);
  fuzzReaders(size, seed + part);
  let found = await fuzzListener(size / 100, seed + part);
  // A machine that was busy elsewhere is not so three times in a row.
  for (let again = 0; again < 2 && found.slowestMs > slowestMsMax; again += 1)
    found = await fuzzListener(size / 100, seed + part);
  requests += found.requests;
  slowestMs = Math.max(slowestMs, found.slowestMs);
  for (const [status, times] of found.statuses) statuses[status] = (statuses[status] ?? 0) + times;
  if (found.bugs.length > 0) problems.push(`seed ${seed + part}: ${found.bugs[0]}`);
  if (found.unended > 0) problems.push(`seed ${seed + part}: ${found.unended} queries left`);
}
const grown = process.memoryUsage().rss - before;
if (slowestMs > slowestMsMax) problems.push(`a connection took ${Math.round(slowestMs)} ms`);
if (grown > grownMax) problems.push(`memory grew by ${Math.round(grown / 1024 / 1024)} MB`);
console.log(
  `seed ${seed}: ${count} requests read, ${requests} over sockets, ${Math.round((performance.now() - from) / 1000)} s, slowest ${Math.round(slowestMs)} ms, memory ${Math.round(grown / 1024 / 1024)} MB, answers ${JSON.stringify(statuses)}`,
);
sayBranches(await branchesOf(session, outfile, readers));
await rm(folder, { recursive: true });
console.log(countedLine("badInputs", count + requests));
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
