/** What Linux counts for a process that is not ours to ask. */
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";

/** Bytes: `VmRSS` now, `VmHWM` at its most since `forgetMost`. */
export function memoryOf(pid, what = "VmRSS") {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** From now on the most is the most from now on (proc(5), clear_refs). */
export function forgetMost(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

export function descriptorsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Names of its sockets: one that is there and gone again is told from others that come and go meanwhile. */
export function socketsOf(pid) {
  const folder = `/proc/${pid}/fd`;
  return new Set(readdirSync(folder).map((name) => linkOf(`${folder}/${name}`)));
}

/** Of a descriptor that is closed while its folder is read: nothing. */
function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const ticksOfSecond = 100;

/** Processor seconds that it has taken, in hundredths. */
export function processorSecs(pid) {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?=\w )/);
  const fields = rest.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksOfSecond;
}

/** Of the processes that it started. */
export function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
      .split(" ")
      .filter((child) => child !== "")
      .map(Number),
  );
}

/** MiB, for a figure. */
export function mib(bytes) {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
