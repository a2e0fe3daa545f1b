/** pg-cursor and pg-query-stream: portals with row limits over a whole gateway. */
import pg from "pg";
import Cursor from "pg-cursor";
import QueryStream from "pg-query-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peopleGateway, type PostgresGateway } from "./postgresGateway.ts";

interface Row {
  readonly id: number;
}

let people: PostgresGateway;
let client: pg.Client;

beforeAll(async () => {
  people = await peopleGateway();
  client = new pg.Client(people.address);
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await people[Symbol.asyncDispose]();
});

describe("pg-cursor", () => {
  it("reads piece by piece, and leaves the connection usable when it is closed early", async () => {
    const cursor = client.query(
      new Cursor<Row>("select id from people where id > $1 order by id", [10]),
    );
    const first = await cursor.read(3);
    const second = await cursor.read(2);
    await cursor.close();
    expect([...first, ...second].map(({ id }) => id)).toEqual([11, 12, 13, 14, 15]);
    await client.query("begin");
    const other = client.query(new Cursor<Row>("select id from people order by id desc"));
    expect((await other.read(2)).map(({ id }) => id)).toEqual([1000, 999]);
    await other.close();
    await client.query("update people set name = 'changed' where id = 11");
    await client.query("rollback");
    const { rows } = await client.query("select name from people where id = 11");
    expect(rows).toEqual([{ name: "name 11" }]);
  });
});

describe("SQL cursors", () => {
  it("are declared, fetched and closed over the real engine", async () => {
    await client.query("begin");
    await client.query("declare c cursor for select id from people order by id");
    const { rows } = await client.query("fetch 2 from c");
    await client.query("update people set name = 'changed' where id = 11");
    await client.query("move forward 5 in c");
    const { rows: next } = await client.query("fetch next from c");
    await client.query("close c");
    await client.query("rollback");
    expect([...rows, ...next]).toEqual([{ id: 1 }, { id: 2 }, { id: 8 }]);
  });

  it("keep a result of many megabytes aside while the transaction goes on", async () => {
    await client.query("begin");
    const sql = "select i::int as id, repeat('x', 1000) as pad from range(20000) t(i) order by i";
    await client.query(`declare c cursor for ${sql}`);
    const ids: number[] = [];
    for (;;) {
      const { rows } = await client.query<Row>("fetch 4000 from c");
      if (rows.length === 0) break;
      for (const { id } of rows) ids.push(id);
      const { rows: count } = await client.query("select count(*)::int as n from people");
      expect(count).toEqual([{ n: 1000 }]);
    }
    await client.query("commit");
    expect(ids.length).toBe(20_000);
    expect(ids.every((id, index) => id === index)).toBe(true);
  });
});

describe("pg-query-stream", () => {
  it("streams a result in batches, and leaves the connection usable when it is left early", async () => {
    const sql = "select i::int as id from range(5000) t(i) order by i";
    const whole = client.query(new QueryStream(sql, [], { batchSize: 700 }));
    let count = 0;
    for await (const row of whole) {
      expect((row as Row).id).toBe(count);
      count += 1;
    }
    expect(count).toBe(5000);
    const early = client.query(new QueryStream(sql, [], { batchSize: 10 }));
    for await (const row of early) if ((row as Row).id === 25) break;
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

describe("several statements in one message", () => {
  it("take back what they did when one of them fails, as one transaction", async () => {
    const failing = client.query(
      "insert into people values (2001, 'a', null); insert into people values (1, 'twice', null)",
    );
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    const { rows } = await client.query("select count(*)::int as n from people where id = 2001");
    expect(rows).toEqual([{ n: 0 }]);
  });
});
