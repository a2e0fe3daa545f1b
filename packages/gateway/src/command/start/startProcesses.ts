/** `gateway start` of a worker of several processes: the first one only keeps the others and the admin listener. */
import cluster from "node:cluster";
import type { GatewayConfig } from "../../config/schema.ts";
import { refuseStart } from "./refuseStart.ts";
import { nextSignal } from "./signals.ts";
import { exitCode, type Terminal } from "../terminal.ts";
import type { NodeHost } from "../../host/node.ts";
import { Crew } from "../../processes/crew.ts";
import { openFront } from "../../processes/front.ts";
import { Switchboard } from "../../processes/switchboard.ts";

/** How much longer than its drain a process may take before it is killed. */
const overdueMs = 15_000;

interface ProcessParts {
  readonly host: NodeHost;
  readonly terminal: Terminal;
}

/** Until a signal; answers the exit code. */
export async function runProcesses(
  gateway: GatewayConfig,
  count: number,
  { host, terminal }: ProcessParts,
): Promise<number> {
  // Connections in turns: the system would give most of them to one process.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const switchboard = new Switchboard(host.clock);
  const crew = new Crew({ count, host, switchboard, killedCode: exitCode.drainOverrun });
  const stopping = new AbortController();
  const front = await openFront(
    { switchboard, whole: () => crew.whole, stopping: stopping.signal },
    gateway,
    host,
  );
  if (!front.ok) return refuseStart([front.error], terminal);

  const signal = nextSignal();
  const failed = await Promise.race([crew.start(), signal]);
  if (failed === undefined && front.value !== undefined) {
    const { host: address, port, tls } = front.value;
    host.log.write("info", "listener.open", { kind: "adminApi", address, port, tls });
  }
  crew.stop(typeof failed === "number" ? "start" : await signal);
  stopping.abort();
  void nextSignal().then((second) => crew.stop(second));
  const limitMs = gateway.shutdownDrainTimeoutSecs * 1000 + overdueMs;
  using _overdue = host.clock.timer(limitMs, () => crew.kill());
  const code = await crew.ended();
  await front.value?.close();
  return typeof failed === "number" ? failed : code;
}
