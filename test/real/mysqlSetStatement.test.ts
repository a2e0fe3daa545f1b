/**
 * `SET STATEMENT … FOR` of a MariaDB, direct and through the gateway: the statement behind it runs under the variables,
 * which are its own alone. A MySQL has no such statement, and answers so itself.
 */
import mysql, { type Connection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

const host = "127.0.0.1";
const database = "demo";
const multipleStatements = true;
let gateway: TestGateway;
let direct: Connection;
let through: Connection;
let isMariadb: boolean;
beforeAll(async () => {
  gateway = await openBefore(4);
  direct = await mysql.createConnection({
    host,
    port,
    user,
    password,
    database,
    multipleStatements,
  });
  const entered = { host, port: portOf(gateway, "mysqlWire"), user: "ann", database };
  through = await mysql.createConnection({ ...entered, multipleStatements });
  isMariadb = JSON.stringify((await direct.query("select version()"))[0]).includes("MariaDB");
  for (const table of tables) {
    await direct.query(`drop table if exists ${table}`);
    await direct.query(`create table ${table} (a int primary key, b varchar(20))`);
  }
});
afterAll(async () => {
  for (const table of tables) await direct.query(`drop table ${table}`);
  for (const client of [direct, through]) await client.end();
  await gateway[Symbol.asyncDispose]();
});

/** Of each way its own, in the place of `under_t`. */
const tables = ["under_direct", "under_through"] as const;

const alike = [
  "SET STATEMENT max_statement_time=1 FOR select 1",
  "set statement max_statement_time = 2, sql_select_limit = 1 for select 1 union select 2",
  "set statement max_statement_time=2 for select @@max_statement_time",
  "select @@max_statement_time",
  "set statement `max_statement_time`=default for select 'x' as `a b`",
  "set statement max_statement_time=0.2 for select sleep(3)",
  "set statement max_statement_time=0.2 for select count(*) from seq_1_to_1000000000",
  "set statement sql_mode='' for insert into under_t values (1, 'one'), (2, null)",
  "set statement max_statement_time=5 for update under_t set b = 'two' where a = 2",
  "select * from under_t order by a",
  "begin",
  "set statement lock_wait_timeout=1 for delete from under_t",
  "rollback",
  "set statement sort_buffer_size=100000 for select * from under_t order by b desc",
  "set statement max_statement_time=1 for select database()",
  "set statement group_concat_max_len=4 for select group_concat(b) from under_t",
  "select 1; set statement sql_select_limit=1 for select * from under_t order by a; select 2",
  "set statement nosuch = 1 for select 1",
  "set statement autocommit = 0 for select 1",
  "set statement tx_isolation = 'SERIALIZABLE' for select 1",
  "set statement character_set_client = latin1 for select 1",
  "set statement max_statement_time = 'x' for select 1",
  "set statement session max_statement_time = 1 for select 1",
  "set statement max_statement_time = 1 for selec 1",
  "set statement max_statement_time = 1 for select nosuch from under_t",
  "set statement max_statement_time = 1 for call nosuch()",
  "set statement max_statement_time = 1 for show columns from under_t",
  "set statement max_statement_time = 1 for truncate table under_t",
  "select count(*) from under_t",
];

describe("SET STATEMENT", () => {
  it.each(alike)("answers as the server does: %s", async (sql) => {
    const wanted = await answered(direct, sql);
    expect(await answered(through, sql)).toEqual(wanted);
    const isUnknown = !isMariadb && /^set statement/i.test(sql);
    expect(isUnknown ? wanted : 1064).toBe(1064);
  });

  it.each([
    ["set statement sql_select_limit=1 for select ? union select 2", [5]],
    ["set statement max_statement_time=2 for select @@max_statement_time, ?", ["x"]],
    ["set statement max_statement_time=2 for insert into under_t values (?, ?)", [9, "nine"]],
    ["set statement max_statement_time=2 for delete from under_t where a = ?", [9]],
    ["set statement nosuch=2 for select ?", [9]],
  ] as const)("is prepared as by the server: %s", async (sql, values) => {
    const wanted = await answered(direct, sql, values);
    expect(await answered(through, sql, values)).toEqual(wanted);
    expect(await answered(through, "select @@sql_select_limit > 1")).toEqual([[1]]);
  });

  it("does nothing that the session itself may not, and nothing in the session's place", async () => {
    for (const sql of [
      "set statement sql_mode = 'ANSI_QUOTES' for select 1",
      "set statement max_statement_time = 1 for set @a = 1",
      "set statement max_statement_time = 1 for set sql_mode = ''",
      "set statement max_statement_time = 1 for use demo",
      "set statement max_statement_time = 1 for begin",
      "set statement max_statement_time = 1 for commit",
      "set statement max_statement_time = 1 for prepare s from 'select 1'",
      "set statement max_statement_time = 1 for set statement max_statement_time = 1 for select 1",
    ])
      expect([sql, await answered(through, sql)]).toEqual([sql, isMariadb ? 1235 : 1064]);
  });

  it("keeps what the statement behind it leaves on a connection", async () => {
    if (!isMariadb) return;
    await through.query(
      "set statement max_statement_time=2 for create temporary table under_own (a int)",
    );
    expect(await answered(through, "select count(*) from under_own")).toEqual([[0]]);
    await through.query("drop temporary table under_own");
  });
});

/** Rows, the count of changes, or the number of the error. */
async function answered(
  client: Connection,
  sql: string,
  values?: readonly (string | number)[],
): Promise<unknown> {
  const table = tables[client === direct ? 0 : 1];
  const asked = { sql: sql.replaceAll("under_t", table), rowsAsArray: true };
  const running = values === undefined ? client.query(asked) : client.execute(asked, [...values]);
  return await running.then(
    ([rows]) => ("affectedRows" in rows ? rows.affectedRows : rows),
    (error: { readonly errno?: number }) => error.errno,
  );
}
