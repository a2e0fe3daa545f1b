/** SET with the values of an execution: what it is answered with is its text with the values in it. */
import { describe, expect, it } from "vitest";
import { clientOf, failureOf, serverOf } from "./rig/mysql.ts";

const set = "set time_zone = ?";

describe("a prepared SET with values", () => {
  it("sets them, anew with each execution", async () => {
    await using server = await serverOf();
    await using client = await clientOf(server);
    for (const zone of ["+01:00", "+02:00"]) {
      await client.execute(set, [zone]);
      const [rows] = await client.query("select @@time_zone as zone");
      expect(rows).toEqual([{ zone }]);
    }
    expect(server.bugs()).toEqual([]);
  });

  it("takes numbers, NULL, quotes and several places", async () => {
    await using server = await serverOf();
    await using client = await clientOf(server);
    await client.execute("set @a = ?, @b = ?, @c = ?, @d = '?'", [5, null, "it's', @a = 'x"]);
    const [rows] = await client.query("select @a as a, @b as b, @c as c, @d as d");
    expect(rows).toEqual([{ a: 5, b: null, c: "it's', @a = 'x", d: "?" }]);
  });

  it("says with the execution what can not be set, and the connection goes on", async () => {
    await using server = await serverOf();
    await using client = await clientOf(server);
    expect((await failureOf(client.execute(set, ["nowhere"]))).message).toMatch(/time zone/i);
    const backslash = await failureOf(client.execute("set @a = ?", ["\\', @b = 1 -- "]));
    expect(backslash.message).toMatch(/this value in SET/);
    const [rows] = await client.query("select @b as b");
    expect(rows).toEqual([{ b: null }]);
  });
});
