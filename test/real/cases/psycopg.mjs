/** psycopg 3 from PyPI: binary results, pipelines, server-side cursors, COPY. */
import { command, expectCode, expectText } from "../command.mjs";
import { python } from "./pythonPostgresTool.mjs";

const run = async (gateway, body) => {
  const head = `import psycopg\nc = psycopg.connect("host=127.0.0.1 port=${gateway.ports.postgres} user=alice dbname=postgres")\n`;
  return expectCode(await command(python, ["-c", head + body])).stdout;
};

export const psycopgCases = {
  tool: "pythonPostgres",
  cases: {
    "psycopg 3: types arrive as Python's own, exactly, in text and in binary": async (gateway) => {
      const sql =
        "select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', true, [1, 2]";
      const body = `for binary in (False, True):\n  print(c.cursor(binary=binary).execute(${JSON.stringify(sql)}).fetchone())\n`;
      const row =
        "(Decimal('12345678901234567890.12'), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), 9223372036854775807, None, 'ä', True, [1, 2])";
      expectText(await run(gateway, body), `${row}\n${row}`);
    },
    "psycopg 3: server-side cursors with another statement between two fetches": async (
      gateway,
    ) => {
      const body = `with c.cursor(name="big") as cur:
  cur.execute("select i::int from range(%s) t(i) order by i", (5000,))
  seen = [row[0] for row in cur.fetchmany(1200)]
  print(c.execute("select count(*)::int from customers where customer_id = 1").fetchone()[0])
  cur.itersize = 700
  seen += [row[0] for row in cur]
print(seen == list(range(5000)))
`;
      expectText(await run(gateway, body), "1\nTrue");
    },
    "psycopg 3: COPY out as text and binary": async (gateway) => {
      const body = `cur = c.cursor()
with cur.copy("copy (select 1::int, 'a\\tb', null) to stdout") as copy:
  print(list(copy.rows()))
with cur.copy("copy (select 1::int, 'x') to stdout (format binary)") as copy:
  copy.set_types(["int4", "text"])
  print(list(copy.rows()))
`;
      expectText(await run(gateway, body), "[('1', 'a\\tb', None)]\n[(1, 'x')]");
    },
    "psycopg 3: a pipeline is one transaction up to its Sync": async (gateway) => {
      const body = `c.autocommit = True
c.execute("create or replace table piped (id int primary key)")
try:
  with c.pipeline():
    c.execute("insert into piped values (1)")
    c.execute("insert into piped values (1)")
except psycopg.Error as e:
  print(e.sqlstate)
print(c.execute("select count(*)::int from piped").fetchone()[0])
c.execute("drop table piped")
`;
      expectText(await run(gateway, body), "23505\n0");
    },
  },
};
