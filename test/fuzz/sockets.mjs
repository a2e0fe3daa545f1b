/**
 * `node test/fuzz/sockets.mjs [seconds] [seed] [wire]`: requests by chance over sockets into a running gateway's ClickHouse,
 * Snowflake, MCP and Trino listeners and the operator's, from the corpora in `corpus`. After each burst a good query has to be answered right. Ends
 * with 1 when the process is gone, counts a bug, grows, leaves a connection open, or sends what is no whole answer.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { countedLine } from "../evidence/counted.mjs";
import { bugsCounted, bundled, ranOn, residentBytes, startFuzzed } from "./running.mjs";

const seconds = Number(process.argv[2] ?? 60);
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const burst = 40;
const atOnce = 8;
/** Only ends what hangs: how long a busy machine takes says nothing. */
const endSeconds = 60;
const grownBytesMax = 300e6;

const { answersIn, connectionBytes, cutShort, isHead } = await bundled("requests.ts");
const { wrongIn } = await bundled("answers/judge.ts");
const gateway = await startFuzzed(["clickhouseHttp", "snowflakeHttp", "mcp", "trinoHttp"]);

const wires = {
  clickhouse: {
    port: gateway.ports.clickhouseHttp,
    token: async () => "",
    wrongIn: ({ headers, body }, sent) => {
      const code = headers.get("x-clickhouse-exception-code");
      if (code === undefined) return undefined;
      const isSaid = isHead(sent) || body.length > 0 || headers.has("content-encoding");
      return /^\d+$/.test(code) && isSaid ? undefined : `an exception of the code ${code}`;
    },
    good: async () => {
      const text = await (await posted("clickhouse", "/", "SELECT 40 + 2")).text();
      return text === "42\n" ? undefined : text;
    },
  },
  snowflake: {
    port: gateway.ports.snowflakeHttp,
    token: logIn,
    wrongIn: (answer, sent) => wrongIn("snowflake", answer, sent),
    good: async () => {
      const headers = { authorization: `Snowflake Token="${await logIn()}"` };
      const body = JSON.stringify({ sqlText: "SELECT 40 + 2" });
      const path = `/queries/v1/query-request?requestId=${crypto.randomUUID()}`;
      const text = await (await posted("snowflake", path, body, headers)).text();
      return JSON.parse(text).data?.rowset?.[0]?.[0] === "42" ? undefined : text;
    },
  },
  mcp: {
    port: gateway.ports.mcp,
    token: async () => "",
    wrongIn: (answer, sent) => wrongIn("mcp", answer, sent),
    good: async () => {
      const call = { name: "execute_query", arguments: { sql: "SELECT 40 + 2 AS a" } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
      const accept = "application/json, text/event-stream";
      const text = await (await posted("mcp", "/mcp", body, { accept })).text();
      return text.includes("42") && text.includes('"jsonrpc"') ? undefined : text;
    },
  },
  trino: {
    port: gateway.ports.trinoHttp,
    token: async () => "",
    wrongIn: (answer, sent) => wrongIn("trino", answer, sent),
    good: trinoGood,
  },
  // Nobody who asks here has logged in. What follows a request and is none ends the connection, also behind the head of
  // the answer to it.
  admin: {
    mayCut: true,
    port: gateway.ports.adminApi,
    token: async () => "",
    wrongIn: wrongJson,
    good: async () => {
      const { status } = await fetch(`http://127.0.0.1:${gateway.ports.adminApi}/readyz`);
      return status === 200 ? undefined : `/readyz answers ${status}`;
    },
  },
};
const picked = Object.entries(wires).filter(([name]) => name.includes(process.argv[4] ?? ""));
const books = new Map(
  picked.map(([name]) => [name, { requests: 0, answers: 0, taken: 0, engineLost: 0 }]),
);
const problems = picked.length === 0 ? [`FAILED   no wire is called ${process.argv[4]}`] : [];
await ranOn(gateway, problems, run);

async function run() {
  const endMs = performance.now() + seconds * 1_000;
  let before;
  for (let seed = firstSeed; performance.now() < endMs && problems.length === 0; seed += burst) {
    for (const [name, wire] of picked) {
      await inTurn(name, wire, seed);
      const wrong = await wrongOf(name, wire);
      if (wrong !== undefined) problems.push(`FAILED   ${name}, after seed ${seed}: ${wrong}`);
    }
    const bugs = await bugsCounted(gateway);
    if (bugs > 0) problems.push(`FAILED   ${bugs} bugs counted in the burst of seed ${seed}`);
    // What is made once is there after some bursts.
    if (seed - firstSeed >= 10 * burst) before ??= residentBytes(gateway);
  }
  for (const [name, { requests, answers, taken, engineLost }] of books) {
    console.log(
      `ok  ${name}: ${requests} connections, ${answers} answers, ${taken} of them below 400, ${engineLost} engines lost`,
    );
    if (taken === 0) problems.push(`FAILED   ${name}: nothing was taken, so little was tried`);
  }
  const grown = before === undefined ? 0 : residentBytes(gateway) - before;
  if (grown > grownBytesMax) problems.push(`FAILED   it grew by ${Math.round(grown / 1e6)} MB`);
  const total = [...books.values()].reduce((sum, { requests }) => sum + requests, 0);
  console.log(`seed ${firstSeed}: ${total} connections, ${Math.round(grown / 1e6)} MB more`);
  console.log(countedLine("badInputs", total));
}

/**
 * What a good query gets that is not its answer. Statements of the burst may have cost the engine's process, which is
 * said to who is there then; it is started again, so the query is asked again, and that is counted.
 */
async function wrongOf(name, wire) {
  for (let asked = 1; ; asked += 1) {
    const wrong = await wire.good();
    if (wrong === undefined || asked === 3 || !wrong.includes("it is started again")) return wrong;
    books.get(name).engineLost += 1;
    console.log(gateway.lines().findLast((line) => line.includes('"driver.crashed"')));
  }
}

async function inTurn(name, wire, from) {
  const samples = JSON.parse(readFileSync(new URL(`corpus/${name}.json`, import.meta.url), "utf8"));
  const token = await wire.token();
  const seeds = Array.from({ length: burst }, (_, index) => from + index);
  const next = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const sent = connectionBytes(samples, token, seed);
      const why = judged(name, wire, sent, await exchanged(wire.port, sent));
      if (why !== undefined) problems.push(`FAILED   ${name}, seed ${seed}: ${why}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

function judged(name, wire, sent, got) {
  const book = books.get(name);
  book.requests += 1;
  if (got === undefined) return `a connection that is open after ${endSeconds} s`;
  const answers = answersIn(got, isHead(sent));
  if (typeof answers === "string") return wire.mayCut && answers === cutShort ? undefined : answers;
  book.answers += answers.length;
  book.taken += answers.filter(({ status }) => status < 400).length;
  for (const answer of answers) {
    const wrong = wire.wrongIn(answer, sent);
    const shown = `${answer.status} ${answer.body.toString().slice(0, 300)}`;
    if (wrong !== undefined) return `an answer that is none (${wrong}): ${shown}`;
  }
  return undefined;
}

/** All that comes back until the other side ends; undefined where it does not. */
function exchanged(port, bytes) {
  return new Promise((resolve) => {
    const parts = [];
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    const limit = setTimeout(() => {
      socket.destroy();
      resolve(undefined);
    }, endSeconds * 1_000);
    socket.on("data", (part) => parts.push(part));
    // A reset may follow an answer to what was never read.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(limit);
      resolve(Buffer.concat(parts));
    });
    socket.end(bytes);
  });
}

/** What says that it is JSON is; `internal.bug` is counted by the gateway itself. */
function wrongJson({ headers, body }) {
  if (!/json/.test(headers.get("content-type") ?? "")) return undefined;
  if (headers.has("content-encoding") || body.length === 0) return undefined;
  try {
    JSON.parse(body.toString());
    return undefined;
  } catch {
    return "JSON that is none";
  }
}

async function trinoGood() {
  const headers = { "x-trino-user": "ann" };
  let page = await (await posted("trino", "/v1/statement", "SELECT 40 + 2", headers)).json();
  const rows = [];
  for (;;) {
    rows.push(...(page.data ?? []));
    if (page.nextUri === undefined) break;
    page = await (await fetch(page.nextUri, { headers })).json();
  }
  return rows[0]?.[0] === 42 ? undefined : JSON.stringify(page);
}

async function logIn() {
  const body = JSON.stringify({ data: { LOGIN_NAME: "ann", PASSWORD: "x" } });
  const answer = await (await posted("snowflake", "/session/v1/login-request", body)).json();
  if (answer.success !== true) throw new Error(`no session: ${JSON.stringify(answer)}`);
  return answer.data.token;
}

function posted(name, path, body, headers = {}) {
  return fetch(`http://127.0.0.1:${wires[name].port}${path}`, {
    method: "POST",
    body,
    headers: {
      "content-type": /clickhouse|trino/.test(name) ? "text/plain" : "application/json",
      ...headers,
    },
    signal: AbortSignal.timeout(endSeconds * 1_000),
  });
}
