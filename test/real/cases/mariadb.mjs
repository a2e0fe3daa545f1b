/** The MariaDB command-line client as Debian packages it. */
import { spawn } from "node:child_process";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { endlessSql, joinSql, sameJoin, untilRunning } from "../gateway.mjs";

const connection = (gateway) => [
  "--no-defaults",
  "-h",
  "127.0.0.1",
  "-P",
  gateway.ports.mysql,
  "-u",
  "alice",
];
const mariadb = (gateway, args, options) =>
  command("mariadb", [...connection(gateway), ...args], options);

export const mariadbCases = {
  tool: "mariadb",
  cases: {
    "a join over the sample": async (gateway) => {
      const result = expectCode(await mariadb(gateway, ["-N", "-B", "-e", joinSql]));
      sameJoin(result.stdout.replaceAll("\t", ","));
    },
    "several statements and a NULL": async (gateway) => {
      const result = expectCode(
        await mariadb(gateway, ["-N", "-B", "-e", "select 1; select null, 'x'"]),
      );
      expectText(result.stdout, "1\nNULL\tx");
    },
    "an error has its number and SQLSTATE": async (gateway) => {
      const result = await mariadb(gateway, ["-e", "select * from no_such_table"]);
      expectCode(result, 1);
      expectMatch(result.stderr, /ERROR 1146 \(42S02\)/);
    },
    "show tables lists the sample": async (gateway) => {
      const result = expectCode(await mariadb(gateway, ["-N", "-B", "-e", "show tables"]));
      for (const table of ["customers", "orders", "line_items", "events"]) {
        expectMatch(result.stdout, new RegExp(`^${table}$`, "m"));
      }
    },
    "status answers": async (gateway) => {
      expectMatch(expectCode(await mariadb(gateway, ["-e", "status"])).stdout, /Current user:/);
    },
    "killing the client ends its query in the engine within two seconds": async (gateway) => {
      const child = spawn("mariadb", [...connection(gateway), "-e", endlessSql], {
        stdio: "ignore",
      });
      await untilRunning(gateway, 1, 10);
      child.kill("SIGKILL");
      await untilRunning(gateway, 0, 2);
    },
  },
};
