/** A gateway with a Flight SQL listener over an embedded DuckDB, for clients of other languages. */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const loopback = { host: "127.0.0.1", port: 0 };

/** Runs for as long as nobody ends it. */
export const endlessSql =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

export function flightGateway(): Promise<TestGateway> {
  const frontends = { flightSql: loopback };
  const persistence = { type: "inMemory" };
  return gatewayOf(configOf({ gateway: { frontends, adminApi: loopback, persistence } }));
}

/** Much longer than a client waits for the schema of a described statement. */
const answeredMs = 1_500;

export interface Ran {
  readonly code: number | null;
  readonly lines: readonly string[];
  /** Milliseconds from the line that `onRunning` wrote to the end in the engine. */
  readonly cancelMs: number;
}

/**
 * Runs a program. Once an endless query runs, it is sent a line, upon which it cancels; `cancelMs` says how long
 * the engine went on. Zero for a program that runs none.
 */
export async function ran(
  gateway: TestGateway,
  program: string,
  args: readonly string[],
  cancels: boolean,
): Promise<Ran> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const closed = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  const cancelMs = cancels
    ? await cancelled(gateway, (line) => child.stdin.write(line), closed)
    : 0;
  const code = await closed;
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout}\n${stderr}`);
  return { code, lines: stdout.trim().split("\n"), cancelMs };
}

async function cancelled(
  gateway: TestGateway,
  send: (line: string) => void,
  closed: Promise<unknown>,
): Promise<number> {
  const over = closed.then(() => "over" as const);
  const endless = () =>
    gateway.running.data.live.list().some(({ query }) => query.sql.includes("1000000000"));
  while (!endless()) if ((await Promise.race([over, pause(50)])) === "over") return 0;
  // JDBC's driver cancels by the result that it was answered, which it has a moment later.
  await pause(answeredMs);
  const fromMs = performance.now();
  send("\n");
  while (endless()) await pause(10);
  return performance.now() - fromMs;
}

/** The address of the listener. */
export function flightPort(gateway: TestGateway): number {
  return portOf(gateway, "flightSql");
}
