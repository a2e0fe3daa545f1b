/** Stops a process as SIGSTOP does, and is there when the last of its threads stands still: until then it may answer. */
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

export async function suspended(pid: number): Promise<Disposable> {
  process.kill(pid, "SIGSTOP");
  while (!threadsOf(pid).every((state) => state === "T")) await setImmediate();
  return { [Symbol.dispose]: () => process.kill(pid, "SIGCONT") };
}

/** The states of its threads, as `proc_pid_stat(5)` names them. */
function threadsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = statOf(`/proc/${pid}/task/${thread}/stat`);
    return stat.charAt(stat.lastIndexOf(")") + 2);
  });
}

function statOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // It ended between the two looks; the next list is without it.
    return "";
  }
}
