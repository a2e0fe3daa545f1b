/** Commands of the operator: run by the shell, with a limit, and without the passwords of the drill. */
import { spawn } from "node:child_process";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Environment } from "../config/secrets.ts";
import { passwordVariables } from "./options.ts";

/** Of what a command prints, that much is kept. */
const outputCharsMax = 65_536;

export interface Hooks {
  /**
   * Waits until the command has ended; answers what it printed. The error says how it ended otherwise. At the limit,
   * or when `signal` aborts, the command and what it started are killed.
   */
  run(command: string, signal?: AbortSignal): Promise<Result<string, string>>;
}

export function shellHooks(environment: Environment, limitMs: number): Hooks {
  const hidden: readonly string[] = Object.values(passwordVariables);
  const env = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !hidden.includes(name)),
  );
  return {
    run(command, signal) {
      const limit = AbortSignal.timeout(limitMs);
      return ran(command, env, signal === undefined ? limit : AbortSignal.any([limit, signal]));
    },
  };
}

function ran(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Result<string, string>> {
  // A group of its own: Ctrl-C is for the drill, whose end has a command to run yet.
  const child = spawn("/bin/sh", ["-c", command], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (piece: string) => {
    if (printed.length < outputCharsMax) printed += piece;
  });
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended in the same moment.
    }
  };
  if (signal.aborted) kill();
  signal.addEventListener("abort", kill, { once: true });
  return new Promise((resolve) => {
    const settle = (result: Result<string, string>): void => {
      signal.removeEventListener("abort", kill);
      child.stdout.destroy();
      resolve(result);
    };
    child.on("error", () => settle(err("the shell can not be started")));
    // `exit`, because a server that the command started may keep its output open.
    child.on("exit", (code, ended) => {
      if (code === 0) settle(ok(printed));
      else settle(err(signal.aborted ? "was ended before its end" : `ended with ${ended ?? code}`));
    });
  });
}
