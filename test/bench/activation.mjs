/**
 * Takes up configurations of three sizes in a process whose event loop is watched; tells its parent
 * what that took. Each is another one than the one before, which is still open, as it is in a worker.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { rootSchema } from "@gateway/gateway/config/schema.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { snapshotOpener } from "@gateway/gateway/worker/openSnapshot.ts";

const bundle = new URL("../../packages/gateway/dist/", import.meta.url);
const rounds = 9;
const host = nodeHost(bundle, "error");
const open = snapshotOpener(
  {
    config: rootSchema.parse({ gateway: {} }),
    document: {},
    host,
    bundle,
    environment: {},
    contents: { kind: "none" },
  },
  localCapacity(host),
);

const found = [];
for (const size of [5, 130, 12_000]) found.push(await activations(size));
process.send(found, () => process.exit());

async function activations(size) {
  const tookMs = [];
  const stallMs = [];
  const bodies = await bodiesOf(size);
  let active;
  for (const [round, bytes] of bodies.entries()) {
    const watch = watched();
    const fromMs = performance.now();
    const opened = await open({ bytes }, "1.1.bench");
    const took = performance.now() - fromMs;
    await new Promise(setImmediate);
    const stall = watch();
    if (!opened.ok) throw new Error(opened.error.join("; "));
    await active?.close();
    active = opened.value.generation;
    // The first round warms up.
    if (round === 0) continue;
    tookMs.push(took);
    stallMs.push(stall);
  }
  await active.close();
  return { bytes: bodies[0].length, tookMs, stallMs };
}

/** The longest time between two turns of the event loop, until the answer is called. */
function watched() {
  let last = performance.now();
  let longest = 0;
  let on = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    on = false;
    return longest;
  };
}

/** So many of everything in each configuration. */
function bodiesOf(size) {
  const program = fileURLToPath(new URL("activationBodies.mjs", import.meta.url));
  const child = fork(program, [size, rounds + 1], { serialization: "advanced" });
  return new Promise((resolve, reject) => {
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`activationBodies ended with ${code}`)));
  });
}
