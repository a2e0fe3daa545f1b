/** PyMySQL from PyPI. */
import { command, expectCode, expectText } from "../command.mjs";
import { joinSql, sameJoin } from "../gateway.mjs";
import { python } from "../install.mjs";

const run = (gateway, body) => {
  const head = `import pymysql\nc = pymysql.connect(host="127.0.0.1", port=${gateway.ports.mysql}, user="alice")\ncur = c.cursor()\n`;
  return command(python, ["-c", head + body]);
};

export const pymysqlCases = {
  tool: "pymysql",
  cases: {
    "a join over the sample": async (gateway) => {
      const body = `cur.execute(${JSON.stringify(joinSql)})\nfor row in cur.fetchall(): print(",".join(str(v) for v in row))\n`;
      sameJoin(expectCode(await run(gateway, body)).stdout);
    },
    "types arrive as Python's own, exactly": async (gateway) => {
      const sql =
        "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true";
      const result = expectCode(
        await run(gateway, `cur.execute(${JSON.stringify(sql)})\nprint(cur.fetchone())\n`),
      );
      expectText(
        result.stdout,
        "(Decimal('12345678901234567890.12'), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), 9223372036854775807, None, 'ä', 1)",
      );
    },
    "an error is an exception with its number": async (gateway) => {
      const body = `try:\n  cur.execute("selec 1")\nexcept pymysql.err.MySQLError as e:\n  print(e.args[0])\ncur.execute("select 1")\nprint(cur.fetchone())\n`;
      expectText(expectCode(await run(gateway, body)).stdout, "1064\n(1,)");
    },
  },
};
