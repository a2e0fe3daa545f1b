/**
 * `node test/fuzz/readers.mjs [seconds] [seed] [word]`: made-up inputs into the readers of `readers.ts` for so long, those
 * whose names hold the word. Ends with 1 when one throws, takes longer than a second, or memory does not come back. Says
 * how many branches of the readers were taken.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { countedLine } from "../evidence/counted.mjs";
import { branchesOf, sayBranches, startCoverage } from "./coverage.mjs";

const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const word = process.argv[4] ?? "";
/** Inputs of one reader in a row. */
const turn = 250;
const slowestMsMax = 1_000;
const growthBytesMax = 200e6;
/** What is read by nothing but these targets. */
const readers =
  /wire\/src\/(flight\/(arrowRead|flatReader)|clickhouse\/(compressed|lz4))|flightSql\/(carry\/frames|carry\/named|read\/command|value\/(parameters|cells))|clickhouse\/read\/(fields|firstWords|insertForm|namedParameters)|snowflake\/(read\/(arrays|literals|local)|value\/(bindings|queryUuid))|access\/src\/client\/(token|static\/keyPair|oidc\/jwks)|processes\/(channel|switchboard)/;

const folder = mkdtempSync(join(tmpdir(), "gateway-fuzz-"));
const problems = [];
try {
  const outfile = join(folder, "readers.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("entry.ts", import.meta.url))],
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
  const { Chance, targets } = await import(pathToFileURL(outfile).href);
  await run(
    Chance,
    Object.entries(targets).filter(([name]) => name.includes(word)),
  );
  sayBranches(await branchesOf(session, outfile, readers));
} finally {
  rmSync(folder, { recursive: true });
}
for (const problem of problems) console.log(problem);
console.log(
  `${Number(problems.length === 0)} passed, ${Number(problems.length > 0)} failed, 0 skipped`,
);
process.exit(problems.length > 0 ? 1 : 0);

async function run(Chance, picked) {
  const books = new Map(picked.map(([name]) => [name, { inputs: 0, accepted: 0, slowestMs: 0 }]));
  const endMs = performance.now() + seconds * 1_000;
  let before;
  for (let from = seed; performance.now() < endMs && problems.length === 0; from += turn) {
    for (const [name, target] of picked)
      await inTurn(books.get(name), { Chance, name, target, from });
    before ??= process.memoryUsage().rss;
  }
  for (const [name, { inputs, accepted, slowestMs }] of books) {
    console.log(
      `ok  ${name}: ${inputs} inputs, ${accepted} taken, slowest ${slowestMs.toFixed(0)} ms`,
    );
  }
  const grown = process.memoryUsage().rss - before;
  if (grown > growthBytesMax) problems.push(`memory grew by ${Math.round(grown / 1e6)} MB`);
  const total = [...books.values()].reduce((sum, { inputs }) => sum + inputs, 0);
  console.log(`seed ${seed}: ${total} inputs, ${Math.round(grown / 1e6)} MB more`);
  console.log(countedLine("badInputs", total));
}

async function inTurn(book, { Chance, name, target, from }) {
  for (let one = from; one < from + turn; one += 1) {
    const ask = async () => {
      const fromMs = performance.now();
      const accepted = await target(new Chance(one));
      return { accepted, ms: performance.now() - fromMs };
    };
    try {
      let { accepted, ms } = await ask();
      // A machine that was busy elsewhere is not so three times in a row.
      for (let again = 0; again < 2 && ms > slowestMsMax; again += 1)
        ({ accepted, ms } = await ask());
      if (ms > slowestMsMax) throw new Error(`it takes ${Math.round(ms)} ms`);
      book.inputs += 1;
      book.accepted += Number(accepted);
      book.slowestMs = Math.max(book.slowestMs, ms);
    } catch (error) {
      problems.push(`FAILED   ${name}, FUZZ_SEED=${one}: ${error.stack}`);
      return;
    }
  }
}
