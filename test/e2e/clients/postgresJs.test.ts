/** The client `postgres` (postgres.js) over a whole gateway. */
import { text } from "node:stream/consumers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peopleGateway, type PostgresGateway } from "./postgresGateway.ts";

let people: PostgresGateway;
let sql: postgres.Sql;

beforeAll(async () => {
  people = await peopleGateway();
  const { host, port, user } = people.address;
  sql = postgres({ host, port, user, max: 2, onnotice: () => undefined });
});

afterAll(async () => {
  await sql.end();
  await people[Symbol.asyncDispose]();
});

describe("postgres.js", () => {
  it("binds parameters of its own types and reads them back", async () => {
    const born = new Date("2000-01-03T00:00:00Z");
    const rows = await sql`select id, name, born from people where id = ${2} and born = ${born}`;
    expect([...rows]).toEqual([{ id: 2, name: "name 2", born }]);
    const ids = await sql`select id from people where id in ${sql([1, 3])} order by id`;
    expect([...ids]).toEqual([{ id: 1 }, { id: 3 }]);
  });

  it("takes an array as one parameter", async () => {
    const rows = await sql`select id from people where id = any(${[4, 5]}::int[]) order by id`;
    expect([...rows]).toEqual([{ id: 4 }, { id: 5 }]);
  });

  it("reads by a cursor", async () => {
    const seen: number[] = [];
    await sql`select id from people order by id limit 25`.cursor(10, (rows) => {
      for (const { id } of rows) seen.push(Number(id));
    });
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  it("commits and rolls back its transactions", async () => {
    const failed = sql.begin(async (own) => {
      await own`insert into people (id, name) values (3001, 'gone')`;
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await sql.begin(async (own) => {
      await own`insert into people (id, name) values (3002, 'stays')`;
    });
    const rows = await sql`select id from people where id > 3000`;
    expect([...rows]).toEqual([{ id: 3002 }]);
    await sql`delete from people where id > 3000`;
  });

  it("gives each statement of one message its rows", async () => {
    const answers: unknown = await sql`select 1 as a; select 2 as b`.simple();
    expect(JSON.parse(JSON.stringify(answers))).toEqual([[{ a: 1 }], [{ b: 2 }]]);
  });

  it("copies a query out", async () => {
    const stream =
      await sql`copy (select id, name from people order by id limit 2) to stdout (format csv, header)`.readable();
    expect(await text(stream)).toBe("id,name\n1,name 1\n2,name 2\n");
  });

  it("shows an error with its SQLSTATE and position", async () => {
    const wrong = sql`select missing from people`;
    await expect(wrong).rejects.toMatchObject({ code: "42703", position: "8" });
  });
});
