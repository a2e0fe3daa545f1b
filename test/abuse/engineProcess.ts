/** The processes of a gateway's engines, and what runs there, as Linux and the gateway's own figures tell. */
import { readFileSync, readdirSync } from "node:fs";
import { vi } from "vitest";
import type { TestGateway } from "../e2e/gateway.ts";

/** Looked at often, by whom shares two processors with what is looked at. */
const patience = { timeout: 120_000, interval: 20 };

/** Children of a process that run engines; of the test's own when it is the gateway. */
export function engineProcesses(parent = process.pid): readonly number[] {
  return childrenOf(parent).filter((child) => commandOf(child).includes("adbcProcess"));
}

export function childrenOf(parent: number): readonly number[] {
  return readdirSync(`/proc/${parent}/task`).flatMap((task) => {
    const children = textOf(`/proc/${parent}/task/${task}/children`);
    return children
      .split(" ")
      .filter((child) => child !== "")
      .map(Number);
  });
}

/** Its words; empty when it is gone. */
export function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** A line of the memory that the system counts for a process; 0 when it is gone. */
export function memoryBytes(pid: number, what: "VmRSS" | "VmHWM"): number {
  const [, kilobytes = "0"] =
    new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(textOf(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) * 1024;
}

/** Processor time of a process so far, in hundredths of a second. */
function ticksOf(pid: number): number {
  // The name stands in brackets and may hold anything.
  const fields = textOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** Resolves to the first of some processes that has worked so long from now on: what it was asked is under way. */
export async function firstToWork(pids: readonly number[], hundredths: number): Promise<number> {
  const from = pids.map((pid) => ({ pid, ticks: ticksOf(pid) }));
  const found = (): number | undefined =>
    from.find(({ pid, ticks }) => ticksOf(pid) - ticks >= hundredths)?.pid;
  return (await vi.waitUntil(found, patience)) ?? 0;
}

/** Resolves when so many statements run. */
export async function running(of: Pick<TestGateway, "metrics">, count: number): Promise<void> {
  await vi.waitUntil(async () => {
    const text = await of.metrics();
    const counted = [...text.matchAll(/^gateway_running_queries\{[^}]*\} (\d+)$/gm)];
    return counted.reduce((sum, [, number]) => sum + Number(number), 0) === count;
  }, patience);
}

/** A process may end between two looks. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
