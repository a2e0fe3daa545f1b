/** Runs until a signal to stop, then drains; a second one ends at once. */
import type { Host } from "@gateway/core/port/host.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import type { Running } from "../../running.ts";
import { exitCode } from "../terminal.ts";

/** How long a second signal waits for the queries that it ends. */
const hurryMsMax = 2_000;

export async function runUntilSignal(
  running: Running,
  config: GatewayConfig,
  { host, signal }: { readonly host: Host; readonly signal: () => Promise<string> },
): Promise<number> {
  const first = await signal();
  host.log.write("info", "drain.begin", { signal: first });
  const deadline = new AbortController();
  using _timer = host.clock.timer(config.shutdownDrainTimeoutSecs * 1000, () => deadline.abort());
  // The drain's timer alone does not keep a process alive; the wait for a second signal does.
  const keepAlive = setInterval(() => {}, 1_000);
  const second = signal().then(() => "second" as const);
  const drained = running.drain(deadline.signal);
  const ended = await Promise.race([drained, second]);
  if (ended === "second") {
    // A process can not exit while an engine computes in one of its threads, so its queries end
    // first.
    deadline.abort();
    await Promise.race([drained, passed(host, hurryMsMax)]);
  }
  clearInterval(keepAlive);
  const clean = ended === true;
  host.log.write("info", "drain.end", { clean });
  return clean ? exitCode.clean : exitCode.drainOverrun;
}

function passed(host: Host, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.clock.timer(ms, resolve);
  });
}

/** The next SIGINT or SIGTERM. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    const names = ["SIGINT", "SIGTERM"] as const;
    const handle = (name: string): void => {
      for (const each of names) process.off(each, handle);
      resolve(name);
    };
    for (const name of names) process.on(name, handle);
  });
}
