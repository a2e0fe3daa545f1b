/** The StarRocks engine on MariaDB, which stands in its place. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installMariadbLdap, startMariadbLdap } from "../mariadbLdap.mjs";
import { installMariadb, startMariadb } from "../mariadbServer.mjs";
import { installMysql, startMysql } from "../mysqlServer.mjs";

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
        await tested("starRocks", server);
        await tested("mysqlFamily", server);
        await tested("mysqlGenerated", server);
        await tested("mysqlFamily", server, "mysql");
        await tested("mysqlGenerated", server, "mysql");
        await tested("mysqlTransactions", server, "mysql");
        await tested("mysqlPromises", server, "mysql");
        await tested("mysqlCommands", server, "mysql");
      } finally {
        await server.stop();
      }
      const statements = "CREATE USER few IDENTIFIED BY 'few-secret' WITH MAX_USER_CONNECTIONS 3;";
      const full = await startMariadb({ more: ["--max-connections=10"], statements });
      try {
        await tested("mysqlFull", full, "mysql");
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
        await tested("mysqlFamily", { ...server, user: "alice" });
        await tested("mysqlGenerated", { ...server, user: "alice" });
        await tested("mysqlFamily", { ...server, user: "alice" }, "mysql");
        await tested("mysqlGenerated", { ...server, user: "alice" }, "mysql");
        await tested("mysqlTransactions", { ...server, user: "alice" }, "mysql");
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
        await tested("starRocksPassthrough", server);
        // With a bind without a password the directory would have said yes.
        const anonymous = /BIND dn="" method=128|BIND anonymous/.test(server.log());
        if (anonymous) throw new Error("a bind without a password was tried");
      } finally {
        await server.stop();
      }
    },
  },
};

const seconds = process.env["GATEWAY_NIGHTLY"] === "1" ? 3600 : 300;

/** `engine`: by which of those that speak to a server of the family the gateway does. */
async function tested(
  name,
  { port, caFile = "", ldapPort = "", user = "gateway" },
  engine = "starRocks",
) {
  const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
  const vitest = [`${root}node_modules/vitest/vitest.mjs`, ...args, `test/real/${name}.test.ts`];
  const env = {
    GATEWAY_TEST_MARIADB: `${port}`,
    GATEWAY_TEST_MARIADB_CA: caFile,
    GATEWAY_TEST_MYSQL_FAMILY: `${port}`,
    GATEWAY_TEST_MYSQL_FULL: `${port}`,
    GATEWAY_TEST_MYSQL_USER: user,
    GATEWAY_TEST_MYSQL_ENGINE: engine,
    GATEWAY_TEST_SLAPD: ldapPort,
    NO_COLOR: "1",
  };
  expectCode(await command(process.execPath, vitest, { env, seconds }));
}
