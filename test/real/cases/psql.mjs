/** psql as Debian packages it. */
import { spawn } from "node:child_process";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { endlessSql, joinSql, sameJoin, untilRunning } from "../gateway.mjs";

const psql = (gateway, args, options) =>
  command(
    "psql",
    ["-X", `host=127.0.0.1 port=${gateway.ports.postgres} user=alice`, ...args],
    options,
  );

export const psqlCases = {
  tool: "psql",
  cases: {
    "a join over the sample": async (gateway) => {
      sameJoin(expectCode(await psql(gateway, ["-A", "-t", "-F", ",", "-c", joinSql])).stdout);
    },
    "several statements in one text give one result each": async (gateway) => {
      const result = expectCode(
        await psql(gateway, ["-A", "-t", "-c", "select 1; select 2, null; select 'x'"]),
      );
      expectText(result.stdout, "1\n2|\nx");
    },
    "an error has its SQLSTATE and a caret at its position": async (gateway) => {
      const sql = "select *\nfrom no_such_table";
      const result = await psql(gateway, ["-v", "VERBOSITY=verbose", "-c", sql]);
      expectCode(result, 1);
      expectMatch(result.stderr, /ERROR: {2}42P01: .*no_such_table/);
      expectMatch(result.stderr, /LINE 2: from no_such_table\n\s+\^/);
    },
    "a transaction commits and rolls back": async (gateway) => {
      const script = [
        "create table psql_tx(n int);",
        "begin; insert into psql_tx values (1); rollback;",
        "begin; insert into psql_tx values (2); commit;",
        "select * from psql_tx; drop table psql_tx;",
      ].join("\n");
      const result = expectCode(
        await psql(gateway, ["-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"], { input: script }),
      );
      expectText(result.stdout, "2");
    },
    "\\d and its family show the backend's tables, columns and keys": async (gateway) => {
      const made =
        "create table psql_keyed(id bigint primary key, name varchar not null unique); create view psql_view as select * from psql_keyed";
      const input = `${made};\n\\dt\n\\dv\n\\d psql_keyed\n\\l\n\\dn\n\\df\n\\du\ndrop view psql_view; drop table psql_keyed;\n\\dt psql_*\n`;
      const result = expectCode(await psql(gateway, ["-q", "-v", "ON_ERROR_STOP=1"], { input }));
      expectMatch(result.stdout, /main +\| orders +\| table \| alice/);
      expectMatch(result.stdout, /main +\| psql_view \| view/);
      expectMatch(result.stdout, /id +\| bigint \| +\| not null/);
      expectMatch(result.stdout, /"psql_keyed_pkey" PRIMARY KEY, btree \(id\)/);
      expectMatch(result.stdout, /"psql_keyed_name_key" UNIQUE CONSTRAINT, btree \(name\)/);
      expectMatch(result.stdout, /memory +\|/);
      expectMatch(result.stdout, /\(0 rows\)\s*$/);
    },
    "\\conninfo, \\timing and \\gset answer": async (gateway) => {
      const input = "\\conninfo\n\\timing on\nselect 42 as answer \\gset\n\\echo got :answer\n";
      const result = expectCode(await psql(gateway, [], { input }));
      expectMatch(result.stdout, /You are connected/);
      expectMatch(result.stdout, /Time: /);
      expectMatch(result.stdout, /got 42/);
    },
    "Ctrl-C ends a long query in the engine in under a second": async (gateway) => {
      const connection = `host=127.0.0.1 port=${gateway.ports.postgres} user=alice`;
      const child = spawn("psql", ["-X", connection, "-c", endlessSql], { stdio: "pipe" });
      let stderr = "";
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
      });
      const closed = new Promise((resolve) => {
        child.on("close", resolve);
      });
      await untilRunning(gateway, 1, 10);
      child.kill("SIGINT");
      await untilRunning(gateway, 0, 1);
      await closed;
      expectMatch(stderr, /cancel/i);
    },
    "killing psql ends its query in the engine within two seconds": async (gateway) => {
      const connection = `host=127.0.0.1 port=${gateway.ports.postgres} user=alice`;
      const child = spawn("psql", ["-X", connection, "-c", endlessSql], { stdio: "ignore" });
      await untilRunning(gateway, 1, 10);
      child.kill("SIGKILL");
      await untilRunning(gateway, 0, 2);
    },
  },
};
