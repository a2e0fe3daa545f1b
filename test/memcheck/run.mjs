/**
 * `npm run test:nightly` runs it: ordinary queries through the binding of native results under valgrind's memcheck.
 * An access beside a block of native memory, or of one that was given back, is an error, wherever the process would
 * have gone on. Arguments: how many queries, and the first one's seed.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { bundled } from "../bench/bundled.mjs";

const [queries = "500", seed = String(Math.floor(Math.random() * 1e9))] = process.argv.slice(2);
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const found = 99;

if (spawnSync("valgrind", ["--version"]).error !== undefined) {
  console.log("skipped: there is no valgrind\n0 passed, 0 failed, 1 skipped");
  process.exit(0);
}
await buildIfStale();
const folder = pathOf("../../bench/memcheck");
mkdirSync(folder, { recursive: true });
const log = `${folder}/valgrind.log`;
const reader = await bundled(pathOf("reader.mjs"), folder);
const { status } = spawnSync(
  "valgrind",
  [
    `--error-exitcode=${found}`,
    `--log-file=${log}`,
    `--suppressions=${pathOf("v8.supp")}`,
    // V8 writes code.
    "--smc-check=all-non-file",
    "--num-callers=30",
    process.execPath,
    reader,
    pathOf("../../packages/gateway/dist"),
    seed,
    queries,
  ],
  { stdio: "inherit" },
);
const text = readFileSync(log, "utf8");
rmSync(folder, { recursive: true });
if (status !== 0) console.log(text);
console.log(`${/ERROR SUMMARY: .*/.exec(text)?.[0]}, ${queries} queries from seed ${seed} on`);
console.log(status === 0 ? "1 passed, 0 failed, 0 skipped" : "0 passed, 1 failed, 0 skipped");
process.exitCode = status === 0 ? 0 : 1;
