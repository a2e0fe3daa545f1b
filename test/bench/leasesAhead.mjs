/** What a slot costs a busy worker that holds leases ahead, beside one that counts alone; tells its parent. */
import { setTimeout as after } from "node:timers/promises";
import { leasedCapacity } from "@gateway/core/capacity/leased.ts";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { candidateOf, requestOf } from "@gateway/core/capacity/rig/admission.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";

const host = nodeHost(new URL("../../packages/gateway/dist/", import.meta.url), "silent");
const never = new AbortController().signal;
const rounds = 7;
const perRound = 2_000;
/** As long as a control plane nearby takes to answer. */
const answerMs = 2;
/** Between two queries: a worker that runs about a thousand a second. */
const pauseTurns = 1;
const cap = 1_000;

const local = await waits(localCapacity(host));
const leased = await waits(
  leasedCapacity(host, sourceOf(), { onUnavailable: "failClosed", leaseAhead: 4 }),
);
process.send({ local, leased }, () => process.exit());

/** Median and worst of each round, in microseconds: from the question for a slot to the slot. */
async function waits(capacity) {
  const medians = [];
  const p99s = [];
  for (let round = 0; round <= rounds; round += 1) {
    const found = [];
    for (let n = 0; n < perRound; n += 1) {
      const request = requestOf({ candidates: () => [candidateOf("c", { groupCap: cap })] });
      const fromMs = performance.now();
      const slot = await slotOf(capacity.admit(request, never));
      found.push((performance.now() - fromMs) * 1_000);
      for (let turn = 0; turn < pauseTurns; turn += 1) await new Promise(setImmediate);
      await slot[Symbol.asyncDispose]();
    }
    found.sort((a, b) => a - b);
    if (round === 0) continue;
    medians.push(found[perRound / 2]);
    p99s.push(found[Math.floor(perRound * 0.99)]);
  }
  return { medians, p99s };
}

async function slotOf(admission) {
  for (;;) {
    const step = await admission.next();
    if (step.done !== true) continue;
    if (!step.value.ok) throw new Error(step.value.error.code);
    return step.value.value;
  }
}

/** Has room for everybody, and answers after a while. */
function sourceOf() {
  let count = 0;
  const expiresInMs = 60_000;
  const lease = (cluster) => {
    count += 1;
    return { cluster, slot: count % cap, lease: `lease-${count}`.padEnd(12, "0"), expiresInMs };
  };
  const answered = async (value) => {
    await after(answerMs);
    return { ok: true, value };
  };
  return {
    instance: "bench-instance-0001",
    acquire: ({ candidates: [cluster], count: wanted }) =>
      answered({ granted: Array.from({ length: wanted }, () => lease(cluster)) }),
    renew: (leases) => answered({ renewed: leases.map((one) => one.lease), lost: [], expiresInMs }),
    release: (leases) => answered({ released: leases.length }),
    leave: () => answered(undefined),
  };
}
