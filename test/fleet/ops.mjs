/** What a worker's ops listener says. */
import { patience, until } from "./wait.mjs";

const answerMs = 30_000;

/** Over a connection of its own: one that was kept may be closed by the other side in the moment it is used. */
export function asked(worker, path) {
  return fetch(`${worker.url}${path}`, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(answerMs * patience),
  });
}

export async function statusOf(worker) {
  const first = await asked(worker, "/worker/status");
  // A process that stood still behind others' work has not read the request in time: it is to be sent again.
  const response = first.status === 408 ? await asked(worker, "/worker/status") : first;
  if (response.status !== 200) throw new Error(`/worker/status answers ${response.status}`);
  return response.json();
}

export async function readyStatus(worker) {
  const response = await asked(worker, "/readyz");
  await response.arrayBuffer();
  return response.status;
}

export function ready(worker, seconds = 30) {
  return until(`${worker.name} is ready`, async () => (await readyStatus(worker)) === 200, seconds);
}

/** An answer that is none would be read as a zero of every metric. */
export async function metricsText(worker) {
  const response = await asked(worker, "/metrics");
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics answers ${response.status}: ${text}`);
  return text;
}

/** Sum of a metric's values over the series whose labels hold `labels`. */
export async function metricOf(worker, name, labels = "") {
  let sum = 0;
  for (const line of (await metricsText(worker)).split("\n")) {
    if (!line.startsWith(name) || !/[ {]/.test(line[name.length] ?? "")) continue;
    if (line.includes(labels)) sum += Number(line.split(" ").at(-1));
  }
  return sum;
}

export function rejections(worker) {
  return metricOf(worker, "gateway_config_reload_failures_total", 'stage="worker_activate"');
}

/** Waits until the worker runs under `revision` (`epoch.sequence.hash`). */
export function activeAt(worker, revision, seconds = 30) {
  return until(
    `${worker.name} is at ${revision.slice(0, 20)}`,
    async () => (await statusOf(worker)).activeRevision === revision,
    seconds,
  );
}
