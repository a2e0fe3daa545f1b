/** What clients of a server of MySQL's are told of the longest packet: no more than is taken here. */
import { describe, expect, it } from "vitest";
import type { Value } from "@gateway/core/type/type.ts";
import { clientOf, resultOf, serverOf } from "../rig/mysql.ts";

const text = (name: string) => ({ name, type: { kind: "text" }, nullable: true }) as const;
const mebi = (count: number) => String(count << 20);

/** A server that says this of itself. `judges`: what a text says decides here, so that each is read. */
async function before(limit: Value, { judges = false, config = {} } = {}) {
  const asked = "@@max_allowed_packet";
  const server = await serverOf(
    {
      dialect: "mysql",
      speaks: "mysql",
      answers: {
        [`SELECT ${asked} LIMIT 1`]: resultOf([text(asked)], [[limit]]),
        "SELECT @@session.max_allowed_packet, @@sql_mode LIMIT 1": resultOf(
          [text("p"), text("m")],
          [[limit, "ANSI"]],
        ),
        "select @@global.max_allowed_packet": resultOf([text("g")], [[limit]]),
        "show variables like 'sql_mode'": resultOf([text("own words")], [["ANSI"]]),
        "show variables where length(value) > 5": resultOf([text("own words")], [["ANSI"]]),
        "SHOW SESSION VARIABLES": resultOf(
          [text("Variable_name"), text("Value")],
          [
            ["max_allowed_packet", limit],
            ["sql_mode", "ANSI"],
          ],
        ),
      },
    },
    config,
  );
  Object.assign(server.door, { judgesTexts: () => judges });
  return server;
}

async function toldBy(server: Awaited<ReturnType<typeof before>>, sql: string) {
  await using client = await clientOf(server);
  const [rows] = await client.query({ sql, rowsAsArray: true });
  return rows;
}

describe("max_allowed_packet before a server of MySQL's", () => {
  it("is the longest text that is taken here, where the server takes longer ones", async () => {
    await using server = await before(mebi(64));
    expect(await toldBy(server, "SELECT @@max_allowed_packet")).toEqual([[16 << 20]]);
    const mixed = "select @@session.max_allowed_packet as p, @@sql_mode, @@autocommit";
    expect(await toldBy(server, mixed)).toEqual([[16 << 20, "ANSI", 1]]);
    const prepared = await clientOf(server);
    const [rows] = await prepared.execute("SELECT @@max_allowed_packet AS p");
    expect(rows).toEqual([{ p: 16 << 20 }]);
    await prepared.end();
  });

  it("is the server's where that is less, and the configured one where there is one", async () => {
    await using server = await before(mebi(4));
    expect(await toldBy(server, "SELECT @@max_allowed_packet")).toEqual([[4 << 20]]);
    const config = { maxStatementBytes: 2 << 20 };
    await using configured = await before(mebi(4), { config });
    expect(await toldBy(configured, "SELECT @@max_allowed_packet")).toEqual([[2 << 20]]);
  });

  it("is the longest message where texts are read: values of parameters may be so long", async () => {
    await using server = await before(mebi(1024), { judges: true });
    expect(await toldBy(server, "SELECT @@max_allowed_packet")).toEqual([[64 << 20]]);
  });

  it("is listed so, and no other list is touched", async () => {
    await using server = await before(mebi(64));
    const like = "show variables like 'max_allowed_packet'";
    expect(await toldBy(server, like)).toEqual([["max_allowed_packet", mebi(16)]]);
    expect(await toldBy(server, "show session variables")).toEqual([
      ["max_allowed_packet", mebi(16)],
      ["sql_mode", "ANSI"],
    ]);
    expect(await toldBy(server, "show variables like 'sql_mode'")).toEqual([["ANSI"]]);
    const unread = "show variables where length(value) > 5";
    expect(await toldBy(server, unread)).toEqual([["ANSI"]]);
  });

  it("is the server's own for all its sessions", async () => {
    await using server = await before(mebi(64));
    expect(await toldBy(server, "select @@global.max_allowed_packet")).toEqual([[mebi(64)]]);
  });
});
