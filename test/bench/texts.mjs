/** What another user's `SELECT 1` waits while long statements arrive, are refused, read and run. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { quantile } from "./figures.mjs";
import { configOf, startGateway } from "./gateway.mjs";

const sender = fileURLToPath(new URL("textSender.mjs", import.meta.url));
const queriesBefore = 10_000;
const quietQueries = 3_000;
const wires = ["postgres", "mysql", "trino"];
const listeners = { postgres: "postgresWire", mysql: "mysqlWire", trino: "trinoHttp" };
const limit = { standard: 1 << 20, raised: 64 << 20 };

/** Under the limit as it comes, over it, and under one that was raised. */
const cases = [
  { what: "1 MiB", bytes: 1 << 20, limit: limit.standard },
  { what: "60 MB, refused", bytes: 60_000_000, limit: limit.standard },
  { what: "60 MB, limit raised", bytes: 60_000_000, limit: limit.raised },
];

export async function textRows() {
  const rows = [];
  for (const bytes of process.env.ONLY
    ? [limit[process.env.ONLY]]
    : [limit.standard, limit.raised]) {
    const gateway = await startGateway(textConfig(bytes));
    const other = new pg.Client({
      host: "127.0.0.1",
      port: gateway.ports.postgresWire,
      user: "bob",
    });
    await other.connect();
    for (let n = 0; n < queriesBefore; n += 1) await other.query("select 1");
    const quiet = await asked(other, (count) => count >= quietQueries);
    rows.push(rowOf("quiet", quiet));
    for (const { what, bytes: length } of cases.filter((one) => one.limit === bytes)) {
      for (const wire of wires) {
        const port = gateway.ports[listeners[wire]];
        const args = [wire, port, length];
        // What a long text runs through is compiled by then.
        await beside(other, [wire, port, 1 << 20]);
        rows.push(rowOf(`beside ${what}, ${wire}`, await beside(other, args)));
      }
    }
    await other.end();
    await gateway.stop();
  }
  return rows;
}

/** One round of every shape. The other asks from the first text to the last answer. */
async function beside(other, args) {
  const child = spawn(process.execPath, [sender, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  let over = false;
  const round = (async () => {
    for await (const line of lines) {
      if (line === "round") break;
    }
    over = true;
  })();
  child.stdin.write("go\n");
  const times = await asked(other, () => over);
  await round;
  child.stdin.end();
  return times;
}

async function asked(client, isOver) {
  const times = [];
  for (let count = 0; !isOver(count); count += 1) {
    const from = performance.now();
    await client.query("select 1");
    times.push(performance.now() - from);
  }
  return times.toSorted((a, b) => a - b);
}

function rowOf(what, times) {
  const ms = (share) => quantile(times, share).toFixed(2);
  return {
    what: `another's SELECT 1, ${what}`,
    asked: times.length,
    "p50 ms": ms(0.5),
    "p99 ms": ms(0.99),
    "highest ms": ms(1),
  };
}

/** Each user has an engine, so that what is measured is the gateway. */
function textConfig(bytes) {
  const wire = JSON.stringify({
    host: "127.0.0.1",
    port: 0,
    maxStatementBytes: bytes,
    maxMessageBytes: 64 << 20,
  });
  return configOf()
    .replaceAll(/(trinoHttp|postgresWire|mysqlWire): \{[^}]*\}/g, `$1: ${wire}`)
    .replace(/^clusters: \{(.*)\}$/m, "clusters: {$1, other: {engine: duckDb}}")
    .replace(
      /^clusterGroups: \{(.*)\}$/m,
      "clusterGroups: {$1, bobs: {members: [other], maxRunningQueries: 4}}",
    )
    .replace(
      "routingFallback",
      "routers: [{type: userGroup, userToGroup: {bob: bobs}}]\nroutingFallback",
    );
}
