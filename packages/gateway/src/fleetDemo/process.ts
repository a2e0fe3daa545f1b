/** A gateway process of the demo fleet: started from a config file, its listeners read from its log, ended by its process id. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";

/** A process that listens. */
export interface DemoProcess {
  readonly name: string;
  /** Port by kind of listener. */
  readonly ports: Readonly<Record<string, number>>;
  /** Resolves when it has ended, whatever ended it. */
  readonly ended: Promise<void>;
  /** Lets it drain; resolves when it has ended. */
  end(): Promise<void>;
}

export interface ProcessParts {
  readonly name: string;
  /** Folder of the bundle. */
  readonly bundle: URL;
  /** Where the config is written; only this user can read it. */
  readonly file: string;
  readonly config: object;
}

/** The last listener that a start names. */
const lastKind = "adminApi";
const saidCharsMax = 4_000;

const openLine = z.looseObject({
  event: z.literal("listener.open"),
  kind: z.string(),
  port: z.int(),
});

/** Starts it and waits until it listens; the error is what it said before it ended. */
export async function startProcess(parts: ProcessParts): Promise<Result<DemoProcess, string>> {
  // JSON is YAML.
  await writeFile(parts.file, `${JSON.stringify(parts.config, undefined, 2)}\n`, { mode: 0o600 });
  const program = fileURLToPath(new URL("gateway.js", parts.bundle));
  const child = spawn(process.execPath, [program, "start", "--config", parts.file], {
    stdio: ["ignore", "ignore", "pipe"],
    // In a group of its own. Otherwise a Ctrl-C would reach it, too, and the drain's signal would
    // be its second.
    detached: true,
  });
  const killed = (): void => void child.kill("SIGKILL");
  process.once("exit", killed);
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  }).finally(() => process.off("exit", killed));
  const ports = await listeningPorts(child, ended);
  if (!ports.ok) return err(`${parts.name} did not start:\n${ports.error}`);
  return ok({
    name: parts.name,
    ports: ports.value,
    ended,
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
    },
  });
}

function listeningPorts(
  child: ChildProcess,
  ended: Promise<void>,
): Promise<Result<Readonly<Record<string, number>>, string>> {
  const ports: Record<string, number> = {};
  let said = "";
  let rest = "";
  return new Promise((resolve) => {
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (chunk: string) => {
      said = `${said}${chunk}`.slice(-saidCharsMax);
      const lines = `${rest}${chunk}`.split("\n");
      rest = (lines.pop() ?? "").slice(-saidCharsMax);
      for (const line of lines) {
        const open = openedIn(line);
        if (open !== undefined) ports[open.kind] = open.port;
      }
      if (lastKind in ports) resolve(ok(ports));
    });
    void ended.then(() => resolve(err(said)));
  });
}

function openedIn(line: string): { readonly kind: string; readonly port: number } | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const read = openLine.safeParse(JSON.parse(line));
    return read.success ? read.data : undefined;
  } catch {
    // A line that is cut off names no listener.
    return undefined;
  }
}
