/**
 * `node test/bench/trinoListing.mjs`: what a JDBC driver asks of a Trino with 50 catalogs, 100,000 tables and a
 * million columns, direct and through the gateway: until the first row, until the last, and how the gateway grew.
 * The server makes each page when it is asked for. Rounds alternate.
 */
import { fork } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { spread } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";
import { rssOf } from "./processes.mjs";

const self = fileURLToPath(import.meta.url);
const rounds = 5;
const catalogs = 50;
const tablesPerCatalog = 2_000;
const columnsPerTable = 10;
const listings = {
  tables: { rows: catalogs * tablesPerCatalog, perPage: 1_000 },
  columns: { rows: catalogs * tablesPerCatalog * columnsPerTable, perPage: 1_000 },
};

if (process.argv[2] === "server") serve();
else await bench();

/** Both listings of `system.jdbc`, a page at a time. */
function serve() {
  let count = 0;
  const server = createServer((asked, answer) => {
    const origin = `http://127.0.0.1:${server.address().port}`;
    answer.setHeader("content-type", "application/json");
    if (asked.url === "/v1/info") return answer.end('{"starting":false}');
    if (asked.url === "/v1/query") return answer.end("[]");
    if (asked.method === "DELETE") return answer.writeHead(204).end();
    if (asked.method !== "POST") {
      asked.resume();
      const [what, id, at] = asked.url.split("/").slice(-3);
      return answer.end(pageOf(origin, { what, id, at: Number(at) }));
    }
    let sql = "";
    asked.on("data", (chunk) => {
      sql += chunk;
    });
    asked.on("end", () => {
      count += 1;
      const what = /system\.jdbc\.(\w+)/.exec(sql)?.[1] ?? "none";
      answer.end(pageOf(origin, { what, id: `q${count}`, at: 0 }));
    });
    return undefined;
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}

const varchar = { type: "varchar", typeSignature: { rawType: "varchar", arguments: [] } };
const names = ["table_cat", "table_schem", "table_name", "column_name"];
const columnsText = JSON.stringify(names.map((name) => ({ name, ...varchar })));
const stats =
  '{"state":"RUNNING","queued":false,"scheduled":true,"nodes":1,"totalSplits":1,"queuedSplits":0,"runningSplits":1,"completedSplits":0}';

/** The page `at`, from 1; 0 is the answer to the submission. */
function pageOf(origin, { what, id, at }) {
  const { rows = 0, perPage = 1 } = listings[what] ?? {};
  const from = (at - 1) * perPage;
  const data =
    at === 0 || from >= rows ? "" : `,"data":${JSON.stringify(rowsOf(what, from, perPage))}`;
  const next =
    from >= rows ? "" : `,"nextUri":"${origin}/v1/statement/executing/${what}/${id}/${at + 1}"`;
  return `{"id":"${id}","infoUri":"${origin}/","columns":${columnsText}${next}${data},"stats":${stats},"warnings":[]}`;
}

function rowsOf(what, from, count) {
  const perTable = what === "columns" ? columnsPerTable : 1;
  return Array.from({ length: count }, (_, index) => {
    const table = Math.floor((from + index) / perTable);
    const catalog = `catalog_${Math.floor(table / tablesPerCatalog)}`;
    return [catalog, "sales", `orders_of_year_${table}`, `column_${(from + index) % perTable}`];
  });
}

async function bench() {
  const server = fork(self, ["server"]);
  const origin = await new Promise((resolve) => {
    server.once("message", resolve);
  });
  const cluster = JSON.stringify({ engine: "trino", endpoint: `http://127.0.0.1:${origin}` });
  const gateway = await startGateway(configOf(cluster));
  try {
    const rows = [];
    for (const what of Object.keys(listings)) {
      rows.push(...(await measured(what, origin, gateway)));
    }
    console.table(rows);
  } finally {
    await gateway.stop();
    server.kill("SIGKILL");
  }
}

async function measured(what, origin, gateway) {
  const ways = [
    { way: "direct", at: origin, first: [], all: [] },
    { way: "gateway", at: gateway.ports.trinoHttp, first: [], all: [] },
  ];
  // The first round warms up, and is not counted as growth.
  for (const { at } of ways) await listed(at, what);
  const before = rssOf(gateway.pid);
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, rssOf(gateway.pid));
  }, 20);
  for (let round = 0; round < rounds; round += 1) {
    for (const { at, first, all } of ways) {
      const found = await listed(at, what);
      first.push(found.firstMs);
      all.push(found.allMs);
    }
  }
  clearInterval(watch);
  return ways.map(({ way, first, all }) => ({
    listing: `${listings[what].rows} ${what}`,
    way,
    "first row ms": spread(first, 1),
    "all rows ms": spread(all, 0),
    ...(way === "gateway" ? { "RSS growth": `${((highest - before) / 1e6).toFixed(0)} MB` } : {}),
  }));
}

async function listed(at, what) {
  const headers = { "x-trino-user": "bench" };
  const from = performance.now();
  const sql = `SELECT * FROM system.jdbc.${what}`;
  const url = `http://127.0.0.1:${at}/v1/statement`;
  let answer = await fetch(url, { method: "POST", headers, body: sql });
  let rows = 0;
  let firstMs;
  for (;;) {
    const page = await answer.json();
    if (page.error !== undefined) throw new Error(JSON.stringify(page.error));
    rows += page.data?.length ?? 0;
    if (rows > 0) firstMs ??= performance.now() - from;
    if (page.nextUri === undefined) break;
    answer = await fetch(page.nextUri, { headers });
  }
  if (rows !== listings[what].rows) throw new Error(`${rows} rows of ${what}`);
  return { firstMs, allMs: performance.now() - from };
}

function configOf(cluster) {
  return `
gateway:
  frontends:
    trinoHttp: {host: 127.0.0.1, port: 0}
    postgresWire: {host: 127.0.0.1, port: 0}
    mysqlWire: {host: 127.0.0.1, port: 0}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {type: inMemory}
clusters: {trino: ${cluster}}
clusterGroups: {default: {members: [trino], maxRunningQueries: 4}}
routingFallback: default
auth: {provider: none}
`;
}
