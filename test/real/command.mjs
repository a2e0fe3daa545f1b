/** Runs a program to its end, or ends it at a time limit. */
import { spawn } from "node:child_process";

/** Answers `{code, stdout, stderr}`; the code is null when the limit was reached. */
export function command(program, args, { env = {}, input = "", seconds = 60, cwd } = {}) {
  // Programs print as the locale says; without one, Java prints no letter beyond ASCII.
  const all = { LC_ALL: "C.UTF-8", ...process.env, ...env };
  const child = spawn(program, args, { env: all, stdio: "pipe", cwd });
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const limit = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", (error) => {
      clearTimeout(limit);
      resolve({ code: 127, stdout, stderr: error.message });
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ code, stdout, stderr });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** Fails with what the program said. */
export function expectCode(result, code = 0) {
  if (result.code === code) return result;
  throw new Error(`exit code ${result.code}\n${result.stdout}\n${result.stderr}`);
}

/** Fails when the texts differ. */
export function expectText(found, wanted) {
  if (found.trim() === wanted.trim()) return;
  throw new Error(`found:\n${found.trim()}\nwanted:\n${wanted.trim()}`);
}

/** Fails when the text does not hold the pattern. */
export function expectMatch(found, pattern) {
  if (pattern.test(found)) return;
  throw new Error(`not in the text: ${pattern}\n${found.trim()}`);
}
