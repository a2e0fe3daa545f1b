/**
 * What is written by hand on a query's way, beside what Node brings for it: timers in a heap beside a
 * `setTimeout` each, `Canceller` beside `AbortController`, and the text of a log line.
 *
 * The two of a pair take turns within one process, so a busy machine slows both.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundled } from "./bundled.mjs";
import { spread } from "./figures.mjs";

const rounds = 15;
/** What a query's timers wait for, roughly: limits that are nearly always cancelled. */
const queryDelaysMs = [30_000, 600_000, 5_000, 10_000, 15_000, 3_000, 1_000, 60_000];

export async function handRows() {
  const folder = mkdtempSync(join(tmpdir(), "bench-hand-"));
  try {
    const { systemClock } = await loaded("packages/gateway/src/host/clock.ts", folder);
    const { Canceller } = await loaded("packages/core/src/tool/canceller.ts", folder);
    return [
      ...(await timerRows(systemClock)),
      ...(await signalRows(Canceller)),
      await lineRow(folder),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timerRows(clock) {
  const own = (delayMs) => clock.timer(delayMs, nothing);
  const nodes = (delayMs) => {
    const timer = setTimeout(nothing, delayMs);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  // A clock that is in use has timers that stand.
  const standing = [own, nodes].flatMap((timer) =>
    Array.from({ length: 200 }, (_, at) => timer(900_000 + at)),
  );
  const one = await pair(timersSet(own, 1), timersSet(nodes, 1));
  const eight = await pair(timersSet(own, 8), timersSet(nodes, 8));
  for (const timer of standing) timer[Symbol.dispose]();
  return [
    row("a timer set and cancelled, µs: heap beside setTimeout", one),
    row("… eight of them, as a query has", eight),
  ];
}

/** Sets `count` timers and cancels them. */
function timersSet(timer, count) {
  const delays = queryDelaysMs.slice(0, count);
  return () => {
    const set = delays.map(timer);
    for (const each of set) each[Symbol.dispose]();
  };
}

async function signalRows(Canceller) {
  const made = (Controller) => () => new Controller().signal;
  const used = (Controller) => () => {
    const controller = new Controller();
    const { signal } = controller;
    for (let at = 0; at < 4; at += 1) {
      const listener = () => at;
      signal.addEventListener("abort", listener, { once: true });
      signal.removeEventListener("abort", listener);
    }
    return controller;
  };
  const aborted = (Controller) => () => {
    const controller = new Controller();
    controller.signal.addEventListener("abort", nothing, { once: true });
    controller.abort(reason);
  };
  return [
    row(
      "a signal made, µs: Canceller beside AbortController",
      await pair(made(Canceller), made(AbortController)),
    ),
    row(
      "… with four listeners that come and go",
      await pair(used(Canceller), used(AbortController)),
    ),
    row("… with one listener, aborted", await pair(aborted(Canceller), aborted(AbortController))),
  ];
}

async function lineRow(folder) {
  const { jsonLog } = await loaded("packages/gateway/src/host/log/log.ts", folder);
  const sink = { write: (line) => void (kept.chars += line.length), flush: nothing, end: nothing };
  const log = jsonLog("info", nothing, () => sink);
  const own = () => log.write("info", "query.ended", lineFields);
  const plain = () => {
    const line = { level: "info", time: new Date().toISOString(), ...lineFields };
    sink.write(`${JSON.stringify({ ...line, event: "query.ended" })}\n`);
  };
  return row(
    "a log line made, µs: beside one JSON.stringify and toISOString",
    await pair(own, plain),
  );
}

/** Microseconds of a call of each, round by round; other work of the loop comes between. */
async function pair(own, nodes) {
  const figures = { own: [], nodes: [] };
  for (let round = -3; round < rounds; round += 1) {
    const ownUs = await timed(own);
    const nodesUs = await timed(nodes);
    if (round < 0) continue;
    figures.own.push(ownUs);
    figures.nodes.push(nodesUs);
  }
  return figures;
}

async function timed(call) {
  const turns = 200;
  const callsATurn = 50;
  let busyMs = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const sinceMs = performance.now();
    for (let at = 0; at < callsATurn; at += 1) kept.last = call();
    busyMs += performance.now() - sinceMs;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (busyMs / turns / callsATurn) * 1_000;
}

function row(what, { own, nodes }) {
  return { what, ours: spread(own, 2), "Node's": spread(nodes, 2) };
}

async function loaded(source, folder) {
  const path = fileURLToPath(new URL(`../../${source}`, import.meta.url));
  const file = await bundled(path, mkdtempSync(join(folder, "module-")));
  return import(pathToFileURL(file).href);
}

const nothing = () => undefined;
const reason = { code: "query.cancelled" };
const lineFields = {
  queryId: "20261125_043300_00017_ab3de",
  user: "ada",
  frontend: "postgres",
  group: "main",
  cluster: "duck-1",
  state: "ok",
  rows: 1,
  totalMs: 1.27,
  queuedMs: 0,
};
/** What was made last is kept, so that V8 can not leave the making out. */
const kept = { last: undefined, chars: 0 };
