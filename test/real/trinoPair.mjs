/** A real Trino and a gateway in front of it, and a client that asks one or the other. */
import { startBefore } from "./configuredGateway.mjs";
import { startTrinoServer } from "./trinoServer.mjs";

/** A cluster counts once it was probed. */
const answerSeconds = 60;
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

/** A gateway before the Trino at `endpoint`; `postgres` is the port of its PostgreSQL wire. */
export async function startGateway(endpoint) {
  const cluster = { engine: "trino", endpoint, catalog: "tpch", schema: "tiny" };
  const { ports, stop } = await startBefore(cluster);
  const url = `http://127.0.0.1:${ports.trinoHttp}`;
  const until = performance.now() + answerSeconds * 1000;
  for (;;) {
    const answer = await ask(url, "select 1").catch((error) => ({ error }));
    if (answer.error === undefined) return { url, postgres: Number(ports.postgresWire), stop };
    if (performance.now() > until) {
      await stop();
      throw new Error(`the gateway does not answer: ${JSON.stringify(answer.error)}`);
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
