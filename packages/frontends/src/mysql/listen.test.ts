import { columnOf } from "@gateway/core/type/build.ts";
import mysql from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { resultOf, serverOf } from "./mysql.suite.ts";

const integer = { kind: "integer", bits: 32, signed: true } as const;

describe("listen", () => {
  it("answers a query of mysql2", async () => {
    await using server = await serverOf({
      answers: { "select 1 as a": resultOf([columnOf("a", integer)], [[1n]]) },
    });
    const client = await mysql.createConnection({
      host: "127.0.0.1",
      port: server.port,
      user: "ann",
    });
    const [rows] = await client.query("select 1 as a");
    expect(rows).toEqual([{ a: 1 }]);
    await client.end();
    expect(server.bugs()).toEqual([]);
  });
});
