/**
 * `node test/fuzz/frames.mjs mysql|postgres [frames] [seed]`: frames by chance against that frontend, by
 * the same generator as its test. Fails on a bug, on a connection that takes over a second, and on memory that grows. Says
 * how many branches of what reads a client's bytes were taken.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { countedLine } from "../evidence/counted.mjs";
import { branchesOf, sayBranches, startCoverage } from "./coverage.mjs";

const [wire, wanted, seedGiven] = process.argv.slice(2);
if (wire !== "mysql" && wire !== "postgres") throw new Error("which wire: mysql or postgres?");
const framesWanted = Number(wanted ?? 1_000_000);
const firstSeed = Number(seedGiven ?? Math.floor(Math.random() * 2 ** 31));
const framesPerRun = 250_000;
const slowestMsMax = 1000;
const growthBytesMax = 200e6;

/** What reads bytes of a client; what is behind it has tests of its own. */
const readers = {
  mysql: /wire\/src\/mysql\/|frontends\/src\/mysql\/(connection|machine|inbox|login)/,
  postgres: /wire\/src\/postgres\/|frontends\/src\/postgres\/(connection|machine|inbox|login)/,
};

const source = new URL(`../../packages/frontends/src/${wire}/rig/fuzz.ts`, import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "gateway-fuzz-"));
try {
  const outfile = join(folder, "fuzz.mjs");
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
  });
  const session = await startCoverage();
  const { fuzz } = await import(pathToFileURL(outfile).href);
  await run(fuzz);
  sayBranches(await branchesOf(session, outfile, readers[wire]));
} finally {
  rmSync(folder, { recursive: true });
}

async function run(fuzz) {
  let frames = 0;
  let connections = 0;
  let before;
  let seed = firstSeed;
  // Nothing is left that could go on: a connection waits for what never comes.
  process.once("beforeExit", () => {
    console.error(`seed ${seed}: a connection never ended`);
    process.exit(1);
  });
  for (; frames < framesWanted; seed += 1) {
    const size = Math.min(framesPerRun, framesWanted - frames);
    let done = await fuzz(size, seed);
    // A machine that was busy elsewhere is not so three times in a row.
    for (let again = 0; again < 2 && done.slowestMs > slowestMsMax; again += 1)
      done = await fuzz(size, seed);
    frames += done.frames;
    connections += done.connections;
    const { rss } = process.memoryUsage();
    before ??= rss;
    const line = `${frames} frames, ${connections} connections, seed ${seed}`;
    console.log(`${line}, slowest ${done.slowestMs.toFixed(0)} ms, ${(rss / 1e6).toFixed(0)} MB`);
    if (done.slowestMs > slowestMsMax) throw new Error("a connection took over a second");
    if (rss - before > growthBytesMax) throw new Error("memory grows");
  }
  process.removeAllListeners("beforeExit");
  console.log(countedLine("badInputs", frames));
}
