/** A real Trino behind the gateway: the same answers direct and through, and what Trino itself says of our statements. */
import { fileURLToPath } from "node:url";
import { command, expectCode, expectText } from "../command.mjs";
import { ask, startPair } from "../trinoPair.mjs";
import { differencesOfGrafanaTrino } from "./grafana.mjs";
import { tpchQueries } from "./tpch.mjs";
import { differencesOfMetadata } from "./trinoMetadata.mjs";

const night = process.env["GATEWAY_NIGHTLY"] === "1";
const root = fileURLToPath(new URL("../../../", import.meta.url));

let pair;
/** The server and a gateway before it; started by the first case, ended by the last. */
function started() {
  pair ??= startPair();
  return pair;
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

/** A file of tests that finds the server. */
async function tested(name, seconds) {
  const { server } = await started();
  const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, `test/real/${name}.test.ts`];
  const cluster = { engine: "trino", endpoint: server.url, user: "alice" };
  const place = { cluster, catalog: "memory", schema: "default", fixed: true };
  const catalog = { GATEWAY_TEST_CATALOG: JSON.stringify(place) };
  const env = { GATEWAY_TEST_TRINO: server.url, ...catalog, NO_COLOR: "1" };
  expectCode(await command(process.execPath, vitest, { env, seconds }));
}

/** By day some of them: most of each one's time is Trino's own, twice. */
function everyNth(n) {
  return tpchQueries.filter((_, at) => night || at % n === 0);
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
    "the queries of TPC-H answer a Trino client the same direct and through": async () => {
      for (const sql of everyNth(2)) await same(sql);
    },
    "and psql the same": async () => {
      // Another wire carries the same rows, whatever they are of.
      for (const sql of everyNth(4)) {
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
    "generated statements tell a client the same": () => tested("trinoDirect", night ? 3_600 : 600),
    "its statistics say how much a statement would read, and a guard asks them": () =>
      tested("trinoScans", 300),
    "it is the catalog of its own tables, for masks and for types": () =>
      tested("engineCatalog", 600),
    "JDBC's driver tells the same of a database and its statements": async () => {
      const { server, gateway } = await started();
      expectText(await differencesOfMetadata(server.url, gateway.url), "");
    },
    "Grafana's Trino data source is answered the same": async () => {
      const { server, gateway } = await started();
      expectText(await differencesOfGrafanaTrino(server.url, gateway.url), "");
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
