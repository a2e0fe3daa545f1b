/**
 * What transactions may do, direct and through the gateway: said for the session or for the next one alone, it reaches
 * the connection that runs it and no other session. On a real server, over more connections than one.
 */
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

let gateway: TestGateway;
let direct: Connection;
let through: Connection;
let other: Connection;
beforeAll(async () => {
  gateway = await openBefore();
  direct = await mysql.createConnection({ host: "127.0.0.1", port, user, password, database });
  [through, other] = [await entered("ann"), await entered("bob")];
  await direct.query("drop table if exists told_t");
  await direct.query("create table told_t (id int auto_increment primary key, a int)");
});
afterAll(async () => {
  await direct.query("drop table told_t");
  for (const client of [direct, through, other]) await client.end();
  await gateway[Symbol.asyncDispose]();
});

const database = "demo";
const entered = (name: string) =>
  mysql.createConnection({
    host: "127.0.0.1",
    port: portOf(gateway, "mysqlWire"),
    user: name,
    database,
  });

const write = "insert into told_t (a) values (1)";
const read = "select count(*) > 0 as c from told_t";
const once = "set transaction read only";

const back = ["set session transaction read write, isolation level repeatable read", write];
const on = ["set autocommit = 1"];
/** By the name that the gateway finds the server's own name by. */
const levelSql = "select @@transaction_isolation as level";
const levelOf = (level: string) => [levelSql, [{ level }]];

/** Each list ends where it began. Variables are named as every server of the family names them. */
const lists: readonly (readonly string[])[] = [
  [once, "begin", write, "commit", write],
  [once, write, write, read, write],
  [once, "select 1", "set @a = 1", "select @@autocommit", "show warnings", write, read, write],
  [once, "selec 1", "select nothing", "insert into nothing values (1)", write, "commit", write],
  [once, "rollback", write],
  [once, "create table if not exists told_u (a int)", write],
  [once, "start transaction read write", write, "commit", write],
  [once, "begin", write, "commit and chain", write, "rollback and chain", write, "commit", write],
  [once, "begin", once, "set transaction isolation level serializable", "rollback", write],
  [once, "set session transaction read write", write],
  [once, "set transaction isolation level serializable", "begin", write, "rollback", write],
  ["set transaction isolation level serializable, read only", "begin", write, "commit", write],
  ["set transaction read only, read write", "set transaction deferrable", write],
  ["set global transaction read only", write],
  ["start transaction read only", write, read, "commit and chain", write, "commit", write],
  ["set session transaction read only", write, "begin", write, "commit", write, ...back],
  ["set session transaction read only", "start transaction read write", write, "commit", ...back],
  ["set session transaction read only, isolation level serializable", write, read, ...back],
  ["set session transaction read only", "set transaction read write", write, write, ...back],
  ["begin", "set session transaction read only", "commit", write, ...back],
  ["set autocommit = 0", once, "select 1", read, write, "rollback", write, "rollback", ...on],
  ["set autocommit = 0", once, "commit", write, "rollback", ...on],
  [
    "set session transaction read only",
    "begin",
    write,
    "set session transaction read write",
    "rollback",
  ],
  [once, "lock tables told_t write", write, "unlock tables"],
];

async function told(client: Connection, statements: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const sql of statements) {
    const answer = await client.query(sql).then(
      ([result]) => (Array.isArray(result) ? result : "done"),
      (error: unknown) => (error as { readonly errno?: number }).errno,
    );
    all.push([sql, answer]);
  }
  return all;
}

describe("what is said of transactions", () => {
  it.each(lists.map((list) => [list.join("; "), list] as const))("%s", async (_text, list) => {
    const wanted = await told(direct, list);
    expect(await told(through, list)).toEqual(wanted);
    // Whatever connection comes next, and to whomever: nothing was left on any.
    const both = [through, other].map((client) =>
      told(client, [write, "begin", write, "rollback"]),
    );
    const free = await told(direct, [write, "begin", write, "rollback"]);
    expect(await Promise.all(both)).toEqual([free, free]);
  });

  it("holds for what is prepared, executed and fetched", async () => {
    for (const client of [direct, through]) {
      await client.query(once);
      await expect(client.execute(write)).rejects.toMatchObject({ errno: 1792 });
      expect((await client.execute<RowDataPacket[]>(read))[0]).toEqual([{ c: 1 }]);
      await client.execute(write);
      await client.query("set session transaction read only");
      await expect(client.execute(write)).rejects.toMatchObject({ errno: 1792 });
      await client.query("set session transaction read write");
    }
  });

  it("is the session's, on whatever connection, while others have theirs", async () => {
    await through.query("set session transaction isolation level read committed, read only");
    for (let turn = 0; turn < 20; turn += 1) {
      const asked = [through, other].map((client) => told(client, [write, levelSql]));
      const [ours, others] = await Promise.all(asked);
      expect(ours).toEqual([[write, 1792], levelOf("READ-COMMITTED")]);
      expect(others).toEqual([[write, "done"], levelOf("REPEATABLE-READ")]);
    }
    await through.changeUser({ user: "ann", database });
    expect(await told(through, [write, levelSql])).toEqual([
      [write, "done"],
      levelOf("REPEATABLE-READ"),
    ]);
  });

  it("is the next one's alone also by its variable, and shown as a server shows it", async () => {
    const [[{ name }]] = (await direct.query<RowDataPacket[]>(
      "select if(version() like '%MariaDB%', 'tx', 'transaction') as name",
    )) as unknown as [[{ name: string }]];
    const level = `select @@${name}_isolation as c`;
    const pairs = [
      [`set @@${name}_read_only = 1`, `select @@${name}_read_only as c`, "begin", write, "commit"],
      [write, `set ${name}_read_only = 1`, `select @@${name}_read_only as c`, write, read, write],
      [`set session ${name}_read_only = default`, `set ${name}_isolation = 3`, level, write],
      [`set @@${name}_isolation = 'READ-COMMITTED'`, level, "begin", level, "commit"],
      [`set ${name}_isolation = 'no'`, `set @@${name}_isolation = 4`],
      [`set session ${name}_isolation = default`, level],
    ];
    for (const list of pairs) expect(await told(through, list)).toEqual(await told(direct, list));
  });
});
