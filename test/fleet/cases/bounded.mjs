/** I9: with the control plane cut off and the history refused a worker stays small and quick, and is as before after it. */
import { readdirSync, readFileSync } from "node:fs";
import { openLedger } from "../ledger.mjs";
import { asked, ready, statusOf } from "../ops.mjs";
import { median } from "../../bench/figures.mjs";
import { check, notices, timed, until } from "../wait.mjs";
import { setTimeout as pause } from "node:timers/promises";

export const seconds = 300;
export const title = "a worker stays bounded during a fault and returns to what it was (I9)";
export const usualSeconds = 85;

const spoolMaxRecords = 1_000;
const warmQueries = 2_000;
const samples = 20;
const sampleEveryMs = 200;
/** Samples. */
const collectEvery = 5;
const faultSeconds = 15;
/** During the fault: what a full spool and failing calls may take, and how long a turn may wait on a busy machine. */
const limits = { rssMoreBytes: 64 * 1024 * 1024, descriptorsMore: 32, lagMs: 1_000 };
/** Beside it a process that does nothing is asked as well: what it waits for is the machine's doing. */
const lagOfIdle = 5;
const within = 1.1;
/** Connections that the uplink and the link keep for a while come and go with the load: a leak is one for every call. */
const descriptorsSlack = 8;
/** Less than this nobody can tell from the noise of a busy machine. */
const lagSlackMs = 10;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const proxy = await fleet.proxy(control.port);
  const worker = await fleet.worker("w1", proxy.url, {
    history: { spoolMaxRecords, spool: "memory" },
    collects: true,
  });
  await worker.open().then(ready);
  const ledger = (await openLedger(worker)).start();
  await until("it is warm", () => ledger.count > warmQueries, 90);
  // The first fault brings code and buffers that stay; a leak would come with each.
  await proxy.cut();
  await overflown(worker);
  await proxy.heal();
  await allSent(worker);

  const before = await settled(worker, control);
  await proxy.cut();
  const during = await sampled(worker, control, (faultSeconds * 1_000) / sampleEveryMs);
  await overflown(worker);
  during.push(...(await sampled(worker, control)));
  await proxy.heal();
  await allSent(worker);

  const usual = { ...figuresOf(before), rss: worstOf(before).rss };
  const worst = worstOf(during);
  judgeFault(usual, worst);
  const planted = {
    memory: { ...worst, rss: usual.rss + limits.rssMoreBytes + 1 },
    descriptors: { ...worst, descriptors: usual.descriptors + limits.descriptorsMore + 1 },
    "event loop": { ...worst, lag: 1 + Math.max(limits.lagMs, worst.idle * lagOfIdle) },
  };
  for (const [what, wrong] of Object.entries(planted)) {
    await notices(`${what} beyond its limit`, () => judgeFault(usual, wrong), new RegExp(what));
  }
  let after;
  const isBack = async () => {
    after = figuresOf(await sampled(worker, control));
    const busier = Math.max(0, after.idle - usual.idle);
    return (
      after.rss <= usual.rss * within &&
      after.descriptors <= usual.descriptors + descriptorsSlack &&
      after.lag - busier <= Math.max(usual.lag * within, usual.lag + lagSlackMs)
    );
  };
  await until("it is as before", isBack, 90).catch((error) => {
    throw new Error(`${error.message}: ${shown(usual)}; ${shown(after)}`);
  });
  await ledger.stop();
  fleet.figure(`before: ${shown(usual)}; worst: ${shown(worst)}; after: ${shown(after)}`);
}

function judgeFault(usual, worst) {
  check(worst.rss <= usual.rss + limits.rssMoreBytes, `memory: ${shown(usual)}; ${shown(worst)}`);
  check(
    worst.descriptors <= usual.descriptors + limits.descriptorsMore,
    `descriptors: ${shown(usual)}; ${shown(worst)}`,
  );
  const lagMost = Math.max(limits.lagMs, worst.idle * lagOfIdle);
  check(worst.lag <= lagMost, `event loop: ${shown(usual)}; ${shown(worst)}`);
}

/**
 * Samples of a worker whose memory has reached what this load takes: for some ten thousand queries the
 * engine's allocator and buffers of connections still grow.
 */
async function settled(worker, control) {
  let highest = 0;
  let quiet = [];
  const noNewHeight = async () => {
    const found = await sampled(worker, control);
    const { rss } = worstOf(found);
    quiet = rss > highest * 1.01 ? [] : [...quiet, ...found];
    highest = Math.max(highest, rss);
    return quiet.length >= samples * 3;
  };
  await until("its memory has settled", noNewHeight, 150);
  return quiet;
}

/** More than so far was given up because the spool is full. */
async function overflown(worker) {
  const dropped = async () => (await statusOf(worker)).historyUplink.dropped;
  const before = await dropped();
  await until("the spool overflows", async () => (await dropped()) > before, 60);
}

function allSent(worker) {
  return until("all is sent", async () => (await statusOf(worker)).historyUplink.queued < 300, 90);
}

/**
 * Looks at the process from outside, without its garbage: the old generation is collected once in some
 * ten thousand queries, so how much of it stands at a moment says when that was, and nothing of what is
 * held. A call that needs nothing but a turn tells how long turns wait, here and in the control plane, of which
 * nobody wants anything while it is cut off.
 */
async function sampled(worker, control, count = samples) {
  const found = [];
  for (let sample = 0; sample < count; sample += 1) {
    if (sample % collectEvery === 0) worker.collect();
    const [lag, idle] = [await turnOf(worker), await turnOf(control)];
    const status = readFileSync(`/proc/${worker.pid}/status`, "utf8");
    const rss = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    found.push({ rss, descriptors: readdirSync(`/proc/${worker.pid}/fd`).length, lag, idle });
    await pause(sampleEveryMs);
  }
  return found;
}

async function turnOf(program) {
  const { ms } = await timed(async () => (await asked(program, "/health")).arrayBuffer());
  return ms;
}

function figuresOf(found) {
  const of = (key) => median(found.map((sample) => sample[key]));
  return { rss: of("rss"), descriptors: of("descriptors"), lag: of("lag"), idle: of("idle") };
}

function worstOf(found) {
  const of = (key) => Math.max(...found.map((sample) => sample[key]));
  return { rss: of("rss"), descriptors: of("descriptors"), lag: of("lag"), idle: of("idle") };
}

function shown({ rss, descriptors, lag, idle }) {
  return `${Math.round(rss / 2 ** 20)} MiB, ${descriptors} descriptors, ${lag.toFixed(1)} ms (${idle.toFixed(1)} ms idle)`;
}
