/**
 * What access control adds to a query over none, with the decision remembered: rules of the configuration, an Open Policy
 * Agent and a Cerbos. A text that nobody sent before, of a form that was seen and of a new one, and one that comes again.
 * Then what stands in the configuration and is not met by the query.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { spread } from "./figures.mjs";

const program = fileURLToPath(new URL("policyCalls.mjs", import.meta.url));

export async function policyRows() {
  const found = await measured();
  return found.map(({ what, wall, processor }) => ({
    what,
    "p50 µs": spread(wall, 2),
    "processor µs": spread(processor, 2),
  }));
}

function measured() {
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ["--import", "tsx"] });
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`the policies ended with ${code}`)));
  });
}
