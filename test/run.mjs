/**
 * What `npm test` runs: the static checks, the bundle, then all tests that need only Node and npm.
 *
 * A check that passes is one line; one that fails prints everything it said. The last line is the
 * total, `N passed, N failed, N skipped`, where each static check counts as one.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** More at once would only make them wait for each other on a small machine. */
const checksAtOnceMax = 2;

const staticChecks = [
  { name: "types", script: "types" },
  { name: "lint", script: "lint" },
  { name: "borders", script: "borders" },
  { name: "format", script: "format:check" },
];

const total = { passed: 0, failed: 0, skipped: 0 };
await runChecks(staticChecks, checksAtOnceMax);
// Alone and before the tests: the threads they start are loaded from the bundle.
await runChecks([{ name: "bundle", script: "build" }], 1);
await runTests();
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runChecks(checks, atOnceMax) {
  const waiting = [...checks];
  const runner = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      await runCheck(check);
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, runner));
}

async function runCheck({ name, script }) {
  const startedMs = performance.now();
  const { code, output } = await run("npm", ["run", "--silent", script], "collect");
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (code === 0) {
    total.passed += 1;
    console.log(`ok      ${name} (${seconds} s)`);
  } else {
    total.failed += 1;
    console.log(`FAILED  ${name} (${seconds} s)\n${output.trimEnd()}\n`);
  }
}

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "gateway-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const { code } = await run(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--reporter=default",
        "--reporter=json",
        // Compares docs/reference/compatibility.md with what these tests say.
        "--reporter=./test/compat/reporter.ts",
        `--outputFile.json=${reportFile}`,
      ],
      "show",
    );
    countTests(reportFile, code);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Adds vitest's report to the total. A file that could not be loaded holds no failed test, and an
 * error outside every test shows in the exit code alone; each counts as one failure.
 */
function countTests(reportFile, code) {
  const report = readReport(reportFile);
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((result) => result.status !== "failed"),
  ).length;
  const failed = report.numFailedTests + unloaded;
  sayFailed(report);
  if (failed === 0 && code !== 0) console.log("FAILED   outside every test, as said above");
  total.passed += report.numPassedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
  total.failed += failed === 0 && code !== 0 ? 1 : failed;
}

/** One line for each file with a failure, right above the total, where whoever reads only the end sees them. */
function sayFailed(report) {
  for (const { name, status, assertionResults } of report.testResults) {
    if (status !== "failed") continue;
    const titles = assertionResults
      .filter((result) => result.status === "failed")
      .map(({ fullName }) => fullName);
    console.log(`FAILED   ${relative(root, name)}: ${titles.join("; ") || "could not be loaded"}`);
  }
}

/** An absent report means that vitest itself broke; its exit code then counts as the one failure. */
function readReport(reportFile) {
  try {
    return JSON.parse(readFileSync(reportFile, "utf8"));
  } catch {
    return {
      numPassedTests: 0,
      numFailedTests: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      testResults: [],
    };
  }
}

/** Runs a program without standard input. Answers its exit code, and its output when collected. */
function run(program, args, mode) {
  return new Promise((resolve) => {
    // One stream for both, so that the total below stays the last line.
    const stdio = mode === "show" ? ["ignore", 1, 1] : ["ignore", "pipe", "pipe"];
    const child = spawn(program, args, { cwd: root, stdio });
    const chunks = [];
    child.stdout?.on("data", (chunk) => chunks.push(chunk));
    child.stderr?.on("data", (chunk) => chunks.push(chunk));
    const finish = (code) => resolve({ code, output: Buffer.concat(chunks).toString() });
    child.on("error", (cause) => {
      chunks.push(Buffer.from(String(cause)));
      finish(1);
    });
    child.on("close", (code) => finish(code ?? 1));
  });
}
