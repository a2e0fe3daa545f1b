/**
 * Takes up configurations of three sizes in a process whose event loop is watched; tells its parent
 * what that took. Each is another one than the one before, which is still open, as it is in a worker.
 */
import { fork } from "node:child_process";
import { existsSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { rootSchema } from "@gateway/gateway/config/schema.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { snapshotOpener } from "@gateway/gateway/worker/snapshot/openSnapshot.ts";

const schedulePath = `/proc/self/task/${process.pid}/schedstat`;
const schedule = existsSync(schedulePath) ? openSync(schedulePath, "r") : undefined;
const scheduleText = Buffer.alloc(64);
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
  const ownMs = [];
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
    stallMs.push(stall.longest);
    ownMs.push(stall.longestOwn);
  }
  await active.close();
  return { bytes: bodies[0].length, tookMs, stallMs, ownMs };
}

/**
 * The longest time between two turns of the event loop, until the answer is called; and the same less
 * what the thread spent in line for a core, which is the machine's and not the program's.
 */
function watched() {
  let last = performance.now();
  let waited = waitedMs();
  let longest = 0;
  let longestOwn = 0;
  let on = true;
  const turn = () => {
    const now = performance.now();
    const inLine = waitedMs();
    longest = Math.max(longest, now - last);
    longestOwn = Math.max(longestOwn, now - last - (inLine - waited));
    last = now;
    waited = inLine;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    on = false;
    return { longest, longestOwn };
  };
}

/** Milliseconds for which this thread was ready and had no core, where Linux says so; 0 elsewhere. */
function waitedMs() {
  if (schedule === undefined) return 0;
  const length = readSync(schedule, scheduleText, 0, scheduleText.length, 0);
  return Number(scheduleText.latin1Slice(0, length).split(" ")[1]) / 1e6;
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
