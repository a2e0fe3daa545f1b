/** DuckDB with its own PostgreSQL extension, ATTACHed to the gateway: catalogs, binary COPY, REPEATABLE READ. */
import { command, expectCode, expectText } from "../command.mjs";
import { python } from "./pythonPostgresTool.mjs";

/** Runs a body with a connection `c` to which the gateway is attached as `g`. */
async function run(gateway, body) {
  const head = `import duckdb, os
import duckdb_extension_postgres_scanner as home
folder = os.path.join(os.path.dirname(home.__file__), "extensions", "v" + duckdb.__version__)
c = duckdb.connect(config={"allow_unsigned_extensions": "true"})
c.execute("LOAD '" + os.path.join(folder, "postgres_scanner.duckdb_extension") + "'")
c.execute("ATTACH 'host=127.0.0.1 port=${gateway.ports.postgres} user=alice dbname=memory' AS g (TYPE postgres)")
`;
  return expectCode(await command(python, ["-c", head + body], { seconds: 60 })).stdout;
}

export const duckDbAttachCases = {
  tool: "pythonPostgres",
  cases: {
    "DuckDB's ATTACH: lists tables and reads them by binary COPY": async (gateway) => {
      const body = `print(sorted(r[2] for r in c.execute("show all tables").fetchall() if r[0] == "g" and r[1] == "main")[:2])
print(c.execute("select count(*), count(distinct customer_id) > 1 from g.main.orders").fetchall())
print(c.execute("select country, count(*) > 0 from g.main.customers group by 1 order by 1 limit 1").fetchall())
print(c.execute("select * from postgres_query('g', 'select 41 + 1 as n, 1.5::decimal(4,2) as d')").fetchall())
`;
      expectText(
        await run(gateway, body),
        `['customers', 'events']
[(250000, True)]
[('AT', True)]
[(42, Decimal('1.50'))]`,
      );
    },
    "DuckDB's ATTACH: makes a table, and is told that rows can not be copied in": async (
      gateway,
    ) => {
      const body = `c.execute("create table g.main.attached (i integer, s varchar)")
print(c.execute("select count(*) from g.main.attached").fetchall())
try:
  c.execute("insert into g.main.attached values (1, 'a')")
except duckdb.Error as e:
  print("COPY FROM STDIN is not supported" in str(e))
c.execute("call postgres_execute('g', 'insert into attached values (1, ''a'')')")
print(c.execute("select * from g.main.attached").fetchall())
c.execute("drop table g.main.attached")
`;
      expectText(await run(gateway, body), "[(0,)]\nTrue\n[(1, 'a')]");
    },
  },
};
