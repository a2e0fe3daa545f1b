/**
 * A small fleet on a virtual clock with random faults: a real control plane, five workers, and a
 * network that cuts, stalls, damages and repeats. What must hold in all of it is the same each time.
 */
import { currentSecret, testControl } from "@gateway/control/worker/testControl.ts";
import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import { recordedMetrics } from "@gateway/core/port/recorder.ts";
import { seededRandom, type VirtualHost } from "@gateway/core/port/virtual.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { newLife, takenOf } from "@gateway/core/snapshot/lifecycle.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { followControlPlane, type WorkerConfig } from "./followConfig.ts";
import { reportOf } from "./status.ts";
import { overApp, silence, type Answering } from "./testLink.ts";
import type { WireAnswer } from "./transport.ts";

const secret = new Secret(currentSecret);
const faults = ["none", "none", "cut", "silent", "damage", "replay", "truncate"] as const;
type Fault = (typeof faults)[number];

describe("a fleet with a bad network", () => {
  it("never steps back, never runs what nobody wrote, never stops serving, and agrees in the end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const run = await runFleet(seed);
        for (const { positions, contents, gaps } of run.workers) {
          expect(positions).toEqual(positions.toSorted(compareRevisions));
          expect(contents.every((hash) => run.written.has(hash))).toBe(true);
          expect(gaps).toBe(0);
          expect(positions.at(-1)?.hash).toBe(run.last);
        }
        expect(run.bugs).toEqual([]);
        expect(run.secretShown).toBe(false);
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  it("gives the same trace for the same seed", async () => {
    const [one, two] = [await runFleet(4_711), await runFleet(4_711)];
    expect(one.trace).toEqual(two.trace);
    expect(one.trace.length).toBeGreaterThan(20);
  }, 60_000);
});

async function runFleet(seed: number) {
  const random = seededRandom(seed);
  const control = await testControl();
  const { host } = control;
  const written = new Set<string>();
  let last = "";
  const commit = async (name: string): Promise<void> => {
    await control.commit(name);
    last = control.deps.config.current()?.revision.hash ?? "";
    written.add(last);
  };
  await commit("first");
  const network = { fault: (): Fault => "none" };
  const workers = Array.from({ length: 5 }, (_, index) =>
    workerOf(host, index, faultyNetwork(control.app, random, network)),
  );
  network.fault = () => faults[Math.floor(random() * faults.length)] ?? "none";
  for (let edit = 0; edit < 6; edit += 1) {
    await host.advance(Math.floor(random() * 40_000));
    await commit(`cluster-${edit}`);
  }
  network.fault = () => "none";
  // The longest pause is a minute, and a silent wait holds for forty seconds.
  await host.advance(300_000);
  const done = workers.map(({ positions, contents, trace, gaps }) => ({
    positions,
    contents,
    trace,
    gaps: gaps(),
  }));
  control.stop();
  await Promise.all(workers.map(({ config }) => config[Symbol.asyncDispose]()));
  return {
    workers: done,
    written,
    last,
    trace: done.flatMap(({ trace }) => trace),
    bugs: host.log.bugs,
    secretShown: JSON.stringify(host.log.lines).includes(currentSecret),
  };
}

function workerOf(host: VirtualHost, index: number, send: Answering) {
  const positions: Revision[] = [];
  const contents: string[] = [];
  const trace: string[] = [];
  let open = 0;
  let gaps = 0;
  let config: WorkerConfig | undefined;
  const followed = followControlPlane({
    // Counters of its own: five workers are five processes.
    host: { ...host, metrics: recordedMetrics() },
    transport: { send, [Symbol.asyncDispose]: () => Promise.resolve() },
    control: {
      url: "https://control",
      allowInsecureHttp: false,
      secrets: [secret],
      pollTimeoutSecs: 30,
    },
    presence: {
      name: `pod-${index}`,
      version: "0.1.0",
      heartbeatIntervalSecs: 10,
      labels: () => ({}),
      report: () => reportOf({ life: config?.life() ?? newLife, draining: false, queries: [] }),
      cancel: () => {},
      predecessorProof: () => undefined,
      registered: () => {},
    },
    peers: undefined,
    disk: undefined,
    generations: {
      swap: () => {
        open += 1;
        return Promise.resolve();
      },
    },
    open: (snapshot) => {
      contents.push(snapshot.head.revision);
      return Promise.resolve(ok(generation));
    },
    changed: (life) => {
      const taken = takenOf(life);
      if (taken === undefined && open > 0) gaps += 1;
      if (taken !== undefined) positions.push(taken.revision);
      const failures = life.consecutiveFailures;
      trace.push(`${index} ${host.clock.nowMs()} ${taken?.revision.sequence ?? 0} ${failures}`);
    },
  });
  if (!followed.ok) throw new Error(followed.error);
  config = followed.value;
  return { config: followed.value, positions, contents, trace, gaps: () => gaps };
}

/** A network between one worker and the control plane; what it replays is what this worker once got. */
function faultyNetwork(
  app: { fetch(request: Request): Response | Promise<Response> },
  random: () => number,
  network: { fault(): Fault },
): Answering {
  const whole = overApp(app);
  const heard = new Map<string, WireAnswer>();
  return async (request, signal) => {
    const fault = network.fault();
    if (fault === "cut") return err({ code: "unreachable", detail: "ECONNRESET" });
    if (fault === "silent") return silence(signal);
    const { pathname } = new URL(request.url);
    const old = heard.get(pathname);
    if (fault === "replay" && old !== undefined) return ok(old);
    // Inflating is another thread's work, whose turn no seed decides.
    const plain = { ...request.headers, "accept-encoding": "identity" };
    const answer = await whole({ ...request, headers: plain }, signal);
    if (!answer.ok || answer.value.body.length === 0) return answer;
    if (!heard.has(pathname) || random() < 0.3) heard.set(pathname, answer.value);
    return damaged(answer.value, fault, random);
  };
}

function damaged(
  answer: WireAnswer,
  fault: Fault,
  random: () => number,
): Result<WireAnswer, never> {
  const body = Uint8Array.from(answer.body);
  const at = Math.floor(random() * body.length);
  if (fault === "truncate") return ok({ ...answer, body: body.subarray(0, at) });
  if (fault === "damage") body[at] = (body[at] ?? 0) ^ (1 + Math.floor(random() * 255));
  return ok({ ...answer, body });
}

const generation: Generation = {
  close: () => Promise.resolve(),
} as Partial<Generation> as Generation;
