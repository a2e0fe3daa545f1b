/** Brings the clients onto the machine through the ordinary package managers, and says why when one can not be had. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { installDrivers } from "./adbcDrivers.mjs";
import { adbcTools, installFlight } from "./cases/adbc.mjs";
import { clickHouseTool } from "./cases/clickHouse.mjs";
import { clickhouseConnectTool } from "./cases/clickhouseConnect.mjs";
import { installConnectorJ } from "./cases/connectorJ.mjs";
import { flightTools, installFlightPython } from "./cases/flight.mjs";
import { installGoMysql } from "./cases/goMysql.mjs";
import { installGoPgx } from "./cases/goPgx.mjs";
import { installMariadbConnectorJ } from "./cases/mariadbConnectorJ.mjs";
import { findMysqlCli } from "./cases/mysqlCli.mjs";
import { installSchemathesis } from "./cases/openapiTool.mjs";
import { keycloakTool } from "./cases/keycloak.mjs";
import { policyServersTool } from "./cases/policyServers.mjs";
import { openFgaTool } from "./cases/openfga.mjs";
import { installGrafana } from "./cases/grafana.mjs";
import { installGrafanaPostgres } from "./cases/grafanaPostgres.mjs";
import { installMysqlTools } from "./cases/mysqlTools.mjs";
import { installPgjdbc } from "./cases/pgjdbc.mjs";
import { findPsqlOdbc, hasPsqlOdbc } from "./cases/psqlOdbc.mjs";
import { installPythonPostgres } from "./cases/pythonPostgresTool.mjs";
import { postgresServers } from "./cases/postgresStore.mjs";
import { snowflakePythonTool } from "./cases/snowflake.mjs";
import { slapdTool } from "./cases/slapd.mjs";
import { trinoJdbcTool } from "./cases/trinoJdbc.mjs";
import { trinoPythonTool } from "./cases/trinoPython.mjs";
import { starRocksLdapTool, starRocksMysqlTool, starRocksTool } from "./cases/starRocks.mjs";
import { actionlintTool, helmTool, promtoolTool } from "../infra/tools.mjs";
import { chromiumTool } from "./chromium.mjs";
import { command } from "./command.mjs";
import { installFakesnow } from "./fakesnow.mjs";
import { imageTool } from "./image.mjs";
import { debianPrograms } from "./postgresServer.mjs";
import { installTrinoServer } from "./trinoServer.mjs";

const debian = {
  psql: { program: "psql", package: "postgresql-client" },
  pgbench: { program: "pgbench", package: "postgresql-contrib" },
  mariadb: { program: "mariadb", package: "mariadb-client" },
  curl: { program: "curl", package: "curl" },
  isql: { program: "isql", package: "unixodbc" },
};

const trinoVersion = "476";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

/** The Trino CLI, an executable jar. */
export const trinoCli = join(cache, `trino-cli-${trinoVersion}-executable.jar`);
/** The Python that has PyMySQL. */
export const python = join(cache, "python", "bin", "python");

/**
 * For each tool: true, or the reason why it is missing. Those that have a reason in `left` are not looked for. What apt
 * installs, what Go builds and what is fetched wait for different things, so they come beside each other.
 */
export async function installTools(left) {
  const tools = { quickstart: true };
  // One after the other in each: apt and Maven let nobody in beside them, and a build has all processors.
  await Promise.all([fromDebian(tools), byGo(tools, left), fetched(tools, left)]);
  // Those need what two of them brought; whatever is there by now is only looked for.
  tools.psqlOdbc = await findPsqlOdbc(tools.pythonPostgres, tools.isql);
  tools.grafanaPostgres = await installGrafanaPostgres();
  Object.assign(tools, await installMysqlTools());
  Object.assign(tools, await postgresServers());
  Object.assign(tools, await adbcTools());
  Object.assign(tools, await flightTools());
  return tools;
}

async function fromDebian(tools) {
  const missing = [];
  for (const { program, package: name } of Object.values(debian)) {
    if (!(await runs(program))) missing.push(name);
  }
  if ((await debianPrograms()).folder === undefined) missing.push("postgresql");
  // The driver is a library: its manager knows whether it is there.
  if (!(await hasPsqlOdbc())) missing.push("odbc-postgresql");
  const reason = missing.length === 0 ? undefined : await installDebian(missing);
  for (const [tool, { program }] of Object.entries(debian)) {
    tools[tool] = (await runs(program)) || reason || "the package did not bring it";
  }
  tools.promtool = await promtoolTool();
  tools.mysqlCli = await findMysqlCli();
  tools.starRocks = await starRocksTool();
  tools.starRocksMysql = await starRocksMysqlTool();
  tools.starRocksLdap = await starRocksLdapTool();
  tools.slapd = await slapdTool();
  tools.studio = await chromiumTool();
}

async function byGo(tools, left) {
  tools.goMysql = await installGoMysql();
  tools.goPgx = left.goPgx ?? (await installGoPgx());
  await installGrafana();
  await installFlight();
  tools.actionlint = await actionlintTool();
  tools.openFga = left.openFga ?? (await openFgaTool());
  tools.policyServers = left.policyServers ?? (await policyServersTool());
}

async function fetched(tools, left) {
  tools.image = await imageTool();
  tools.trino = await installTrino();
  tools.trinoServer = await installTrinoServer();
  tools.keycloak = left.keycloak ?? (await keycloakTool());
  tools.trinoJdbc = await trinoJdbcTool();
  tools.connectorJ = await installConnectorJ();
  tools.mariadbConnectorJ = await installMariadbConnectorJ();
  tools.pgjdbc = await installPgjdbc();
  tools.helm = await helmTool();
  tools.clickHouse = await clickHouseTool();
  tools.clickhouseConnect =
    tools.clickHouse === true ? await clickhouseConnectTool() : tools.clickHouse;
  tools.pymysql = await installPymysql();
  tools.trinoPython = await trinoPythonTool();
  tools.schemathesis = await installSchemathesis();
  tools.pythonPostgres = await installPythonPostgres();
  tools.tpc = tools.pythonPostgres;
  await installDrivers();
  await installFakesnow();
  await installFlightPython();
  tools.snowflakePython = await snowflakePythonTool();
}

/** Debian's wrapper of pgbench is there without the program behind it. */
async function runs(program) {
  return (await command(program, ["--version"])).code === 0;
}

async function has(program) {
  return (await command("sh", ["-c", `command -v ${program}`])).code === 0;
}

async function installDebian(names) {
  if (process.getuid?.() !== 0) return "not installed, and installing needs root";
  if (!(await has("apt-get"))) return "not installed, and there is no apt-get";
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const update = await command("apt-get", ["update", "-q"], { env, seconds: 180 });
  if (update.code !== 0) return `apt-get update failed: ${lastLine(update.stderr)}`;
  const args = ["install", "-y", "-q", "--no-install-recommends", ...names];
  const install = await command("apt-get", args, { env, seconds: 300 });
  return install.code === 0 ? undefined : `apt-get install failed: ${lastLine(install.stderr)}`;
}

async function installPymysql() {
  // An installation that was broken off left the Python without the module.
  if ((await command(python, ["-c", "import pymysql"]).catch(() => undefined))?.code === 0)
    return true;
  if (!(await has("python3"))) return "there is no python3";
  const made = await command("python3", ["-m", "venv", join(cache, "python")], { seconds: 120 });
  if (made.code !== 0) return `no virtual environment: ${lastLine(made.stderr || made.stdout)}`;
  const args = ["-m", "pip", "install", "-q", "pymysql==1.2.4", "cryptography"];
  const installed = await command(python, args, { seconds: 180 });
  return installed.code === 0 || `pip failed: ${lastLine(installed.stderr)}`;
}

async function installTrino() {
  if (!(await has("java"))) return "there is no java";
  if (existsSync(trinoCli)) return true;
  if (!(await has("mvn"))) return "there is no mvn";
  const args = [
    "-q",
    "dependency:copy",
    `-Dartifact=io.trino:trino-cli:${trinoVersion}:jar:executable`,
    `-DoutputDirectory=${cache}`,
    "-Dmdep.useBaseVersion=true",
  ];
  const copied = await command("mvn", args, { seconds: 240 });
  return copied.code === 0 || `mvn failed: ${lastLine(copied.stdout)}`;
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
