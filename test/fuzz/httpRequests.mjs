/**
 * `node test/fuzz/httpRequests.mjs N [seed]`: N connections with made-up HTTP requests in pieces, answered by a server that
 * reads plain requests itself and by one of node:http alone. Ends with 1 when the two answer differently.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { build } from "esbuild";
import { countedLine } from "../evidence/counted.mjs";

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const problemsShown = 10;
/** Sockets that a system keeps for a while after their end are as many as ports. */
const perServer = 5_000;

const folder = await mkdtemp(join(tmpdir(), "fuzz-http-"));
const built = async (path) => {
  const outfile = join(folder, `${path.replaceAll("/", "-")}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`../../packages/${path}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  return await import(outfile);
};
const { connectionBy, sideOf } = await built("frontends/src/listener/http/plain/rig/beside");
const { Chance } = await built("wire/src/http/rig/responses");

const chance = new Chance(seed);
const problems = [];
let plain = 0;
for (let done = 0; done < count && problems.length < problemsShown;) {
  const ours = await sideOf(true);
  const theirs = await sideOf(false);
  for (let here = 0; here < perServer && done < count; here += 1, done += 1) {
    const pieces = connectionBy(chance);
    const [one, other] = await Promise.all([ours.answer(pieces), theirs.answer(pieces)]);
    if (!isDeepStrictEqual(one, other)) problems.push(JSON.stringify({ pieces, one, other }));
  }
  plain += ours.plain();
  await ours[Symbol.asyncDispose]();
  await theirs[Symbol.asyncDispose]();
}
console.log(`seed ${seed}: ${count} connections, ${plain} requests read without node:http`);
await rm(folder, { recursive: true });
console.log(countedLine("badInputs", count));
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 || plain === 0 ? 1 : 0);
