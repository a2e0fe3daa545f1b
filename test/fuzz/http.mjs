/**
 * `node test/fuzz/http.mjs N [seed]`: N made-up HTTP responses in pieces, read by our reader and by that of node:http.
 * Ends with 1 when ours takes one that node:http refuses, when the two read something else of one, when pieces change
 * what is read, and when memory grows. Says how many ours alone refused, and why not which: those are listed in
 * the test beside the reader.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { build } from "esbuild";
import { countedLine } from "../evidence/counted.mjs";
import { branchesOf, sayBranches, startCoverage } from "./coverage.mjs";

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const grownMax = 200 * 1024 * 1024;
const problemsShown = 10;

const folder = await mkdtemp(join(tmpdir(), "fuzz-http-"));
const outfile = join(folder, "fuzz.mjs");
await build({
  entryPoints: [
    fileURLToPath(new URL("../../packages/wire/src/http/rig/responses.ts", import.meta.url)),
  ],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
});
const session = await startCoverage();
const { Chance, nodeAnswer, ourAnswer, piecesBy, responseBy } = await import(outfile);

const before = process.memoryUsage().rss;
const chance = new Chance(seed);
const problems = [];
const seen = { both: 0, neither: 0, stricter: 0 };
for (let done = 0; done < count && problems.length < problemsShown; done += 1) {
  const text = responseBy(chance);
  const pieces = piecesBy(chance, text);
  const ours = ourAnswer(pieces);
  const theirs = await nodeAnswer(pieces);
  const shown = JSON.stringify(text);
  if (!isDeepStrictEqual(ours, ourAnswer([text]))) problems.push(`pieces change ${shown}`);
  if (ours === undefined) {
    seen[theirs === undefined ? "neither" : "stricter"] += 1;
    if (theirs !== undefined && process.env.FUZZ_STRICTER) console.log(shown);
    continue;
  }
  seen.both += 1;
  if (theirs === undefined) problems.push(`node:http refuses ${shown}`);
  else if (!isDeepStrictEqual(ours, theirs)) problems.push(`read otherwise: ${shown}`);
}
const grown = process.memoryUsage().rss - before;
if (grown > grownMax) problems.push(`memory grew by ${Math.round(grown / 1024 / 1024)} MB`);
const { both, neither, stricter } = seen;
console.log(
  `seed ${seed}: ${count} responses, ${both} taken by both, ${neither} by neither, ${stricter} refused by ours alone`,
);
sayBranches(await branchesOf(session, outfile, /wire\/src\/http\/(?!rig)/));
await rm(folder, { recursive: true });
console.log(countedLine("badInputs", count));
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
