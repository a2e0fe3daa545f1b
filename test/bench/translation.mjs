/** What translation costs a query: remembered, and asked of its thread, with and without the proof of `strict`. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { spread } from "./figures.mjs";

const program = fileURLToPath(new URL("translationCalls.mjs", import.meta.url));

export async function translationRows() {
  const { off, remembered, bestEffort, strict } = await measured();
  return [
    { what: "statement sent as it is, no translation configured", µs: spread(off, 2) },
    { what: "translation that is remembered", µs: spread(remembered, 2) },
    { what: "translation of a new text, bestEffort, p50", µs: spread(bestEffort, 0) },
    { what: "translation of a new text, strict, p50", µs: spread(strict, 0) },
  ];
}

function measured() {
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ["--import", "tsx"] });
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`the translations ended with ${code}`)));
  });
}
