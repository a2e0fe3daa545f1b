/** A gateway as a process of its own over one embedded DuckDB: what is compared is the program that ships. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitOf, spawnProgram } from "../e2e/program.ts";

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** By kind of frontend. */
  readonly ports: Readonly<Record<string, number>>;
}

const listener = { host: "127.0.0.1", port: 0 };
const frontends = { trinoHttp: listener, postgresWire: listener, mysqlWire: listener };

/** Keeps the records of queries in memory, and says nothing of queries that ended well. */
export async function programOf(cluster: object = { threads: 1 }): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-ordinary-"));
  const file = join(folder, "gateway.json");
  const config = {
    gateway: { frontends, adminApi: listener, persistence: { type: "inMemory" } },
    clusters: { local: { engine: "duckDb", ...cluster } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config));
  const child = spawnProgram(["start", "--config", file]);
  const ended = exitOf(child);
  child.stdout?.resume();
  const ports = await portsOf(child.stderr, Object.keys(frontends).length + 1);
  if (ports === undefined || child.pid === undefined)
    throw new Error(`the gateway ended with ${await ended}`);
  return {
    pid: child.pid,
    ports,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** Reads the log until all listeners are open, and lets the rest run by. */
function portsOf(
  log: NodeJS.ReadableStream | null,
  listeners: number,
): Promise<Readonly<Record<string, number>> | undefined> {
  const ports: Record<string, number> = {};
  let rest = "";
  return new Promise((resolve) => {
    const read = (chunk: unknown): void => {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const match = /"kind":"(\w+)".*"port":(\d+).*"listener\.open"/.exec(line);
        if (match?.[1] !== undefined) ports[match[1]] = Number(match[2]);
      }
      if (Object.keys(ports).length < listeners) return;
      log?.off("data", read);
      log?.resume();
      resolve(ports);
    };
    log?.on("data", read);
    log?.on("end", () => resolve(undefined));
  });
}
