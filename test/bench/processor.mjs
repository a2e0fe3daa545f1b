/** Processor time of processes, from the kernel: what something took, whatever else ran on the same cores. */
import { readFileSync, readdirSync } from "node:fs";

/** Of a process and of those that it started and that live, or that it has waited for; in milliseconds, steps of 10. */
export function processorMs(pid) {
  const own = statOf(pid);
  return others(pid)
    .filter(({ parent }) => parent === pid)
    .reduce((sum, { ownMs }) => sum + ownMs, own.ownMs + own.endedMs);
}

/** Of a group of processes, each with those it has waited for. */
export function groupProcessorMs(group) {
  return [statOf(group), ...others(group)]
    .filter((one) => one.group === group)
    .reduce((sum, { ownMs, endedMs }) => sum + ownMs + endedMs, 0);
}

function others(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(pid))
    .map((name) => statOf(name));
}

/** `endedMs` is what children took that are no more. */
function statOf(pid) {
  try {
    // The name before the closing parenthesis may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map((one) => one * 10);
    const [parent, group] = fields.slice(1, 3).map(Number);
    return { parent, group, ownMs: user + system, endedMs: endedUser + endedSystem };
  } catch {
    // It ended while the list was read.
    return { parent: 0, group: 0, ownMs: 0, endedMs: 0 };
  }
}
