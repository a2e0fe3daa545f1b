/** What a script costs its query: asked in its thread, and behind a condition that decides before it. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { spread } from "./figures.mjs";

const program = fileURLToPath(new URL("scriptCalls.mjs", import.meta.url));

export async function scriptRows() {
  const { passed, alone, many, inside, opened } = await measured();
  return [
    { what: "script behind a condition that decides", µs: spread(passed, 2) },
    { what: "script asked, one query after the other", µs: spread(alone, 0) },
    { what: "script asked, 64 queries at once, for each", µs: spread(many, 0) },
    { what: "script's call within its thread", µs: spread(inside, 1) },
    { what: "first script of a process opened", ms: spread(opened, 0) },
  ];
}

function measured() {
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ["--import", "tsx"] });
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`the scripts ended with ${code}`)));
  });
}
