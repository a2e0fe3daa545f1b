/**
 * `npm run test:nightly`: the long runs. Each goes on after another failed; the last line counts. What they printed
 * becomes the reference page of evidence, after each run anew: a night that is cut leaves what it did. Arguments pick
 * runs by words of their names; of the others the page has what they said last, each with its day and commit.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { evidencePage, keptOf } from "./evidence/page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** A shorter night says so by these, and the page says it with the run. */
const {
  FUZZ_FRAMES: frames = "5000000",
  FUZZ_REQUESTS: requests = "1000000",
  FUZZ_SECS: fuzzSecs = "3600",
  SIM_SEEDS = "10000",
  SOAK_SECS = "3600",
  SWARM_SECS = "3600",
} = process.env;
/** Of what one run prints, its end: there the failures and totals stand. */
const textMax = 2_000_000;

/** @type {readonly (readonly [name: string, args: readonly string[], env?: Record<string, string>])[]} */
const runs = [
  [
    "simulated fleets and the model of leases",
    ["node_modules/vitest/vitest.mjs", "run", "test/sim"],
    { SIM_SEEDS },
  ],
  [
    "simulated fleets over the functions of the database, and with planted bugs",
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      "test/sim/leasedTables.slow.test.ts",
      "test/sim/leasedPlanted.slow.test.ts",
    ],
    { GATEWAY_SLOW: "1" },
  ],
  [
    "every test that needs nothing but Node, with the cases of a night",
    // Those of test/sim have runs of their own.
    ["node_modules/vitest/vitest.mjs", "run", "--exclude=test/sim/**"],
  ],
  [
    "ordinary queries, a million answers",
    ["node_modules/vitest/vitest.mjs", "run", "test/ordinary/ordinary.slow.test.ts"],
    { GATEWAY_SLOW: "1" },
  ],
  ["proofs that take longer than a push may", ["test/real/run.mjs", "ordinary"]],
  ["deployments: types, chart, alerts, workflows, image", ["test/infra/check.mjs"]],
  ["what a query costs beside a bare relay, and did before", ["test/bench/regression.mjs"]],
  ["the web console in a browser", ["test/studio/run.mjs"]],
  ["suites of other projects, direct and through", ["test/suites/run.mjs"]],
  [
    "translation between dialects, on engines of both",
    ["--import", "tsx", "test/translate/run.mjs"],
  ],
  [
    "ten thousand queries under a policy, and of each the columns it touches",
    ["node_modules/vitest/vitest.mjs", "run", "packages/sql/src/read/masked.test.ts"],
    { ACCESS_QUERIES: "10000" },
  ],
  [
    "ten thousand queries under a policy, ClickHouse",
    ["test/real/run.mjs", "clickHouse"],
    { ACCESS_QUERIES: "10000" },
  ],
  ["every fault of a fleet", ["test/fleet/run.mjs"]],
  [
    "small wrongs in what decides who, where and as whom",
    ["test/mutation/run.mjs", ...(process.env.MUTATION_ARGS?.split(" ") ?? [])],
  ],
  ["two faults at once, an hour unless told", ["test/fleet/run.mjs", "f25"], { SWARM_SECS }],
  [
    "attacks, each with what is let through",
    ["node_modules/vitest/vitest.mjs", "run", "test/abuse"],
    { GATEWAY_SLOW: "1" },
  ],
  ["a worker killed ten times", ["test/fleet/run.mjs", "f11"]],
  ["ten thousand queries, each poll to another worker", ["test/fleet/run.mjs", "anyWorker"]],
  ["steady load, an hour unless told", ["test/fleet/run.mjs", "soak"], { SOAK_SECS }],
  ["Trino's clients direct and through", ["test/real/run.mjs", "trinoServer"]],
  ["tokens of a Keycloak, exchanged for those of Trino", ["test/real/run.mjs", "keycloak"]],
  [
    "a real OpenFGA, Open Policy Agent and Cerbos",
    ["test/real/run.mjs", "openFga", "policyServers"],
  ],
  ["pgx's own suite on the engine of the quick start", ["test/real/run.mjs", "goPgx"]],
  ["statements by chance, MySQL and MariaDB", ["test/real/run.mjs", "starRocks", "starRocksMysql"]],
  [
    "JDBC every way, MySQL and MariaDB",
    ["test/real/run.mjs", "toolsOnMysql", "toolsOnMariadb", "cursorsOnMysql", "cursorsOnMariadb"],
  ],
  [
    "an upgrade of a million records, and the store on a newer server",
    ["test/real/run.mjs", "debianPostgres", "embeddedPostgres"],
  ],
  ["native results under valgrind", ["test/memcheck/run.mjs", "2000"]],
  ["ten thousand statements direct and through, PostgreSQL", ["test/real/run.mjs", "adbcPostgres"]],
  ["frames by chance, PostgreSQL", ["test/fuzz/frames.mjs", "postgres", frames]],
  ["frames by chance, MySQL", ["test/fuzz/frames.mjs", "mysql", frames]],
  ["requests by chance, Trino", ["test/fuzz/trino.mjs", requests]],
  [
    "inputs by chance, readers of every other wire, of tokens and of processes",
    ["test/fuzz/readers.mjs", fuzzSecs],
  ],
  [
    "requests by chance over sockets, every wire of HTTP and the admin API",
    ["test/fuzz/sockets.mjs", fuzzSecs],
  ],
  ["calls by chance, Arrow Flight SQL", ["test/fuzz/flight.mjs", fuzzSecs]],
  ["HTTP responses by chance, beside node:http", ["test/fuzz/http.mjs", "200000"]],
  ["HTTP requests by chance, beside node:http", ["test/fuzz/httpRequests.mjs", "50000"]],
];
const env = {
  ...process.env,
  GATEWAY_NIGHTLY: "1",
  FLEET_KILLS: "10",
  FLEET_POLLED: "10000",
  FLEET_POLLED_WIRES: "1000",
};

const words = process.argv.slice(2);
const isPicked = ([name]) => words.length === 0 || words.some((word) => name.includes(word));
const picked = runs.filter(isPicked);
const about = {
  date: new Date().toISOString().slice(0, 10),
  commit: execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { cwd: root }).toString().trim(),
  machine: `${availableParallelism()} × ${cpus()[0]?.model ?? "unknown"}, Node ${process.version}`,
};
const keptFile = join(root, "test/evidence/kept.jsonl");
const kept = new Map(keptLines().map((run) => [run.name, run]));
let failed = 0;
for (const [name, args, more = {}] of picked) {
  const fromMs = performance.now();
  const { code, text } = await ran(args, more);
  console.log(`${code === 0 ? "passed" : "FAILED"}   ${name}`);
  if (code !== 0) failed += 1;
  const seconds = (performance.now() - fromMs) / 1000;
  const told = Object.entries(more).map(([key, value]) => `${key}=${value} `);
  const command = `${told.join("")}node ${args.join(" ")}`;
  kept.set(name, keptOf({ name, command, ...about, code, seconds, text }));
  writePage();
}
console.log(`${picked.length - failed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/** What is kept of each run, a line each; nothing before the first night. */
function keptLines() {
  if (!existsSync(keptFile)) return [];
  return readFileSync(keptFile, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** In the order of the runs; what is no run any more is forgotten. */
function writePage() {
  const names = runs.map(([name]) => name);
  const made = names.flatMap((name) => kept.get(name) ?? []);
  writeFileSync(keptFile, made.map((run) => `${JSON.stringify(run)}\n`).join(""));
  const left = names.filter((name) => !kept.has(name));
  writeFileSync(join(root, "docs/reference/evidence.md"), evidencePage(made, left));
}

function ran(args, more) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...env, ...more },
      stdio: ["inherit", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => {
      process.stdout.write(chunk);
      text = (text + chunk).slice(-textMax);
    });
    child.on("close", (code) => resolve({ code: code ?? 1, text }));
    child.on("error", () => resolve({ code: 1, text }));
  });
}
