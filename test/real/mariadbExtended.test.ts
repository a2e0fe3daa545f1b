/**
 * What a MariaDB says of types to clients that ask for it, direct and through the gateway: its own kinds by name, and
 * which text is JSON. By mysql2 and by MariaDB's own package, as texts and prepared.
 */
import * as mariadb from "mariadb";
import mysql, { type Connection, type FieldPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

const database = "demo";
const host = "127.0.0.1";
let gateway: TestGateway;
let direct: Connection;
let through: Connection;
beforeAll(async () => {
  gateway = await openBefore();
  direct = await mysql.createConnection({ host, port, user, password, database });
  through = await mysql.createConnection({ ...entered(), database });
  await direct.query("drop table if exists told_e");
  await direct.query("create table told_e (u uuid, i inet6, j json, t text, n int, p point)");
  await direct.query(
    `insert into told_e values (uuid(), '2001:db8::1', '{"a":[1,2]}', '{}', 1, point(1, 2)), (null, null, null, null, null, null)`,
  );
  await direct.query(
    "create or replace procedure told_p() begin select j from told_e; select u, i from told_e; end",
  );
});
afterAll(async () => {
  await direct.query("drop table told_e");
  await direct.query("drop procedure told_p");
  for (const client of [direct, through]) await client.end();
  await gateway[Symbol.asyncDispose]();
});

const entered = () => ({ host, port: portOf(gateway, "mysqlWire"), user: "ann" });
const json = [undefined, "json"];
const all = "select u, i, j, t, n, p, json_array(1) as made from told_e";

describe("what a MariaDB says of its types", () => {
  it("is there to be told", async () => {
    expect(toldOf((await direct.query(all))[1])).toMatchObject([
      ["uuid"],
      ["inet6"],
      json,
      [],
      [],
      ["point"],
      json,
    ]);
  });

  it.each([all, `${all} where 1 = 0`, "show columns from told_e", "describe told_e"])(
    "is told mysql2 through the gateway, with the values read by it: %s",
    async (sql) => {
      const [wanted, wantedFields] = await direct.query(sql);
      const [rows, fields] = await through.query(sql);
      expect(rows).toEqual(wanted);
      expect(toldOf(fields)).toEqual(toldOf(wantedFields));
      const [executed, executedFields] = await through.execute(sql);
      expect(executed).toEqual((await direct.execute(sql))[0]);
      expect(toldOf(executedFields)).toEqual(toldOf(wantedFields));
    },
  );

  it("is told of each of several results, in a transaction, and of what the gateway answers itself", async () => {
    const several = await through.query("call told_p()");
    expect(several[0]).toHaveLength(3);
    const [, fields] = several as unknown as [unknown, FieldPacket[][]];
    expect(fields.slice(0, 2).map(toldOf)).toEqual([[json], [["uuid"], ["inet6"]]]);
    await through.beginTransaction();
    expect((await through.query("select j from told_e"))[0]).toEqual([
      { j: { a: [1, 2] } },
      { j: null },
    ]);
    await through.commit();
    expect(
      (await through.query("select connection_id() > 0 as c, @@wait_timeout as w"))[0],
    ).toEqual([expect.objectContaining({ c: 1 })]);
    expect((await through.query("show warnings"))[0]).toEqual([]);
  });

  it("is told MariaDB's own package", async () => {
    const ways = [{ host, port, user, password }, entered()];
    const answers = [];
    for (const way of ways) {
      const client = await mariadb.createConnection({ ...way, database });
      answers.push([await client.query(all), await client.execute(all)]);
      await client.end();
    }
    expect(JSON.stringify(answers[1])).toBe(JSON.stringify(answers[0]));
    expect(answers[1]?.[0]).toMatchObject([{ j: { a: [1, 2] }, t: "{}" }, { j: null }]);
  });
});

/** Name and format of each column, where they are told. */
function toldOf(fields: readonly FieldPacket[]): readonly unknown[] {
  return fields.map((field) => {
    const { extendedTypeName: type, extendedFormat: format } = field as FieldPacket & {
      readonly extendedTypeName?: string;
      readonly extendedFormat?: string;
    };
    return format === undefined ? (type === undefined ? [] : [type]) : [type, format];
  });
}
