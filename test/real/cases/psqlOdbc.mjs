/** psqlODBC as Debian packages it, under isql and under pyodbc: what Power BI, Tableau and Excel connect by. */
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { python } from "./pythonPostgresTool.mjs";

const source = (gateway, more = "") =>
  `Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=${gateway.ports.postgres};Database=memory;UID=alice;${more}`;

/** Runs a body with a connection `c` and a cursor `k`. Without autocommit the driver sets a savepoint before each statement (`Protocol=7.4-2`, its default). */
async function run(gateway, body, { more = "", autocommit = true } = {}) {
  const connect = `pyodbc.connect(${JSON.stringify(source(gateway, more))}, autocommit=${autocommit ? "True" : "False"})`;
  const head = `import datetime, decimal, pyodbc\nc = ${connect}\nk = c.cursor()\n`;
  return expectCode(await command(python, ["-c", head + body])).stdout;
}

/** Needs the driver, its manager and the Python: `reasons` are those of the last two. */
export async function findPsqlOdbc(pythonThere, isqlThere) {
  if (pythonThere !== true) return pythonThere;
  if (isqlThere !== true) return isqlThere;
  return (await hasPsqlOdbc()) || "the driver is not registered";
}

/** True when the manager knows the driver. */
export async function hasPsqlOdbc() {
  const { stdout } = await command("odbcinst", ["-q", "-d"]);
  return stdout.includes("[PostgreSQL Unicode]");
}

export const psqlOdbcCases = {
  tool: "psqlOdbc",
  cases: {
    "isql connects and reads": async (gateway) => {
      const args = ["-b", "-v", "-k", source(gateway)];
      const input = "select 41 + 1 as answer, cast(1.5 as decimal(10,2)) as half\n";
      const { stdout } = expectCode(await command("isql", args, { input }));
      expectMatch(stdout, /\| answer +\| half +\|/);
      expectMatch(stdout, /\| 42 +\| 1\.50 +\|/);
    },
    "the catalog calls that tools browse by": async (gateway) => {
      const body = `k.execute("create or replace table odbc_keyed (id integer primary key, name varchar not null, born date)")
print([r.table_name for r in k.tables(schema="main", table="o%", tableType="TABLE")])
print([(r.column_name, r.type_name, r.nullable) for r in k.columns(table="odbc_keyed")])
print([(r.column_name, r.key_seq) for r in k.primaryKeys("odbc_keyed")])
print([(r.index_name, r.column_name) for r in k.statistics("odbc_keyed") if r.index_name])
print(len(list(k.foreignKeys(table="odbc_keyed"))), len(list(k.getTypeInfo())) > 20, len(list(k.procedures())) > 0)
print(c.getinfo(pyodbc.SQL_DBMS_NAME), c.getinfo(pyodbc.SQL_DBMS_VER).split(".")[0])
k.execute("drop table odbc_keyed")
`;
      expectText(
        await run(gateway, body),
        `['odbc_keyed', 'orders']
[('id', 'int4', 0), ('name', 'text', 0), ('born', 'date', 1)]
[('id', 1)]
[('odbc_keyed_pkey', 'id')]
0 True True
PostgreSQL 16`,
      );
    },
    "types and parameters, prepared by the server and by the driver": async (gateway) => {
      const body = `print(k.execute("select ?::int + 1, ?, ?, ?::decimal(10,2), ?::date, ?::timestamp", 41, "it's ä", None, decimal.Decimal("1.50"), datetime.date(2024,2,29), datetime.datetime(2024,2,29,23,59,59)).fetchall())
print(k.execute("select cast(12345678901234567890.12 as decimal(22,2)), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456', 9223372036854775807, null, 'ä', 1.5::float8").fetchall())
`;
      const wanted = `[(42, "it's ä", None, Decimal('1.50'), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59, 59))]
[(Decimal('12345678901234567890.12'), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), 9223372036854775807, None, 'ä', 1.5)]`;
      for (const prepare of [0, 1]) {
        expectText(await run(gateway, body, { more: `UseServerSidePrepare=${prepare}` }), wanted);
      }
    },
    "many rows": async (gateway) => {
      const body = `print(sum(r[0] for r in k.execute("select i from range(10000) t(i)")))\n`;
      expectText(await run(gateway, body), "49995000");
    },
    "rows in pieces want a cursor WITH HOLD, which is refused": async (gateway) => {
      const body = `try:
  k.execute("select i from range(10) t(i)")
except pyodbc.Error as e:
  print(e.args[0])
`;
      expectText(await run(gateway, body, { more: "UseDeclareFetch=1" }), "0A000");
    },
    "a batch in a transaction is rolled back and committed": async (gateway) => {
      const body = `k.execute("create table odbc_rows (n int, t varchar)")
c.commit()
rows = [(1, "a"), (2, None), (3, "it's")]
k.executemany("insert into odbc_rows values (?, ?)", rows)
c.rollback()
print(k.execute("select count(*)::int from odbc_rows").fetchone()[0])
k.fast_executemany = True
k.executemany("insert into odbc_rows values (?, ?)", rows)
c.commit()
print([tuple(r) for r in k.execute("select * from odbc_rows order by n")] == rows)
k.execute("drop table odbc_rows")
c.commit()
`;
      // 0: no rollback by the driver; 1: of the transaction; 2: to a savepoint.
      for (const more of ["Protocol=7.4-0", "Protocol=7.4-1", "Protocol=7.4-2"]) {
        expectText(await run(gateway, body, { more, autocommit: false }), "0\nTrue");
      }
    },
    "a statement that fails does not end the driver's transaction": async (gateway) => {
      const body = `k.execute("create table odbc_points (n int primary key)")
c.commit()
def tried(sql):
  try:
    k.execute(sql)
  except pyodbc.Error as e:
    print(e.args[0], end=" ")
tried("select * from no_such_table")
tried("select 1/0 + 'x'::int")
k.execute("insert into odbc_points values (1)")
tried("insert into no_such_table values (1)")
k.execute("insert into odbc_points values (2)")
c.commit()
print(k.execute("select count(*)::int from odbc_points").fetchone()[0])
k.execute("insert into odbc_points values (3)")
tried("insert into odbc_points values (1)")
tried("select 1")
c.rollback()
print(k.execute("select count(*)::int from odbc_points").fetchone()[0])
k.execute("drop table odbc_points")
c.commit()
`;
      const options = { more: "Protocol=7.4-2", autocommit: false };
      // What was done before the statement that broke the transaction is lost, and it says so until its end.
      expectText(await run(gateway, body, options), "42P01 22P02 42P01 2\n23505 25P02 2");
    },
    "an error has its SQLSTATE": async (gateway) => {
      const body = `for sql in ["select * from no_such_table", "selec 1"]:
  try:
    k.execute(sql)
  except pyodbc.Error as e:
    print(e.args[0])
print(k.execute("select 1").fetchone()[0])
`;
      expectText(await run(gateway, body), "42P01\n42601\n1");
    },
  },
};
