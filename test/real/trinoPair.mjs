/** A real Trino and a gateway in front of it, and a client that asks one or the other. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, startTrinoServer } from "./trinoServer.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const startSeconds = 60;
const place = { "x-trino-catalog": "tpch", "x-trino-schema": "tiny" };

/** Both, started: `server` and `gateway`, each with its `url` and what stops it. */
export async function startPair() {
  const server = await startTrinoServer();
  try {
    return { server, gateway: await startGateway(server.url) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A gateway before the Trino at `endpoint`. */
export async function startGateway(endpoint) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  const [trino, postgres, admin] = [await freePort(), await freePort(), await freePort()];
  const listener = (port) => ({ host: "127.0.0.1", port });
  const config = {
    gateway: {
      frontends: { trinoHttp: listener(trino), postgresWire: listener(postgres) },
      adminApi: listener(admin),
      persistence: { type: "inMemory" },
    },
    clusters: { trino: { engine: "trino", endpoint, catalog: "tpch", schema: "tiny" } },
    clusterGroups: { default: { members: ["trino"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  const file = join(folder, "gateway.yaml");
  // Every JSON text is YAML.
  await writeFile(file, JSON.stringify(config));
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const child = spawn(process.execPath, [program, "start", "--config", file], { cwd: root });
  let log = "";
  const read = (chunk) => {
    log = (log + chunk).slice(-4_000);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const url = `http://127.0.0.1:${trino}`;
  const stop = async () => {
    if (child.exitCode === null) child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  };
  const until = performance.now() + startSeconds * 1000;
  for (;;) {
    const answer = await ask(url, "select 1").catch((error) => ({ error }));
    if (answer.error === undefined) return { url, postgres, stop };
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`the gateway did not start: ${JSON.stringify(answer.error)}\n${log}`);
    }
  }
}

/** Runs a statement as Trino's clients do. `seen` is told of every answer before the next is asked for. */
export async function ask(url, sql, { headers = {}, seen = () => Promise.resolve() } = {}) {
  const common = {
    "x-trino-user": "alice",
    "x-trino-client-capabilities": "PARAMETRIC_DATETIME",
    ...place,
    ...headers,
  };
  let answer = await fetch(`${url}/v1/statement`, { method: "POST", body: sql, headers: common });
  let columns;
  let rows = "";
  for (;;) {
    if (!answer.ok) throw new Error(`HTTP ${answer.status}: ${await answer.text()}`);
    const text = await answer.text();
    const page = JSON.parse(text);
    await seen(page);
    columns ??= page.columns?.map(({ name, type }) => `${name} ${type}`).join(", ");
    // As text, because JSON.parse would make two different numbers equal.
    if (page.data?.length > 0) {
      const from = text.indexOf('"data":[') + '"data":['.length;
      rows += `${rows === "" ? "" : ","}${text.slice(from, text.lastIndexOf('],"stats":'))}`;
    }
    if (page.error !== undefined) return { columns, rows, error: page.error };
    if (page.nextUri === undefined) return { columns, rows };
    answer = await fetch(page.nextUri, { headers: common });
  }
}
