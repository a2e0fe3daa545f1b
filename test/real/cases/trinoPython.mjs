/** Trino's Python client and its SQLAlchemy dialect from PyPI. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { command, expectCode, expectText } from "../command.mjs";
import { joinSql, sameJoin } from "../gateway.mjs";

const version = "0.340.0";
const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");
const folder = join(cache, `trino-python-${version}`);
const python = join(folder, "bin", "python");
/** Written when everything is installed, so that half an installation is done again. */
const ready = join(folder, "bin", "pip-done");

/** True when the client is there, or the reason why not. */
export async function trinoPythonTool() {
  if (existsSync(ready)) return true;
  const made = await command("python3", ["-m", "venv", folder], { seconds: 120 });
  if (made.code !== 0) return "there is no python3 with venv";
  const names = [`trino[sqlalchemy]==${version}`, "zstandard", "lz4"];
  const args = ["-m", "pip", "install", "-q", ...names];
  const installed = await command(python, args, { seconds: 240 });
  if (installed.code !== 0) return `pip failed: ${installed.stderr.trim().split("\n").at(-1)}`;
  return (await command("touch", [ready])).code === 0;
}

async function run(gateway, body, options = "") {
  const head = `from trino.dbapi import connect
c = connect(host="127.0.0.1", port=${gateway.ports.trino}, user="alice", catalog="memory", schema="main"${options})
cur = c.cursor()
`;
  return expectCode(await command(python, ["-c", head + body])).stdout;
}

export const trinoPythonCases = {
  tool: "trinoPython",
  cases: {
    "a join over the sample": async (gateway) => {
      const body = `cur.execute(${JSON.stringify(joinSql)})\nfor row in cur.fetchall(): print(",".join(str(v) for v in row))\n`;
      sameJoin(await run(gateway, body));
    },
    "types arrive as Python's own, exactly": async (gateway) => {
      const sql =
        "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true, 'nan'::double, [1,2], interval 3 hour";
      expectText(
        await run(gateway, `cur.execute(${JSON.stringify(sql)})\nprint(cur.fetchone())\n`),
        "[Decimal('12345678901234567890.12'), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), 9223372036854775807, None, 'ä', True, nan, [1, 2], '0 03:00:00']",
      );
    },
    "an instant is shown in the session's zone": async (gateway) => {
      const body =
        "cur.execute(\"select timestamptz '2024-02-29 12:00:00+00'\")\nprint(cur.fetchone()[0].isoformat())\n";
      expectText(await run(gateway, body, ', timezone="Asia/Tokyo"'), "2024-02-29T21:00:00+09:00");
    },
    "many rows arrive whole in every encoding": async (gateway) => {
      const body =
        "cur.execute(\"select i, 'x' || i from range(60000) r(i)\")\nrows = cur.fetchall()\nprint(len(rows), sum(r[0] for r in rows), all(r[1] == f'x{r[0]}' for r in rows))\n";
      for (const options of ["", ', encoding="json"', ', encoding="json+zstd"', ", encoding=[]"]) {
        expectText(await run(gateway, body, options), "60000 1799970000 True");
      }
    },
    "parameters are typed values": async (gateway) => {
      const body =
        'cur.execute("select ? + 1, ?, ?", (41, "it\'s", None))\nprint(cur.fetchone())\ncur.execute("insert into customers select * from customers limit 0")\ncur.fetchall()\nprint(cur.update_type, cur.rowcount)\n';
      expectText(await run(gateway, body), '[42, "it\'s", None]\nINSERT 0');
    },
    "an error has its name": async (gateway) => {
      const body =
        'import trino\ntry:\n  cur.execute("selec 1")\n  cur.fetchall()\nexcept trino.exceptions.TrinoUserError as e:\n  print(e.error_name)\ncur.execute("select 1")\nprint(cur.fetchone())\n';
      expectText(await run(gateway, body), "SYNTAX_ERROR\n[1]");
    },
    "SQLAlchemy inspects the sample": async (gateway) => {
      const body = `from sqlalchemy import create_engine, inspect, text
e = create_engine("trino://alice@127.0.0.1:${gateway.ports.trino}/memory/main")
i = inspect(e)
print(i.get_schema_names(), "orders" in i.get_table_names(), i.has_table("nope"))
print([str(k["type"]) for k in i.get_columns("orders")][:3], i.get_table_comment("orders"))
with e.connect() as s: print(s.execute(text("select count(*) from orders where order_id < :x"), {"x": 10}).scalar())
`;
      expectText(
        await run(gateway, body),
        "['main'] True False\n['INTEGER', 'INTEGER', 'TIMESTAMP'] {'text': None}\n9",
      );
    },
  },
};
