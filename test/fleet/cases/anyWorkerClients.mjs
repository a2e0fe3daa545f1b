/** Three workers behind a balancer that sends each request to the next: every polled client of the newer wires is answered. */
import { startCallProxy } from "../callProxy.mjs";
import { metricOf, ready } from "../ops.mjs";
import { check, same, until } from "../wait.mjs";
import {
  flightClient,
  mcpClient,
  mcpOrphan,
  slow,
  snowflakeClient,
  snowflakeOrphan,
  sqlApiClient,
  sqlApiOrphan,
} from "../wireClients.mjs";

const queries = Number(process.env.FLEET_POLLED_WIRES ?? 40);
export const title = `Snowflake, SQL API, Flight and MCP over any worker: ${queries} queries each, none lost; an owner killed in between`;
export const usualSeconds = 30;
export const seconds = 60 + queries * 2;

const place = { host: "127.0.0.1", port: 0 };
const frontends = { snowflakeHttp: place, flightSql: place, mcp: place };
const clients = 4;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const names = ["w1", "w2", "w3"];
  const workers = await Promise.all(
    names.map((name) => fleet.worker(name, url, { relay: place, frontends })),
  );
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  const at = (kind) => workers.map(({ ports }) => ports[kind]);
  const balanced = async (kind) => (await fleet.proxy(...at(kind))).port;
  const calls = await startCallProxy(...at("flightSql"));
  fleet.defer(() => calls.close());

  const [snowflakePort, mcpPort] = [await balanced("snowflakeHttp"), await balanced("mcp")];
  const ours = { fleet, workers };
  await all(ours, "snowflake-sdk", () => snowflakeClient(snowflakePort));
  await all(ours, "SQL API", async () => sqlApiClient(snowflakePort));
  await all(ours, "Flight", () => flightClient(calls.port));
  // An agent is given so many bytes of a result, and no more.
  await all(ours, "MCP", () => mcpClient(mcpPort), 300);
  await cancelled(workers, mcpPort);
  await ownerKilled(fleet, workers, calls);
}

/** Each answer is long enough for a second page, chunk or message; its sum says that none is lost or comes twice. */
async function all({ fleet, workers }, name, open, step = 1_000) {
  const before = await relayedBy(workers);
  const wrong = [];
  let asked = 0;
  const client = async () => {
    const own = await open();
    for (let number = asked++; number < queries; number = asked++) {
      const rows = 20 + (number % 5) * step;
      const sql = `select i + ${number} as n, repeat('x', 100) as t from range(${rows}) r(i)`;
      const cells = await own.cells(sql).catch((error) => [[error.message]]);
      wrong.push(...judged(cells, number, rows));
      last = { cells, number, rows };
    }
    await own.close();
  };
  let last;
  await Promise.all(Array.from({ length: clients }, client));
  same(wrong.slice(0, 5), [], `${name}: queries that were lost or wrong`);
  const { cells, number, rows } = last;
  for (const planted of [cells.slice(1), [...cells, cells.at(-1)]]) {
    check(judged(planted, number, rows).length === 1, `nobody notices a row too many or too few`);
  }
  const relayed = (await relayedBy(workers)) - before;
  check(relayed > 0, `${name}: nothing was sent on`);
  fleet.figure(`${name}: ${queries} queries, ${relayed} requests sent on`);
}

/** What is wrong with an answer, if anything is. */
function judged(cells, number, rows) {
  const sum = cells.reduce((total, [n]) => total + Number(n), 0);
  const isRight = cells.length === rows && sum === number * rows + (rows * (rows - 1)) / 2;
  return isRight ? [] : [`${number}: ${cells.length} rows, ${String(cells[0]?.[0])}`];
}

/** A cancel of MCP goes to any worker, and so to the one that runs its call. */
async function cancelled(workers, port) {
  const client = await mcpClient(port);
  for (let turn = 0; turn < 6; turn += 1) {
    const leaving = new AbortController();
    const call = client.call("execute_query", { sql: slow }, { signal: leaving.signal });
    const over = call.then(
      () => "answered",
      () => "left",
    );
    await until("the call's query runs", async () => (await runningAt(workers)) === 1);
    leaving.abort();
    same(await over, "left", "a call that was given up");
    await until("the call's query ended", async () => (await runningAt(workers)) === 0);
  }
  await client.close();
}

/** What a worker has that is killed is typed for its client. */
async function ownerKilled(fleet, [owner, other], calls) {
  // Its login and its rows at another worker than its ticket; the rows are asked for once that worker is dead.
  calls.to(other.ports.flightSql, owner.ports.flightSql, other.ports.flightSql);
  const [dead, died] = signal();
  const [fetching, fetches] = signal();
  calls.hold = async (path) => {
    if (!path.endsWith("/DoGet")) return;
    fetches();
    await dead;
  };
  const flight = await flightClient(calls.port);
  const flightTold = flight.cells("select 1").then(
    () => "answered",
    (error) => `${error.code} ${error.details}`,
  );
  await fetching;
  const orphans = {
    Snowflake: [await snowflakeOrphan(owner.ports.snowflakeHttp), "snowflakeHttp"],
    "SQL API": [await sqlApiOrphan(owner.ports.snowflakeHttp), "snowflakeHttp"],
    MCP: [await mcpOrphan(owner.ports.mcp), "mcp"],
  };
  await owner.kill();
  died();
  const found = {};
  for (const [name, [ask, kind]] of Object.entries(orphans)) {
    found[name] = await ask(other.ports[kind]);
  }
  found.Flight = await flightTold;
  const wanted = {
    Snowflake: "390111",
    "SQL API": "404 000707",
    MCP: "query.elsewhere",
    Flight: "14 The query lives on another instance of the gateway.",
  };
  same(found, wanted, "what is told of a dead worker's queries");
  fleet.figure(`of a killed worker's: ${JSON.stringify(found)}`);
}

/** A promise, and what resolves it. */
function signal() {
  let give;
  const given = new Promise((resolve) => {
    give = resolve;
  });
  return [given, give];
}

async function relayedBy(workers) {
  const counts = workers.map((worker) =>
    metricOf(worker, "gateway_relayed_requests_total", 'result="answered"'),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function runningAt(workers) {
  const counts = workers.map((worker) => metricOf(worker, "gateway_running_queries"));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
