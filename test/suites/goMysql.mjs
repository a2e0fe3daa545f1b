/** go-sql-driver/mysql's suite on a MariaDB, direct and through. */
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { driver } from "../real/cases/goMysql.mjs";
import { compileGoTests, goModule } from "../real/goModule.mjs";
import { installMariadb, startMariadb } from "../real/mariadbServer.mjs";
import { goTests } from "./goTests.mjs";

const leftOut = {
  TestConcurrent: "opens as many connections as the server may have",
};
const login = { user: "gateway", password: "gateway-secret", database: "demo" };

/** The suite over the gateway's engine for any server of the family, and over the one for MySQL and MariaDB. */
export const goMysql = suiteOver("starRocks", (port) => ({
  endpoint: `mysql://127.0.0.1:${port}`,
}));
export const goMysqlRelayed = suiteOver("mysql", (port) => ({
  hosts: [`127.0.0.1:${port}`],
  localFiles: true,
}));

function suiteOver(engine, addressOf) {
  return {
    suite: "go-sql-driver/mysql",
    version: driver.split("@v")[1],
    behind: `MariaDB, engine \`${engine}\``,
    leftOut,
    open: () => opened(engine, addressOf),
  };
}

async function opened(engine, addressOf) {
  const mariadb = await installMariadb();
  if (mariadb !== true) return { reason: mariadb };
  const { folder, reason } = await goModule(driver);
  if (folder === undefined) return { reason };
  const built = await compileGoTests(folder, ".", "suite");
  if (built !== true) return { reason: built };
  const server = await startMariadb();
  const { port } = server;
  const { user: username, password, database } = login;
  const auth = { type: "basic", username, password };
  const tests = (at, credentials) =>
    goTests(join(folder, "suite"), {
      cwd: folder,
      env: { MYSQL_TEST_ADDR: `127.0.0.1:${at}`, MYSQL_TEST_DBNAME: database, ...credentials },
      leftOut: Object.keys(leftOut),
    });
  return {
    server: await versionOf(port),
    cluster: { engine, ...addressOf(port), auth, database, poolSize: 12 },
    direct: () => tests(port, { MYSQL_TEST_USER: username, MYSQL_TEST_PASS: password }),
    through: ({ mysqlWire }) => tests(mysqlWire, { MYSQL_TEST_USER: "alice" }),
    stop: server.stop,
  };
}

async function versionOf(port) {
  const client = await createConnection({ host: "127.0.0.1", port, ...login });
  const [[{ version }]] = await client.query("select version() as version");
  await client.end();
  return `MariaDB ${version.split("-")[0]}`;
}
