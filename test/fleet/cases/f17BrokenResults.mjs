/**
 * F17: an engine stalls or breaks in the middle of a result. The client is told so by its protocol and never has a part
 * for the whole, the engine is asked once, and the connection, the slot and the next statement are as before. By day
 * some of the ways to break, drawn by the seed; at night all of them.
 */
import { createServer } from "node:http";
import pg from "pg";
import { cellOf, mysqlCell, mysqlClient, pgClient, trinoStart } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { night } from "../night.mjs";
import { metricOf, ready } from "../ops.mjs";
import { chanceOf, seed } from "../seed.mjs";
import { check, notices, same, until, within } from "../wait.mjs";

export const title = "F17: an engine stalls or breaks in the middle of a result (I2, I10)";

/** Of whole results as well, which a busy machine makes slowly. */
const limitSecs = 5;
const answerSeconds = 30;
const rowsOfPage = 500;
const breaksByDay = 2;
/** What the engine does instead of its second page. */
const breaks = {
  stalls: () => {},
  resets: (response) => response.socket.resetAndDestroy(),
  closes: (response) => response.socket.end(),
  cut: (response, text) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.write(text.slice(0, text.length / 2), () => response.socket.destroy());
  },
  nonsense: (response) => response.writeHead(200).end("<html>welcome</html>"),
  forgets: (response) => response.writeHead(404).end(),
  fails: (response) => response.writeHead(500).end("out of memory"),
};
const typed = {
  postgres: /^(57014|58030|58000|53000|57P0[123])$/,
  mysql: /^(3024|1296|1105|1317)$/,
  trino: /^(EXCEEDED_TIME_LIMIT|PAGE_TRANSPORT_ERROR|GENERIC_[A-Z_]+|REMOTE_[A-Z_]+)$/,
};

export async function run(fleet) {
  fleet.figure(`seed ${seed}`);
  const engine = await startBreaking(fleet);
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url } },
    clusterGroups: {
      default: { members: ["local"], maxRunningQueries: 4, maxExecutionSecs: limitSecs },
    },
  };
  const control = await fleet.controlPlane({ config });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`);
  await worker.open().then(ready);
  const wires = { postgres: await overPg(worker), mysql: await overMysql(worker), trino };
  const ask = (wire, kind) => {
    const rows = wires[wire].rows(`select '${kind} ${wire}' as n`, worker);
    return within(`${wire}, ${kind}: an answer (I10)`, rows, answerSeconds);
  };

  const outcomes = [];
  const chance = chanceOf();
  const drawn = chance.shuffled(Object.keys(breaks)).slice(0, night ? undefined : breaksByDay);
  const kinds = chance.shuffled(["whole", ...drawn]);
  // The wires at once, and each in an order of its own way: a statement beside one that breaks is not its business.
  const one = async (wire) => {
    for (const kind of kinds) {
      outcomes.push({ wire, kind, ...(await ask(wire, kind)) });
      const after = await ask(wire, `after_${kind}`);
      same(after.rows, 2 * rowsOfPage, `${wire}, after ${kind}: rows (${after.code})`);
    }
  };
  await Promise.all(Object.keys(wires).map(one));
  await until("all slots are back", async () => {
    return (await metricOf(worker, "gateway_running_queries")) === 0;
  });

  outcomes.forEach(judgeOutcome);
  const judgeOnce = () => {
    const twice = [...engine.asked].filter(([, count]) => count !== 1);
    same(twice, [], "statements that the engine was given again (I2)");
    same(engine.asked.size, outcomes.length * 2, "statements at the engine");
  };
  judgeOnce();
  const broken = outcomes.filter(({ kind }) => kind !== "whole");
  fleet.figure(`${broken.length} results that broke on 3 wires, each told, each run once`);

  // An engine that is whole where it should have broken, and one that is asked again: neither may be overlooked.
  engine.honest = true;
  const [again] = drawn;
  const whole = await ask("postgres", again);
  const asBroken = { wire: "postgres", kind: again, ...whole };
  await notices("a result without its error", () => judgeOutcome(asBroken), /I10/);
  await notices("a second run", judgeOnce, /I2/);
  await Promise.all(Object.values(wires).map((wire) => wire.end()));
}

function judgeOutcome({ wire, kind, rows, code }) {
  if (kind === "whole") {
    same([rows, code], [2 * rowsOfPage, undefined], `${wire}: a whole result`);
    return;
  }
  check(code !== undefined, `${wire}, ${kind}: ${rows} rows look like all of them (I10)`);
  check(typed[wire].test(code), `${wire}, ${kind}: told as ${code}`);
  check(rows <= rowsOfPage, `${wire}, ${kind}: ${rows} rows, more than the engine sent`);
}

async function overPg(worker) {
  const client = await pgClient(worker);
  return {
    rows: (text) =>
      new Promise((resolve) => {
        let rows = 0;
        const query = new pg.Query(text, (error) => {
          resolve({ rows, code: error ? String(error.code ?? error.message) : undefined });
        });
        query.on("row", () => (rows += 1));
        client.query(query);
      }),
    cell: (sql) => cellOf(client, sql),
    end: () => client.end(),
  };
}

async function overMysql(worker) {
  const client = await mysqlClient(worker);
  return {
    rows: (sql) =>
      new Promise((resolve) => {
        let rows = 0;
        const query = client.connection.query(sql);
        query.on("result", () => (rows += 1));
        query.on("error", (error) => resolve({ rows, code: String(error.errno) }));
        query.on("end", () => resolve({ rows, code: undefined }));
      }),
    cell: (sql) => mysqlCell(client, sql),
    end: () => client.end(),
  };
}

const trino = {
  rows: async (sql, worker) => {
    let page = await (await trinoStart(worker, sql)).json();
    let rows = 0;
    for (;;) {
      rows += page.data?.length ?? 0;
      if (page.error !== undefined) return { rows, code: page.error.errorName };
      if (page.nextUri === undefined) return { rows, code: undefined };
      const next = await fetch(page.nextUri);
      if (next.status !== 200) return { rows, code: String(next.status) };
      page = await next.json();
    }
  },
  end: async () => {},
};

/** Speaks Trino's protocol: a page of rows for each statement, and then what its text says. */
async function startBreaking(fleet) {
  const engine = { url: "", honest: false, asked: new Map() };
  const texts = [];
  const server = createServer((request, response) => {
    void handled(request, response).catch(() => response.destroy());
  });
  const handled = async (request, response) => {
    let sql = "";
    for await (const piece of request) sql += piece;
    const { method, url: path } = request;
    if (path === "/v1/info") return response.end('{"starting":false}');
    if (path === "/v1/query") return response.end("[]");
    if (method === "DELETE") return response.writeHead(204).end();
    if (method === "POST") {
      // The gateway has questions of its own, which it may ask as often as it likes.
      if (sql.startsWith("select '")) engine.asked.set(sql, (engine.asked.get(sql) ?? 0) + 1);
      return sendPage(response, { id: texts.push(sql) - 1, last: false });
    }
    const id = Number(/\/q(\d+)\//.exec(path)?.[1]);
    const kind = /'(\w+)/.exec(texts[id])?.[1];
    const damage = engine.honest ? undefined : breaks[kind];
    if (damage === undefined) return sendPage(response, { id, last: true });
    return damage(response, pageOf({ id, last: true }));
  };
  const pageOf = ({ id, last }) =>
    JSON.stringify({
      id: `q${id}`,
      ...(last ? {} : { nextUri: `${engine.url}/v1/statement/executing/q${id}/y/1` }),
      stats: { state: last ? "FINISHED" : "RUNNING", queued: false },
      columns: [{ name: "n", type: "integer", typeSignature }],
      data: Array.from({ length: rowsOfPage }, (_, row) => [row]),
    });
  const sendPage = (response, page) =>
    response.writeHead(200, { "content-type": "application/json" }).end(pageOf(page));
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  engine.url = `http://127.0.0.1:${server.address().port}`;
  fleet.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return engine;
}

const typeSignature = { rawType: "integer", arguments: [] };
