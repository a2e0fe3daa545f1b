/**
 * A worker of the first version, as far as a control plane sees it: its calls, kept with that version, and what it reads
 * of the answers (test/upgrade/calls-v1.json). Its program itself can not be kept: a clone without history can not build
 * it, and a bundle of megabytes would stand for two hundred lines of protocol.
 */
import { readFileSync } from "node:fs";
import { check, same } from "./wait.mjs";

const root = new URL("../../", import.meta.url);
const calls = JSON.parse(readFileSync(new URL("test/upgrade/calls-v1.json", root), "utf8"));

/** Methods and paths that a control plane of the first version knows. */
export const knownCalls = new Set([
  ...calls.map(({ method, path }) => `${method} ${pathOf(path)}`),
  "GET /worker/config/wait",
]);

/** `/worker/register/ID` is one call whoever signs out. */
export function pathOf(path) {
  const [plain] = path.replace(/^\/worker/, "").split("?");
  return `/worker${plain.replace(/^\/register\/.*/, "/register/:id")}`;
}

/** How it names a lease; what a later control plane says beside it is dropped. */
function named({ cluster, slot, lease }) {
  return { cluster, slot, lease };
}

/** Goes through all of its calls; ids of the records that it was rid of. */
export async function playOldWorker(control, secret) {
  const own = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  let headers = {};
  let leases = [];
  const ids = [];
  for (const { what, method, path, json, file, status, reads, answers = {} } of calls) {
    const batch = file === undefined ? undefined : readFileSync(new URL(file, root), "utf8");
    const given = json?.leases === "<granted>" ? { ...json, leases } : json;
    const body = batch ?? (given === undefined ? undefined : JSON.stringify(given));
    const url = `http://127.0.0.1:${control.port}/worker${path}`;
    const answer = await fetch(url, { method, headers: { ...own, ...headers }, body });
    const text = await answer.text();
    same(answer.status, status, `an old worker ${what} (${text.slice(0, 200)})`);
    const read = reads.length === 0 ? {} : JSON.parse(text);
    for (const key of reads) check(key in read, `an old worker ${what}: no ${key}`);
    for (const [key, value] of Object.entries(answers)) {
      same(read[key], value, `an old worker ${what}: ${key}`);
    }
    if (batch !== undefined) ids.push(...JSON.parse(batch).records.map((one) => one.proxyQueryId));
    if (path === "/capacity/acquire") leases = read.granted.map(named);
    if (path === "/register") {
      headers = {
        "gateway-instance-id": json.instanceId,
        "gateway-instance-token": read.instanceToken,
      };
    }
  }
  return ids;
}
