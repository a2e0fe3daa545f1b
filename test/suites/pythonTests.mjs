/**
 * Suites written for pytest: a Python of their own with pinned packages, and how each test of a run ended.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "../real/command.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
/** The projects that the suites are run from, and what reports their tests. */
export const projects = fileURLToPath(new URL("python", import.meta.url));
/** A whole run that takes longer hangs. */
const runSeconds = 3600;

/** Where the Python of this name and all that belongs to it lie. */
export function pythonFolder(name) {
  return join(cache, name);
}

/**
 * Brings a Python with these packages, once. Answers `{python}`, or `{reason}` why there is none. `more` is done
 * in its folder behind it, and answers a reason where that failed.
 */
export async function pythonWith(name, packages, more) {
  const folder = pythonFolder(name);
  const python = join(folder, "bin", "python");
  const marker = join(folder, "complete");
  const wanted = packages.join("\n");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return { python };
  const made = await command("python3", ["-m", "venv", "--clear", folder], { seconds: 120 });
  if (made.code !== 0) return { reason: "there is no python3 with venv" };
  const args = ["-m", "pip", "install", "-q", ...packages];
  const installed = await command(python, args, { seconds: 480 });
  if (installed.code !== 0) return { reason: `pip failed: ${lastLine(installed.stderr)}` };
  const reason = await more?.(folder, python);
  if (reason !== undefined) return { reason };
  await writeFile(marker, wanted);
  return { python };
}

/**
 * Unpacks files of a package's source into a folder, as its wheels hold no tests. `files` are patterns of tar.
 * Answers undefined, or why it could not.
 */
export async function unpackSource(python, { name, version, files, to }) {
  const args = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", name];
  const archives = `${to}.archive`;
  const asked = ["-d", archives, `${name}==${version}`];
  const fetched = await command(python, [...args, ...asked], { seconds: 300 });
  if (fetched.code !== 0) return `pip failed: ${lastLine(fetched.stderr)}`;
  await mkdir(to, { recursive: true });
  const archive = join(archives, `${name.toLowerCase()}-${version}.tar.gz`);
  const tar = ["-xzf", archive, "-C", to, "--strip-components=1", "--wildcards", ...files];
  const unpacked = await command("tar", tar);
  return unpacked.code === 0 ? undefined : `tar failed: ${unpacked.stderr.trim()}`;
}

/**
 * Runs pytest in a folder and answers a map of `{outcome, said}` by test, as `goTests` does. `nameOf` makes a
 * test's name of pytest's. Throws where not one test was found, with what pytest said.
 */
export async function pythonTests(python, args, { cwd, env = {}, nameOf = (id) => id }) {
  const report = join(cwd, "report.jsonl");
  await rm(report, { force: true });
  const all = {
    PYTHONDONTWRITEBYTECODE: "1",
    // What failures say of sets and dictionaries comes in one order.
    PYTHONHASHSEED: "0",
    SUITE_REPORT: report,
    ...env,
    PYTHONPATH: [projects, env.PYTHONPATH].filter((path) => path !== undefined).join(":"),
  };
  const pytest = ["-m", "pytest", "-p", "reporting", "-p", "no:cacheprovider", "-q", ...args];
  const run = await command(python, pytest, { cwd, env: all, seconds: runSeconds });
  const lines = (await readFile(report, "utf8").catch(() => "")).split("\n").filter(Boolean);
  const results = new Map();
  for (const { test, outcome, said } of lines.map((line) => JSON.parse(line))) {
    if (test !== undefined) keep(results, nameOf(test), outcome, said);
  }
  if (results.size > 0) return results;
  throw new Error(`no test ran: ${run.stdout.slice(-4000)}\n${run.stderr.slice(-4000)}`);
}

/** A test has three parts, and fails with the first that does. */
function keep(results, name, outcome, said) {
  const before = results.get(name);
  if (before !== undefined && before.outcome !== "passed") return;
  results.set(name, { outcome, said: firstLine(said) });
}

/** What a failure says first. */
function firstLine(said) {
  return (said.split("\n").find((line) => line.trim() !== "") ?? "").slice(0, 300);
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
