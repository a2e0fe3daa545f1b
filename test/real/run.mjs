/**
 * `npm run test:real`: command-line clients and drivers that nobody here wrote, against the quick
 * start as a user runs it. Installs what it can when it runs as root; what it can not have is skipped
 * with the reason. Arguments pick tools by name. The last line counts.
 */
import { adbcCases } from "./cases/adbc.mjs";
import { clickHouseCases } from "./cases/clickHouse.mjs";
import { clickhouseConnectCases } from "./cases/clickhouseConnect.mjs";
import { asyncpgCases } from "./cases/asyncpg.mjs";
import { connectGuideCases } from "./cases/connectGuide.mjs";
import { curlCases } from "./cases/curl.mjs";
import { connectorJCases } from "./cases/connectorJ.mjs";
import { duckDbAttachCases } from "./cases/duckDbAttach.mjs";
import { flightCases } from "./cases/flight.mjs";
import { goMysqlCases } from "./cases/goMysql.mjs";
import { goPgxCases } from "./cases/goPgx.mjs";
import { grafanaPostgresCases } from "./cases/grafanaPostgres.mjs";
import { mysqlCliCases } from "./cases/mysqlCli.mjs";
import { npmPackageCases } from "./cases/npmPackage.mjs";
import { imageCases } from "./cases/image.mjs";
import { alertCases, chartCases, workflowCases } from "./cases/infra.mjs";
import { mariadbCursorsCases, mysqlCursorsCases } from "./cases/mysqlCursors.mjs";
import { mariadbToolsCases, mysqlToolsCases } from "./cases/mysqlTools.mjs";
import { keycloakCases } from "./cases/keycloak.mjs";
import { mariadbCases } from "./cases/mariadb.mjs";
import { mariadbConnectorJCases } from "./cases/mariadbConnectorJ.mjs";
import { openapiCases } from "./cases/openapi.mjs";
import { openFgaCases } from "./cases/openfga.mjs";
import { ordinaryCases, comparingCases } from "./cases/ordinary.mjs";
import { pgbenchCases } from "./cases/pgbench.mjs";
import { pgcliCases } from "./cases/pgcli.mjs";
import { policyServersCases } from "./cases/policyServers.mjs";
import { postgresqlCases } from "./cases/postgresql.mjs";
import { pgjdbcCases } from "./cases/pgjdbc.mjs";
import { debianPostgresCases, embeddedPostgresCases } from "./cases/postgresStore.mjs";
import { psqlCases } from "./cases/psql.mjs";
import { psqlOdbcCases } from "./cases/psqlOdbc.mjs";
import { psycopgCases } from "./cases/psycopg.mjs";
import { pymysqlCases } from "./cases/pymysql.mjs";
import { snowflakeCases } from "./cases/snowflake.mjs";
import { slapdCases } from "./cases/slapd.mjs";
import { studioCases } from "./cases/studio.mjs";
import { starRocksCases, starRocksLdapCases, starRocksMysqlCases } from "./cases/starRocks.mjs";
import { sqlalchemyCases } from "./cases/sqlalchemy.mjs";
import { tpcCases } from "./cases/tpc.mjs";
import { trinoCases } from "./cases/trino.mjs";
import { trinoEngineCases } from "./cases/trinoEngine.mjs";
import { trinoIdentityCases } from "./cases/trinoIdentity.mjs";
import { trinoJdbcCases } from "./cases/trinoJdbc.mjs";
import { trinoPythonCases } from "./cases/trinoPython.mjs";
import { startQuickstart } from "./gateway.mjs";
import { installTools } from "./install.mjs";
import { isOpenFgaBuilt } from "./openfgaServer.mjs";
import { isOpaBuilt } from "./policyServers.mjs";

const only = process.argv.slice(2);
/** From here on a case is printed with its time. */
const longSeconds = 10;
const seconds = new Map();
const startMs = performance.now();
/** Proofs that take longer than a push may: at night, and whenever they are asked for by name. */
const atNight = {
  keycloak: "a Keycloak and a Trino take three minutes",
  goPgx: "pgx's own suite takes a minute",
  openFga: "building an OpenFGA takes three minutes",
  policyServers: "building an Open Policy Agent takes two minutes",
};
/** Where they were built before, they take seconds. By day fakes of `npm test` answer what was recorded of them. */
const isBuilt = { openFga: isOpenFgaBuilt, policyServers: isOpaBuilt };
const isLeft = (tool) =>
  process.env.GATEWAY_NIGHTLY !== "1" && !only.includes(tool) && isBuilt[tool]?.() !== true;
const left = Object.fromEntries(
  Object.entries(atNight)
    .filter(([tool]) => isLeft(tool))
    .map(([tool, reason]) => [tool, `${reason}, at night`]),
);
const counts = { passed: 0, failed: 0, skipped: 0 };
/** For each tool: true, or the reason why it is missing; none is known of a case that needs nothing. */
let tools = {};
let gateway;

const suites = [
  psqlCases,
  asyncpgCases,
  psycopgCases,
  sqlalchemyCases,
  pgcliCases,
  duckDbAttachCases,
  psqlOdbcCases,
  pgjdbcCases,
  goPgxCases,
  pgbenchCases,
  mariadbCases,
  pymysqlCases,
  mysqlCliCases,
  connectorJCases,
  mariadbConnectorJCases,
  goMysqlCases,
  curlCases,
  trinoCases,
  trinoEngineCases,
  trinoIdentityCases,
  keycloakCases,
  trinoJdbcCases,
  trinoPythonCases,
  tpcCases,
  clickHouseCases,
  clickhouseConnectCases,
  starRocksCases,
  starRocksMysqlCases,
  starRocksLdapCases,
  mariadbToolsCases,
  mysqlToolsCases,
  mariadbCursorsCases,
  mysqlCursorsCases,
  grafanaPostgresCases,
  slapdCases,
  openFgaCases,
  policyServersCases,
  npmPackageCases,
  imageCases,
  chartCases,
  alertCases,
  workflowCases,
  ...connectGuideCases,
  ...adbcCases,
  ...flightCases,
  snowflakeCases,
  postgresqlCases,
  debianPostgresCases,
  embeddedPostgresCases,
  studioCases,
  // The last on the quick start, because it changes its configuration before it puts it back.
  openapiCases,
];
// Those start servers of their own and never ask the quick start, so they run beside the others: much of both is
// waiting. The longest come first.
const apart =
  `debianPostgres keycloak studio starRocksMysql adbcPostgres postgresql starRocks embeddedPostgres
  npmPackage image adbcRecording adbcSnowflake tpc starRocksLdap slapd openFga policyServers`.split(
    /\s+/,
  );
// The slow tests need nothing of what is installed, and much of that is waiting.
await Promise.all([install(), inTurn([ordinaryCases])]);
gateway = await startQuickstart();
try {
  const beside = apart.map((tool) => suites.filter((suite) => suite.tool === tool));
  const others = suites.filter(({ tool }) => !apart.includes(tool));
  const besideInTurn = async () => {
    for (let some = beside.shift(); some !== undefined; some = beside.shift()) await inTurn(some);
  };
  await Promise.all([inTurn(others).then(besideInTurn), besideInTurn()]);
  await inTurn([comparingCases]);
  await one("quickstart", "Ctrl-C drains and ends with 0", async () => {
    const code = await gateway.interrupt();
    if (code !== 0) throw new Error(`exit code ${code}`);
  });
} finally {
  await gateway.stop();
}
const times = [...seconds].map(([tool, spent]) => `${tool} ${Math.round(spent)}`);
console.log(`seconds: ${times.join(", ")}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

async function install() {
  tools = await installTools(left);
  seconds.set("installation", (performance.now() - startMs) / 1000);
}

async function inTurn(some) {
  for (const { tool, cases } of some) {
    if (only.length > 0 && !only.includes(tool)) continue;
    const fromMs = performance.now();
    for (const [name, run] of Object.entries(cases)) await one(tool, name, run);
    seconds.set(tool, (seconds.get(tool) ?? 0) + (performance.now() - fromMs) / 1000);
  }
}

async function one(tool, name, run) {
  const missing = tools[tool];
  if (typeof missing === "string") {
    counts.skipped += 1;
    console.log(`skipped  ${tool}: ${name} (${missing})`);
    return;
  }
  const fromMs = performance.now();
  const took = () => {
    const spent = Math.round((performance.now() - fromMs) / 1000);
    return spent < longSeconds ? "" : ` (${spent} s)`;
  };
  try {
    await run(gateway);
    counts.passed += 1;
    console.log(`passed   ${tool}: ${name}${took()}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED   ${tool}: ${name}${took()}\n${indented(error)}`);
  }
}

function indented(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/^/gm, "         ");
}
