/**
 * `node test/bench/trinoReal.mjs`: short queries of a Trino client on a real Trino server, direct and
 * through the gateway, next door and over a network with 20 ms of round trip. The server is fetched as
 * for the tests against real engines. Client and server share a core, the gateway has another; the two
 * ways take turns query by query. Medians with lowest and highest.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { installTrinoServer, startTrinoServer } from "../real/trinoServer.mjs";
import { quantile, spread } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";
import { keepAwake, pinBeside } from "./processes.mjs";

const relays = fileURLToPath(new URL("relays.mjs", import.meta.url));
const agent = new Agent({ keepAlive: true });
const host = "127.0.0.1";
const roundTripsMs = [0, 20];
const rounds = 5;
const perRound = 20;
/** Before anything is timed: Java compiles what it has seen often. */
const warmUp = 200;
const statements = {
  "SELECT 1": "select 1",
  "an aggregate": "select l_returnflag, count(*) from tpch.tiny.lineitem group by 1",
  "2,000 rows": "select * from tpch.tiny.part",
};

const installed = await installTrinoServer();
if (installed !== true) throw new Error(installed);
keepAwake();
pinBeside();
const trino = await startTrinoServer({ lasting: true });
const listener = { host, port: 0 };
const gateway = await startGateway(
  JSON.stringify({
    gateway: {
      frontends: { trinoHttp: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { trino: { engine: "trino", endpoint: trino.url } },
    clusterGroups: { default: { members: ["trino"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  }),
  { pinned: true },
);
const relaysBehind = [];
try {
  const direct = Number(new URL(trino.url).port);
  const rows = [];
  for (let query = 0; query < warmUp; query += 1) {
    for (const sql of Object.values(statements)) await run(direct, sql);
  }
  for (const roundTripMs of roundTripsMs) {
    const ways = {
      direct: await delayed(direct, roundTripMs),
      through: await delayed(gateway.ports.trinoHttp, roundTripMs),
    };
    for (const [what, sql] of Object.entries(statements)) {
      rows.push({ what, "round trip": `${roundTripMs} ms`, ...(await measured(ways, sql)) });
    }
  }
  console.table(rows);
} finally {
  for (const relay of relaysBehind) relay.kill("SIGKILL");
  await gateway.stop();
  await trino.stop();
}

/** A port behind which the one given is half of the round trip away in each direction. */
async function delayed(port, roundTripMs) {
  if (roundTripMs === 0) return port;
  const relay = fork(relays, ["tcp", String(port), String(roundTripMs / 2)]);
  relaysBehind.push(relay);
  const [at] = await once(relay, "message");
  return at;
}

/** The ways take turns query by query: a server that is still warming up is as warm for the one as for the other. */
async function measured(ways, sql) {
  const found = Object.keys(ways).map((way) => ({ way, p50: [], requests: 0 }));
  for (let round = 0; round <= rounds; round += 1) {
    const times = found.map(() => []);
    for (let query = 0; query < perRound; query += 1) {
      for (const [index, one] of found.entries()) {
        const from = performance.now();
        one.requests = await run(ways[one.way], sql);
        times[index].push(performance.now() - from);
      }
    }
    // The first round warms up.
    if (round === 0) continue;
    for (const [index, one] of found.entries()) {
      one.p50.push(
        quantile(
          times[index].toSorted((a, b) => a - b),
          0.5,
        ),
      );
    }
  }
  const [direct, through] = found;
  return {
    "direct p50 ms": spread(direct.p50, 1),
    "through p50 ms": spread(through.p50, 1),
    requests: `${direct.requests} → ${through.requests}`,
  };
}

/** Runs a statement as Trino's own clients do; answers how many requests it took. */
async function run(port, sql) {
  let page = await exchange({ port, method: "POST", path: "/v1/statement" }, sql);
  let requests = 1;
  while (page.nextUri !== undefined) {
    const { pathname, search } = new URL(page.nextUri);
    page = await exchange({ port, method: "GET", path: pathname + search });
    requests += 1;
  }
  if (page.error !== undefined) throw new Error(page.error.message);
  return requests;
}

function exchange(options, body) {
  const headers = { "x-trino-user": "bench", "user-agent": "trino-cli/476" };
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, host, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve(JSON.parse(text)));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
