/** A real Trino behind the gateway: the same answers direct and through, and what Trino itself says of our statements. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { freePort, startTrinoServer } from "../trinoServer.mjs";
import { tpchQueries } from "./tpch.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const startSeconds = 60;
const place = { "x-trino-catalog": "tpch", "x-trino-schema": "tiny" };

let pair;
/** The server and a gateway before it; started by the first case, ended by the last. */
function started() {
  pair ??= startPair();
  return pair;
}

async function startPair() {
  const server = await startTrinoServer();
  try {
    return { server, gateway: await startGateway(server.url) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function startGateway(endpoint) {
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
async function ask(url, sql, { headers = {}, seen = () => Promise.resolve() } = {}) {
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

/** What TPC-H answered direct, so that each query runs there once. */
const direct = new Map();

async function directly(sql) {
  const { server } = await started();
  if (!direct.has(sql)) direct.set(sql, await ask(server.url, sql));
  return direct.get(sql);
}

async function same(sql) {
  const { gateway } = await started();
  const wanted = await directly(sql);
  const through = await ask(gateway.url, sql);
  if (wanted.error !== undefined) throw new Error(`${sql}\n${wanted.error.message}`);
  if (through.error !== undefined) throw new Error(`${sql}\n${through.error.message}`);
  expectText(through.columns ?? "", wanted.columns ?? "");
  expectText(through.rows, wanted.rows);
}

async function psql(sql) {
  const { gateway } = await started();
  const url = `postgresql://alice@127.0.0.1:${gateway.postgres}/tpch`;
  return expectCode(await command("psql", [url, "-XAtq", "-F", "\t", "-c", sql])).stdout;
}

/** Trino's own list of statements. */
async function listed() {
  const { server } = await started();
  const list = await fetch(`${server.url}/v1/query`, { headers: { "x-trino-user": "gateway" } });
  return await list.json();
}

export const trinoEngineCases = {
  tool: "trinoServer",
  behind: "Trino",
  cases: {
    "the 22 queries of TPC-H answer a Trino client the same direct and through": async () => {
      for (const sql of tpchQueries) await same(sql);
    },
    "and psql the same": async () => {
      for (const sql of tpchQueries) {
        const { rows } = await directly(sql);
        const lines = JSON.parse(`[${rows}]`).map((row) =>
          row.map((cell) => cell ?? "").join("\t"),
        );
        expectText(await psql(sql), lines.join("\n"));
      }
    },
    "every type arrives as Trino wrote it": async () => {
      for (const expression of expressions) await same(`select ${expression} as x`);
    },
    "psql reads the same values": async () => {
      for (const [expression, text] of textsOf) {
        expectText(await psql(`select ${expression}`), text);
      }
    },
    "results of many pages are whole": async () => {
      await same("select * from lineitem order by l_orderkey, l_linenumber limit 20000");
    },
    "a cancelled query is FAILED with USER_CANCELED in Trino's own list": async () => {
      const { gateway } = await started();
      const sql = "select count(*) from tpch.sf1000.lineitem a, tpch.sf1000.lineitem b";
      let ended = false;
      const { error } = await ask(gateway.url, sql, {
        seen: async ({ nextUri, stats }) => {
          if (ended || nextUri === undefined || stats.state !== "RUNNING") return;
          ended = (await fetch(nextUri, { method: "DELETE" })).ok;
        },
      });
      if (error?.errorName !== "USER_CANCELED") throw new Error(JSON.stringify(error));
      const [query] = (await listed()).filter((one) => one.query === sql);
      expectText(`${query?.state} ${query?.errorCode?.name}`, "FAILED USER_CANCELED");
    },
    "Trino sees the service account, our tag, the user's name and the session's properties":
      async () => {
        const { gateway } = await started();
        const sql = "select 'seen by its properties'";
        const headers = {
          "x-trino-session": "query_max_run_time=7m",
          "x-trino-client-tags": "team",
        };
        await ask(gateway.url, sql, { headers });
        const [query] = (await listed()).filter((one) => one.query === sql);
        const { user, clientTags, clientInfo, systemProperties } = query.session;
        const tagged = clientTags.some((tag) => /^gateway\/[\w-]+\/[\w-]+\/[\w-]+$/.test(tag));
        expectText(
          [
            user,
            tagged,
            clientTags.includes("team"),
            clientInfo,
            systemProperties.query_max_run_time,
          ].join(" "),
          "gateway true true alice 7m",
        );
      },
    "errors keep what they are": async () => {
      const { server, gateway } = await started();
      for (const sql of [
        "select * from nowhere",
        "select nothing from nation",
        "selec 1",
        "select 1 / 0",
        "select nothing(1)",
      ]) {
        const wanted = await ask(server.url, sql);
        const through = await ask(gateway.url, sql);
        expectText(
          `${sql}: ${through.error?.errorType} ${through.error?.errorName}`,
          `${sql}: ${wanted.error?.errorType} ${wanted.error?.errorName}`,
        );
      }
    },
    "the server and the gateway before it end": async () => {
      const { server, gateway } = await started();
      await gateway.stop();
      await server.stop();
    },
  },
};

const expressions = [
  "true",
  "cast(-128 as tinyint)",
  "cast(32767 as smallint)",
  "-2147483648",
  "9223372036854775807",
  "cast(1.5 as real)",
  "1e300",
  "nan()",
  "-infinity()",
  "cast('12345678901234567890123456.789012345678' as decimal(38, 12))",
  "'h\u00e9 \u{1f600} \"\\'",
  "cast('ab' as char(5))",
  "x'00ff'",
  "date '2024-02-29'",
  "date '2020-01-01' + interval '9000' year",
  "time '01:02:03.4'",
  "time '01:02:03.123456 +05:30'",
  "timestamp '2024-02-29 23:59:59.123456789012'",
  "timestamp '2024-02-29 23:59:59.1'",
  "timestamp '2024-02-29 23:59:59.123 Europe/Berlin'",
  "interval '-3' day",
  "interval '14' month",
  "uuid '00112233-4455-6677-8899-aabbccddeeff'",
  "ipaddress '10.0.0.1'",
  "json '{\"a\": [1, null]}'",
  "array[9007199254740993, null]",
  "map(array['stats'], array[row(1, 'x')])",
  "cast(row(1, 'x') as row(a integer, \"b c\" varchar))",
  "null",
];

/** What PostgreSQL's clients read. */
const textsOf = [
  ["true", "t"],
  ["9223372036854775807", "9223372036854775807"],
  ["1e300", "1e+300"],
  ["cast('12.340' as decimal(38, 3))", "12.340"],
  ["'h\u00e9 \u{1f600} \"\\'", 'h\u00e9 \u{1f600} "\\'],
  ["x'00ff'", "\\x00ff"],
  ["timestamp '2024-02-29 23:59:59.1'", "2024-02-29 23:59:59.1"],
  ["timestamp '2024-02-29 23:59:59.123 Europe/Berlin'", "2024-02-29 22:59:59.123+00"],
  ["array[1, null]", "{1,NULL}"],
  ["interval '14' month", "1 year 2 mons"],
];
