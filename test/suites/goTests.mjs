/**
 * Runs every test of a compiled Go suite, and says of each how it ended. A test that hangs or takes the program
 * with it has failed, and the others are run without it.
 */
import { spawn } from "node:child_process";
import { command, expectCode } from "../real/command.mjs";

/** A test that says nothing for so long hangs: pgx's end their own waits after two minutes. */
const silentSecs = 150;
const begun = /^=== (?:RUN|CONT)\s+(Test[^\s/]*)/;
const over = /^--- (PASS|FAIL|SKIP): (Test\S*)/;

/** Answers a map of `{outcome, said}` by test; `outcome` is `passed`, `failed` or `skipped`, `said` what a failed one printed. */
export async function goTests(program, { cwd, env, leftOut = [] }) {
  const listed = expectCode(await command(program, ["-test.list", "^Test"], { cwd, env }));
  const names = listed.stdout.split("\n").filter((line) => line.startsWith("Test"));
  let left = names.filter((name) => !leftOut.includes(name));
  const results = new Map();
  while (left.length > 0) {
    const { ended, hanging } = await runSome(program, left, { cwd, env });
    for (const [name, result] of ended) results.set(name, result);
    const stuck = hanging ?? (ended.size === 0 ? left[0] : undefined);
    if (stuck !== undefined && !results.has(stuck)) {
      results.set(stuck, { outcome: "failed", said: "it hangs, or ends the whole program" });
    }
    left = left.filter((name) => !results.has(name));
  }
  return results;
}

function runSome(program, names, { cwd, env }) {
  const args = ["-test.v", "-test.parallel", "1", "-test.run", `^(${names.join("|")})$`];
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: "pipe" });
  const read = readerOf();
  return new Promise((resolve, reject) => {
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => child.kill("SIGKILL"), silentSecs * 1000);
    };
    const take = (chunk) => {
      heard();
      read.take(chunk.toString());
    };
    heard();
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(silence);
      resolve(read.end());
    });
  });
}

/** Reads the lines of `go test -v`. */
function readerOf() {
  const ended = new Map();
  let rest = "";
  let current;
  let said = [];
  const line = (text) => {
    const start = begun.exec(text);
    if (start !== null) {
      if (start[1] !== current) said = [];
      [, current] = start;
      return;
    }
    const end = over.exec(text);
    if (end === null) {
      said.push(text.trim());
      return;
    }
    const [, word, name] = end;
    ended.set(name, { outcome: outcomes[word], said: firstOf(said) });
    if (name === current) current = undefined;
  };
  return {
    take: (chunk) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(line);
    },
    end: () => ({ ended, hanging: current }),
  };
}

const outcomes = { PASS: "passed", FAIL: "failed", SKIP: "skipped" };

/** The line that says what went wrong: Go names the place of a failure before it, and assertions a line of their own. */
function firstOf(lines) {
  const said = lines.filter((text) => text !== "" && !text.startsWith("==="));
  const asserted = said.findIndex((text) => text.startsWith("Error:"));
  const placed = said.find((text) => /^\w+\.go:\d+: *\S/.test(text));
  const text =
    asserted < 0 ? (placed ?? said[0] ?? "") : said.slice(asserted, asserted + 2).join(" ");
  return text.replace(/^(?:\w+\.go:\d+:|Error:) */, "").slice(0, 200);
}
