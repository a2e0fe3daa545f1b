/**
 * `node --import profiler.mjs`: SIGUSR2 begins a profile of the processor's time, and the next one writes it to
 * bench/PID-N.cpuprofile. The gateway ends through the system's own exit, where `--cpu-prof` would write nothing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.setSamplingInterval", { interval: 200 });
let running = false;
let written = 0;
process.on("SIGUSR2", () => {
  running = !running;
  void (running ? session.post("Profiler.start") : keep());
});

async function keep() {
  const { profile } = await session.post("Profiler.stop");
  written += 1;
  mkdirSync("bench", { recursive: true });
  writeFileSync(`bench/${process.pid}-${written}.cpuprofile`, JSON.stringify(profile));
}
