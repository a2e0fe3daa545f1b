/** The `gateway` command as a process of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../packages/gateway/bin/gateway.mjs", import.meta.url));

/** `environment` is added to this process's own. */
export function spawnProgram(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): ChildProcess {
  const env = { ...process.env, ...environment };
  return spawn(process.execPath, [program, ...args], { stdio: "pipe", env });
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end, with `input` on its standard input. */
export async function outcomeOf(args: readonly string[], input = ""): Promise<Outcome> {
  const child = spawnProgram(args);
  child.stdin?.end(input);
  return collected(child);
}

export async function collected(child: ChildProcess): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
  });
  return { code: await exitOf(child), stdout, stderr };
}

export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.on("close", (code) => resolve(code));
  });
}

/** The port that the log line of an opened listener names. */
export function loggedPort(child: ChildProcess, kind: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.on("close", () => reject(new Error(`ended early: ${text}`)));
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      for (const line of text.split("\n").filter((one) => one.startsWith("{"))) {
        const match = /"kind":"(\w+)".*"port":(\d+)/.exec(line);
        if (match?.[1] === kind) resolve(Number(match[2]));
      }
    });
  });
}
