/** A gateway as a process of its own, with its log read: the engine's time of every query is in it. */
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnMeasured } from "./processes.mjs";

const program = fileURLToPath(new URL("../../packages/gateway/bin/gateway.mjs", import.meta.url));
const profiler = new URL("profiler.mjs", import.meta.url).href;

/** The configuration of a gateway with one cluster. `duckDb`: more of its fields. */
export function configOf(duckDb = {}) {
  const local = JSON.stringify({ engine: "duckDb", ...duckDb });
  return `
gateway:
  frontends:
    trinoHttp: {host: 127.0.0.1, port: 0}
    postgresWire: {host: 127.0.0.1, port: 0}
    mysqlWire: {host: 127.0.0.1, port: 0}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {type: inMemory}
clusters: {local: ${local}}
clusterGroups: {default: {members: [local], maxRunningQueries: 4}}
routingFallback: default
auth: {provider: none}
`;
}

/** With the embedded database, in `FOLDER`, that of the gateway. */
export const standaloneConfig = configOf().replace(
  "{type: inMemory}",
  "{type: pglite, path: FOLDER/store}",
);

/**
 * `text`: another configuration, with the same listeners. `pinned`: on the core of what is measured. `bundle`:
 * another build than this tree's. `flags`: of Node. `logged`: its log goes to a file, and is read until it has
 * started: a bench on the same core that reads a line for each query measures its own reading too.
 */
export async function startGateway(
  text = configOf(),
  { pinned = false, bundle = program, flags = [], logged = false } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-"));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, text.replaceAll("FOLDER", folder));
  const profiled = process.argv.includes("--profile") ? ["--import", profiler] : [];
  const args = [...flags, ...profiled, bundle, "start", "--config", file];
  const logFile = join(folder, "log");
  const stdio = ["ignore", "ignore", logged ? openSync(logFile, "w") : "pipe"];
  const child = pinned ? spawnMeasured(args, { stdio }) : spawn(process.execPath, args, { stdio });
  const ports = {};
  const executionMs = [];
  let ready;
  const opened = new Promise((resolve, reject) => {
    ready = resolve;
    child.on("close", (code) => reject(new Error(`the gateway ended with ${code}`)));
  });
  let rest = "";
  const read = (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((one) => one.startsWith("{"))) {
      const entry = JSON.parse(line);
      if (entry.event === "listener.open") ports[entry.kind] = entry.port;
      if (entry.event === "query.ended") executionMs.push(entry.executionMs);
      if (Object.keys(ports).length === 4) ready();
    }
  };
  child.stderr?.on("data", read);
  const reading = logged ? watchLog(logFile, read) : undefined;
  await opened;
  reading?.close();
  return {
    ports,
    pid: child.pid,
    rssBytes: () => rssOf(child.pid),
    cpuSeconds: () => cpuOf(child.pid),
    /** Engine times since the last call, milliseconds. */
    takeExecutionMs: () => executionMs.splice(0),
    stop: async () => {
      child.removeAllListeners("close");
      const closed = new Promise((resolve) => {
        child.on("close", resolve);
      });
      child.kill("SIGTERM");
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Calls `read` with what is written to a file, until closed. */
function watchLog(file, read) {
  let at = 0;
  const look = () => {
    const text = readFileSync(file, "utf8");
    read(text.slice(at));
    at = text.length;
  };
  const watcher = watch(file, look);
  look();
  return watcher;
}

function rssOf(pid) {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match[1]) * 1024;
}

function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
