/** Tools that browse a MySQL and a MariaDB, on the server and through the gateway before it. */
import { expectText } from "../command.mjs";
import { startBefore } from "../configuredGateway.mjs";
import { metricTable } from "../grafanaStatements.mjs";
import { installMariadb, startMariadb } from "../mariadbServer.mjs";
import { installMysql, startMysql } from "../mysqlServer.mjs";
import { makeTold } from "../mysqlTold.mjs";
import { installConnectorJ } from "./connectorJ.mjs";
import { differencesOfGrafanaMysql, installGrafana } from "./grafana.mjs";
import { installMariadbConnectorJ } from "./mariadbConnectorJ.mjs";
import { differencesOfMysqlMetadata, metadataDrivers } from "./mysqlMetadata.mjs";

/** For each server: true, or why its cases can not run. */
export async function installMysqlTools() {
  const common = [installConnectorJ, installMariadbConnectorJ, installGrafana];
  const missing = (await allOf(common)).find((one) => one !== true);
  const onMariadb = missing ?? (await installMariadb());
  const onMysql = missing ?? (await installMysql());
  return {
    toolsOnMariadb: onMariadb,
    toolsOnMysql: onMysql,
    cursorsOnMariadb: onMariadb,
    cursorsOnMysql: onMysql,
  };
}

async function allOf(installs) {
  const answers = [];
  for (const install of installs) answers.push(await install());
  return answers;
}

async function start(startServer, { user, password }) {
  const { port, stop } = await startServer();
  const direct = { port, user, password };
  try {
    await makeTold(direct, metricTable("datetime"));
    const auth = { type: "basic", username: user, password };
    const engine = process.env.GATEWAY_TEST_MYSQL_ENGINE ?? "starRocks";
    const address =
      engine === "mysql"
        ? { hosts: [`127.0.0.1:${port}`], localFiles: true }
        : { endpoint: `mysql://127.0.0.1:${port}` };
    const cluster = { engine, ...address, auth, database: "demo", poolSize: 4 };
    const gateway = await startBefore(cluster);
    const through = { port: gateway.ports.mysqlWire, user };
    return {
      direct,
      through,
      stop: async () => {
        await gateway.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `behind` as the reasons of differences name it. The server and the gateway are ended by the last case. */
function casesOn(behind, open) {
  let both;
  const started = () => (both ??= open());
  const metadata = metadataDrivers.map((driver) => [
    `${driver} is told the same of the database and of statements, but for what has a reason`,
    async () => {
      const { direct, through } = await started();
      expectText(await differencesOfMysqlMetadata(driver, behind, direct, through), "");
    },
  ]);
  return {
    ...Object.fromEntries(metadata),
    "Grafana's MySQL data source is answered the same": async () => {
      const { direct, through } = await started();
      expectText(await differencesOfGrafanaMysql(direct, through), "");
    },
    "the server and the gateway before it end": async () => {
      const { stop } = await started();
      await stop();
    },
  };
}

// Without the binary log, a function may be made by who has the right to.
const mysqlOptions = { more: ["--skip-log-bin"] };

export const mariadbToolsCases = {
  tool: "toolsOnMariadb",
  behind: "MariaDB",
  cases: casesOn("MariaDB", () =>
    start(() => startMariadb(), { user: "gateway", password: "gateway-secret" }),
  ),
};

export const mysqlToolsCases = {
  tool: "toolsOnMysql",
  behind: "MySQL",
  cases: casesOn("MySQL", () =>
    start(() => startMysql(mysqlOptions), { user: "alice", password: "alice-secret" }),
  ),
};
