/** MySQL's own command-line client, where there is one: Debian packages MariaDB's under the same name. */
import { command, expectCode, expectMatch, expectText } from "../command.mjs";

const connection = (gateway) => [
  "--no-defaults",
  "-h",
  "127.0.0.1",
  "-P",
  gateway.ports.mysql,
  "-u",
  "alice",
  "--ssl-mode=DISABLED",
];
const mysql = (gateway, args, options) =>
  command("mysql", [...connection(gateway), ...args], options);

/** True, or why it can not run. */
export async function findMysqlCli() {
  const { code, stdout } = await command("mysql", ["--version"]);
  if (code !== 0) return "there is no mysql";
  return /mariadb/i.test(stdout) ? "the program named mysql is MariaDB's" : true;
}

export const mysqlCliCases = {
  tool: "mysqlCli",
  cases: {
    "several statements and a NULL, plain and compressed": async (gateway) => {
      for (const more of [[], ["--compression-algorithms=zlib"]]) {
        const args = [...more, "-N", "-B", "-e", "select 1; select null, 'x'"];
        expectText(expectCode(await mysql(gateway, args)).stdout, "1\nNULL\tx");
      }
    },
    "an error has its number and SQLSTATE": async (gateway) => {
      const result = await mysql(gateway, ["-e", "select * from no_such_table"]);
      expectMatch(expectCode(result, 1).stderr, /ERROR 1146 \(42S02\)/);
    },
    "a database that does not exist is refused": async (gateway) => {
      const result = await mysql(gateway, ["no_such_database", "-e", "select 1"]);
      expectMatch(expectCode(result, 1).stderr, /ERROR 1049 \(42000\)/);
    },
    "what it asks first is answered": async (gateway) => {
      const asked = "select @@version_comment limit 1; show databases; show tables";
      expectCode(await mysql(gateway, ["main", "-e", asked]));
      expectMatch((await mysql(gateway, ["-e", "select $$"])).stderr, /ERROR 1064 \(42000\)/);
      expectMatch(expectCode(await mysql(gateway, ["-e", "status"])).stdout, /Current user:/);
    },
  },
};
