/** clickhouse-connect from PyPI and curl: on ClickHouse itself, through the gateway to it, and before DuckDB. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { startClickHouse } from "../clickHouseServer.mjs";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { freePlace, startConfigured } from "../configuredGateway.mjs";

const version = "1.12.0";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, `clickhouse-connect-${version}`);
const python = join(folder, "bin", "python");
/** Written when everything is installed, so that half an installation is done again. */
const ready = join(folder, "bin", "pip-done");
const login = { username: "gateway", password: "gateway-secret" };

/** True when the client is there, or the reason why not. */
export async function clickhouseConnectTool() {
  if (existsSync(ready)) return true;
  const made = await command("python3", ["-m", "venv", folder], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  const args = ["-m", "pip", "install", "-q", `clickhouse-connect==${version}`];
  const installed = await command(python, args, { seconds: 240 });
  if (installed.code !== 0) return `pip failed: ${installed.stderr.trim().split("\n").at(-1)}`;
  return (await command("touch", [ready])).code === 0;
}

/** A ClickHouse, and a gateway before it whose header `X-Group: duck` leads to a DuckDB. */
async function withBoth(use) {
  const server = await startClickHouse(cache);
  const gateway = await startConfigured(() => ({
    gateway: {
      frontends: { clickhouseHttp: freePlace },
      adminApi: freePlace,
      persistence: { type: "inMemory" },
    },
    clusters: {
      clickHouse: { engine: "clickHouse", endpoint: server.url, auth: { type: "basic", ...login } },
      duck: { engine: "duckDb" },
    },
    clusterGroups: {
      clickHouse: { members: ["clickHouse"], maxRunningQueries: 8 },
      duck: { members: ["duck"], maxRunningQueries: 8 },
    },
    routers: [{ type: "header", headerName: "X-Group", headerValueToGroup: { duck: "duck" } }],
    routingFallback: "clickHouse",
    auth: { provider: "none" },
  })).catch(async (error) => {
    await server.stop();
    throw error;
  });
  try {
    const direct = Number(new URL(server.url).port);
    return await use({ direct, through: gateway.ports.clickhouseHttp });
  } finally {
    await gateway.stop();
    await server.stop();
  }
}

async function run(port, body, headers = "") {
  const head = `import clickhouse_connect
from clickhouse_connect.driver.exceptions import DatabaseError
c = clickhouse_connect.get_client(host="127.0.0.1", port=${port}, username="${login.username}", password="${login.password}")
${headers}`;
  return expectCode(await command(python, ["-c", head + body])).stdout;
}

/** What a program does with a ClickHouse: values of many types, parameters, errors, streams, changes. */
const program = `
print(c.command("select timezone()"))
r = c.query("""select toInt8(-128), toUInt64(18446744073709551615), toInt128('-170141183460469231731687303715884105728'),
  toDecimal64('-12.345', 3), toFloat32(-1.5), true, 'h\\u00e9', toDate('2024-02-29'), toDateTime64('2024-02-29 12:34:56.789', 3, 'UTC'),
  toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0'), [1, 2], map('k', 1), tuple(1, 'a'), toNullable(3), null, toLowCardinality('x')""")
print([t.name for t in r.column_types], r.result_rows)
print(c.query("select {n:Int32} + 1, {s:String}", parameters={"n": 41, "s": "it's\\ta"}).result_rows)
with c.query_row_block_stream("select number, toString(number) from numbers(200000)") as s:
  print(sum(len(b) for b in s))
print(c.raw_query("select number from numbers(3)", fmt="JSONEachRow"))
for sql in ("selec 1", "select * from nowhere", "select toInt32('x')"):
  try: c.query(sql)
  except DatabaseError as e: print(str(e).split("Code: ")[1].split(".")[0])
c.command("create table t_TABLE (a Int32, b String) engine = Memory")
c.raw_insert("t_TABLE", ["a", "b"], "1,x\\n2,y\\n", fmt="CSV")
print(c.query("select * from t_TABLE order by a").result_rows, c.query("select count() from t_TABLE").first_row)
c.command("drop table t_TABLE")
`;

const formats = [
  ["TabSeparated", "TSVRaw", "TSVWithNamesAndTypes", "CSV", "CSVWithNames", "JSONEachRow"],
  ["JSONCompactEachRowWithNamesAndTypes", "RowBinaryWithNamesAndTypes", "Native", "Values"],
  ["Arrow", "ArrowStream", "Parquet", "Pretty", "Vertical", "Markdown", "Null"],
].flat();

const curl = async (port, sql, ...args) =>
  expectCode(
    await command("sh", [
      "-c",
      `curl -s -S "$@" "http://${login.username}:${login.password}@127.0.0.1:${port}/" --data-binary "${sql}" | md5sum`,
      "sh",
      ...args,
    ]),
  ).stdout;

export const clickhouseConnectCases = {
  tool: "clickhouseConnect",
  behind: "ClickHouse, DuckDB",
  cases: {
    "clickhouse-connect is told the same through the gateway as by ClickHouse": () =>
      withBoth(async ({ direct, through }) => {
        const wanted = await run(direct, program.replaceAll("TABLE", "direct"));
        expectMatch(wanted, /^200000$/m);
        expectText(await run(through, program.replaceAll("TABLE", "through")), wanted);
      }),
    "curl gets the same bytes through the gateway, in every format": () =>
      withBoth(async ({ direct, through }) => {
        const sql =
          "select number, toString(number) as s, [number] as l from numbers(5000) format ";
        for (const format of formats) {
          const wanted = await curl(direct, sql + format);
          const found = await curl(through, sql + format);
          if (found !== wanted) throw new Error(`${format} differs`);
        }
      }),
    "clickhouse-connect before DuckDB": () =>
      withBoth(async ({ through }) => {
        const body = `
r = c.query("select 1::tinyint, 18446744073709551615::ubigint, -12.345::decimal(18, 3), 1.5::float, true, 'h\\u00e9', date '2024-02-29', timestamp '2024-02-29 12:34:56.789', uuid '61f0c404-5cb3-11e7-907b-a6006ad3dba0', [1, null], map {'k': 1}, {'a': 1}, null")
print(r.result_rows)
print(c.query("select {n:Int32} + 1, {s:String}", parameters={"n": 41, "s": "it's"}).result_rows)
with c.query_row_block_stream("select i, 'x' || i from range(200000) t(i)") as s:
  print(sum(len(b) for b in s))
c.command("create table t (a integer)")
c.command("insert into t values (1), (2)")
print(c.query("select count(*) from t").first_row)
try: c.query("selec 1")
except DatabaseError as e: print(str(e).split("Code: ")[1].split(".")[0])
`;
        const toDuck = `c = clickhouse_connect.get_client(host="127.0.0.1", port=${through}, headers={"X-Group": "duck"})\n`;
        const lines = (await run(through, body, toDuck)).trim().split("\n");
        expectText(lines.slice(1).join("\n"), `[(42, "it's")]\n200000\n(2,)\n62`);
        expectMatch(lines[0], /Decimal\('-12\.345'\).*'h\u00e9', datetime\.date\(2024, 2, 29\)/);
      }),
  },
};
