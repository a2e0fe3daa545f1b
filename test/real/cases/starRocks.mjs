/** The StarRocks engine on MariaDB, which stands in its place. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installMariadbLdap, startMariadbLdap } from "../mariadbLdap.mjs";
import { installMariadb, startMariadb } from "../mariadbServer.mjs";
import { installMysql, mysqlClient, startMysql } from "../mysqlServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const starRocksTool = () => installMariadb();
export const starRocksMysqlTool = () => installMysql();
export const starRocksLdapTool = () => installMariadbLdap();

export const starRocksCases = {
  tool: "starRocks",
  behind: "MariaDB",
  cases: {
    "the contract, types, TLS, cancels and clients on MariaDB": async () => {
      const server = await startMariadb({
        statements: "CREATE USER ann; GRANT ALL ON demo.* TO ann;",
      });
      try {
        const both = ["mysqlFamily", "mysqlGenerated", "engineCatalog"];
        await tested(["starRocks", ...both], server);
        const more = [
          "mysqlTransactions",
          "mysqlPromises",
          "mysqlCommands",
          "mysqlCharsets",
          "mysqlLarge",
          "mysqlAttributes",
          "mysqlLongTexts",
          "mysqlSetStatement",
        ];
        const native = [...more, "mariadbExtended"];
        await tested([...both, ...native], server, "mysql");
      } finally {
        await server.stop();
      }
      const statements = "CREATE USER few IDENTIFIED BY 'few-secret' WITH MAX_USER_CONNECTIONS 3;";
      const full = await startMariadb({ more: ["--max-connections=10"], statements });
      try {
        await tested(["mysqlFull"], full, "mysql");
      } finally {
        await full.stop();
      }
    },
  },
};

export const starRocksMysqlCases = {
  tool: "starRocksMysql",
  behind: "MySQL",
  cases: {
    "the same answers direct and through, from MySQL": async () => {
      const server = await startMysql({ more: ["--local-infile=ON"] });
      try {
        const both = ["mysqlFamily", "mysqlGenerated", "engineCatalog"];
        await tested(both, { ...server, user: "alice" });
        const { program, args } = await mysqlClient();
        await tested(
          [
            ...both,
            "mysqlTransactions",
            "mysqlCharsets",
            "mysqlLarge",
            "mysqlAttributes",
            "mysqlLongTexts",
            "mysqlSetStatement",
          ],
          { ...server, user: "alice", client: [program, ...args] },
          "mysql",
        );
      } finally {
        await server.stop();
      }
    },
  },
};

export const starRocksLdapCases = {
  tool: "starRocksLdap",
  behind: "MariaDB",
  cases: {
    "callers with their own passwords, which a directory knows": async () => {
      const server = await startMariadbLdap();
      try {
        await tested(["starRocksPassthrough"], server);
        // With a bind without a password the directory would have said yes.
        const anonymous = /BIND dn="" method=128|BIND anonymous/.test(server.log());
        if (anonymous) throw new Error("a bind without a password was tried");
      } finally {
        await server.stop();
      }
    },
  },
};

const seconds = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_800 : 600;

/**
 * One file after the other in one process, which reads the gateway's sources once. `engine`: by which of those that
 * speak to a server of the family the gateway does.
 */
async function tested(
  names,
  { port, caFile = "", ldapPort = "", user = "gateway", client = [] },
  engine = "starRocks",
) {
  const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
  const files = names.map((name) => `test/real/${name}.test.ts`);
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, ...files];
  const auth = { type: "basic", username: user, password: `${user}-secret` };
  const place = `127.0.0.1:${port}`;
  const at = engine === "mysql" ? { hosts: [place] } : { endpoint: `mysql://${place}` };
  const cluster = { engine, ...at, auth, database: "demo" };
  const env = {
    GATEWAY_TEST_CATALOG: JSON.stringify({ cluster, schema: "demo" }),
    GATEWAY_TEST_MARIADB: `${port}`,
    GATEWAY_TEST_MARIADB_CA: caFile,
    GATEWAY_TEST_MYSQL_FAMILY: `${port}`,
    GATEWAY_TEST_MYSQL_FULL: `${port}`,
    GATEWAY_TEST_MYSQL_CLIENT: JSON.stringify(client),
    GATEWAY_TEST_MYSQL_USER: user,
    GATEWAY_TEST_MYSQL_ENGINE: engine,
    GATEWAY_TEST_SLAPD: ldapPort,
    NO_COLOR: "1",
  };
  expectCode(await command(process.execPath, vitest, { env, seconds }));
}
