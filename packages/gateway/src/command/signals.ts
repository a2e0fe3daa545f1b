/** Runs until SIGINT or SIGTERM, then drains; a second signal ends at once. */
import type { Host } from "@gateway/core/port/host.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Running } from "../running.ts";
import { exitCode } from "./terminal.ts";

export async function runUntilSignal(
  running: Running,
  config: GatewayConfig,
  host: Host,
): Promise<number> {
  const first = await nextSignal();
  host.log.write("info", "drain.begin", { signal: first });
  const deadline = new AbortController();
  using _timer = host.clock.timer(config.shutdownDrainTimeoutSecs * 1000, () => deadline.abort());
  // The drain's timer alone does not keep a process alive; the wait for a second signal does.
  const keepAlive = setInterval(() => {}, 1_000);
  const second = nextSignal().then(() => "second" as const);
  const ended = await Promise.race([running.drain(deadline.signal), second]);
  clearInterval(keepAlive);
  host.log.write("info", "drain.end", { clean: ended === true });
  return ended === true ? exitCode.clean : exitCode.drainOverrun;
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    const names = ["SIGINT", "SIGTERM"] as const;
    const handle = (name: string): void => {
      for (const each of names) process.off(each, handle);
      resolve(name);
    };
    for (const name of names) process.on(name, handle);
  });
}
