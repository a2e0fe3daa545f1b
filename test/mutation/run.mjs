/**
 * `node test/mutation/run.mjs [PATH[:LINE] …] [--count N] [--minutes N] [--seed TEXT] [--again FILE]`: makes a small wrong in a source,
 * asks the tests that import it whether they notice, and does so for a sample of the sources that decide who somebody is,
 * where a query goes and as whom. Prints those that nobody noticed, to be read; ends with 1 below the floor. After
 * `--minutes` the score is that of the mutants judged until then: the sample's order is by chance, so they are one too.
 * `PATH:LINE`, as an unnoticed one is printed, judges what is on that line again; `--again` those that a run printed as
 * unnoticed into that file, and the score is then that of its sample with what is noticed by now.
 *
 * A mutant may be the same program in other words: those that were read as such are left out (`equivalents.mjs`), the
 * others count, so no score is 100. And what only a run of the whole gateway would notice counts as unnoticed, for the
 * tests are those of the packages. Where none of them sees a source, that is said.
 */
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { countedLine } from "../evidence/counted.mjs";
import { printedOf, unnoticedLine } from "./printed.mjs";
import { equivalents } from "./equivalents.mjs";
import { mutantsOf, mutated } from "./mutants.mjs";
import { relatedTests } from "./related.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = fileURLToPath(new URL("judge.mjs", import.meta.url));
/** Who, where, as whom. */
const deciding = [
  "packages/access/src",
  "packages/core/src/route",
  "packages/core/src/guard",
  "packages/core/src/run/step",
];
/** Shapes of a configuration, parts of tests, and programs of threads, which run from the bundle and not from here. */
const undecided = /\.test\.ts$|\.suite\.ts$|\/rig\/|\/config\.ts$|Thread\.ts$/;
const floor = 0.85;
const testsMax = 10;
/** Of one test file, whose tests may time out one after the other. */
const answerSeconds = 120;
/** Beyond what a busy machine makes a timer late. */
const pauseSeconds = 10;

const words = process.argv.slice(2);
const count = Number(option("--count") ?? 200);
const minutes = Number(option("--minutes") ?? Infinity);
const seed = option("--seed") ?? String(Math.floor(performance.timeOrigin));
const again = option("--again");
const before = again === undefined ? undefined : printedOf(readFileSync(again, "utf8"));
const folders = words.length > 0 ? words : deciding;

const testsOf = relatedTests(root);
const all = folders.flatMap((given) => {
  const [path, line] = given.split(":");
  const isAsked = (mutant) => line === undefined || mutant.line === Number(line);
  return sourcesIn(path).flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return mutantsOf(source)
      .filter((mutant) => isAsked(mutant) && !isEquivalent(file, mutant))
      .map((mutant) => ({ ...mutant, file, source }));
  });
});
const sample = all
  .filter((mutant) => before === undefined || before.unnoticed.has(printed(mutant)))
  .toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))
  .slice(0, count);
console.log(`${sample.length} of ${all.length} mutants, seed ${before?.seed ?? seed}`);

let judge;
const unnoticed = [];
/** Whether each test passes with every source as it is: one that always fails would notice everything. */
const sound = new Map();
/** How often this machine slept, or held this process and those it started. */
let pauses = 0;
let lastMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  if (nowMs - lastMs > pauseSeconds * 1_000) pauses += 1;
  lastMs = nowMs;
}, 1_000);
const endMs = performance.now() + minutes * 60_000;
let judged = 0;
for (const mutant of sample) {
  if (performance.now() > endMs) break;
  judged += 1;
  if (judged % 100 === 0) console.log(`${judged} judged, ${unnoticed.length} of them unnoticed`);
  const tests = testsOf(mutant.file).slice(0, testsMax);
  if (await isNoticed(mutant, tests)) continue;
  unnoticed.push(mutant);
  const unseen = tests.length === 0 ? " (no test near it)" : "";
  console.log(`unnoticed  ${printed(mutant)}${unseen}`);
}
stop();
if (before !== undefined) {
  // What there was no time for stays unnoticed; what is known by now to be the same program was no wrong.
  unnoticed.push(...sample.slice(judged));
  judged = before.judged - (before.unnoticed.size - sample.length);
}
const score = 1 - unnoticed.length / judged;
const noticed = judged - unnoticed.length;
console.log(
  `noticed ${noticed} of ${judged}: ${(score * 100).toFixed(1)} %, floor ${floor * 100} %`,
);
console.log(countedLine("mutants", judged));
console.log(countedLine("unnoticed", unnoticed.length));
const passed = score >= floor;
console.log(`${Number(passed)} passed, ${Number(!passed)} failed, 0 skipped`);
process.exit(passed ? 0 : 1);

function printed({ file, line, what }) {
  return unnoticedLine(relative(root, file), line, what);
}

function option(name) {
  const at = words.indexOf(name);
  return at === -1 ? undefined : words.splice(at, 2)[1];
}

function sourcesIn(path) {
  if (path.endsWith(".ts")) return [join(root, path)];
  return readdirSync(join(root, path), { recursive: true })
    .map((name) => join(root, path, name))
    .filter((file) => file.endsWith(".ts") && !undecided.test(file));
}

function isEquivalent(path, { what, text }) {
  return equivalents.some(
    ({ file, whats, becomes = text }) =>
      file === relative(root, path) && whats.includes(what) && becomes === text,
  );
}

/** An order by chance that the seed repeats. */
function rankOf({ file, from, text }) {
  return createHash("sha256")
    .update(`${seed} ${relative(root, file)} ${from} ${text}`)
    .digest("hex");
}

/**
 * Whether a test fails that passes without the wrong. One that does not come back fails as well: a loop without an end is
 * a wrong that nobody overlooks.
 */
async function isNoticed(mutant, tests) {
  const left = tests.filter((test) => sound.get(test) !== false);
  while (left.length > 0) {
    const failed = await failing(mutant, left);
    if (failed === null) return false;
    if (await isSound(failed, mutant)) return true;
    left.splice(0, left.indexOf(failed) + 1);
  }
  return false;
}

async function isSound(test, { file, source }) {
  const known = sound.get(test);
  if (known !== undefined) return known;
  const asked = () => failing({ file, source, from: 0, to: 0, text: "" }, [test]);
  // Once more before it is called unsound: on a busy machine one may miss its time.
  const first = (await asked()) === null ? null : await asked();
  if (first !== null) {
    console.log(`left out   ${relative(root, test)}: it fails, or does not come back`);
  }
  sound.set(test, first === null);
  return first === null;
}

/** The first test that fails or does not come back in its time, or null. */
async function failing(mutant, tests) {
  for (;;) {
    const pausesBefore = pauses;
    const failed = await answered(mutant, tests);
    // Whatever waited through a pause ran out of its time: that says nothing of the wrong.
    if (failed === null || pauses === pausesBefore) return failed;
  }
}

async function answered({ file, source, from, to, text }, tests) {
  judge ??= await started();
  const asked = judge;
  let at = tests[0];
  const answer = await new Promise((resolve) => {
    let limit = setTimeout(stop, answerSeconds * 1_000);
    const done = (value) => {
      clearTimeout(limit);
      asked.removeAllListeners("exit");
      asked.removeAllListeners("message");
      resolve(value);
    };
    asked.on("message", (said) => {
      if (said.at === undefined) return done(said);
      // Each has the whole time: a busy machine would make the last of many look as if it hung.
      clearTimeout(limit);
      limit = setTimeout(stop, answerSeconds * 1_000);
      at = said.at;
    });
    asked.once("exit", () => done(undefined));
    asked.send({ file, text: mutated(source, { from, to, text }), tests });
  });
  if (answer === undefined) judge = undefined;
  if (answer?.error !== undefined) throw new Error(answer.error);
  return answer === undefined ? at : answer.failing;
}

/** The judge leads a group of processes: a test in an endless loop hears no end of its parent. */
function stop() {
  if (judge?.pid === undefined) return;
  try {
    process.kill(-judge.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function started() {
  return new Promise((resolve, reject) => {
    const child = fork(program, [], {
      cwd: root,
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("message", () => {
      child.removeAllListeners("exit");
      resolve(child);
    });
    child.once("exit", (code) => reject(new Error(`the judge ended with ${code}`)));
  });
}
