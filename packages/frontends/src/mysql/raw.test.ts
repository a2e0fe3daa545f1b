/** What no client package can be made to send: bytes by hand, one connection each. */
import { connect } from "node:net";
import { gatewayError } from "@gateway/core/error.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { gateOf } from "../rig/answers.ts";
import { runs } from "../rig/wait.ts";
import { pipelinedBytesMax } from "./limits.ts";
import { doneOf, resultOf, serverOf } from "./rig/mysql.ts";
import { ascii, flags, packetOf, RawClient, responseHex } from "./rig/raw.ts";

const int32 = { kind: "integer", bits: 32, signed: true } as const;
const one = resultOf([columnOf("a", int32)], [[1n]]);
describe("the command phase", () => {
  it("answers commands that came in one chunk in their order", async () => {
    await using server = await serverOf({ answers: { "select 1": one } });
    using client = await RawClient.login(server);
    client.send("0e", "7f", ascii("\u0003select 1"), "0e");
    expect(await client.answer()).toMatch(/^00/);
    expect(await client.answer()).toMatch(/^ff1704/);
    expect([await client.answer(), await client.answer()]).toEqual([
      "01",
      "036465660000000161000c3f000b000000038000000000",
    ]);
    expect([await client.answer(), await client.answer()]).toEqual([
      "0131",
      expect.stringMatching(/^fe0000/) as unknown,
    ]);
    expect(await client.answer()).toMatch(/^00/);
  });

  it("answers a long statement before a short one that came behind it", async () => {
    const long = `select '${"x".repeat(200_000)}'`;
    await using server = await serverOf({ answers: { [long]: one, "select 1": one } });
    using client = await RawClient.login(server);
    client.send(ascii(`\u0003${long}`), ascii("\u0003select 1"), "0e");
    for (let packet = 0; packet < 9; packet += 1) await client.answer();
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([long, "select 1"]);
    expect(server.bugs()).toEqual([]);
  });

  it("stops reading when too many commands wait, and answers each of them in the end", async () => {
    const gate = gateOf();
    await using server = await serverOf({ answers: { "select wait": gate.answer } });
    using client = await RawClient.login(server);
    client.send(ascii("\u0003select wait"));
    await runs(server.door, "select wait");
    // More than is read ahead, and more than a single read brings.
    const count = Math.ceil((pipelinedBytesMax * 1.2) / 5);
    client.send(...Array.from({ length: count }, () => "0e"));
    gate.open();
    for (let packet = 0; packet < 4; packet += 1) await client.answer();
    let oks = 0;
    while (oks < count && (await client.answer()).startsWith("00")) oks += 1;
    expect(oks).toBe(count);
    expect(server.bugs()).toEqual([]);
  });

  it("names the statement an unknown id was given to", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send("17050000000001000000", "1a05000000", "1c0500000001000000");
    expect(await client.errno()).toBe(1243);
    expect(await client.errno()).toBe(1243);
    expect(await client.errno()).toBe(1243);
  });

  it("answers values sent ahead and closing with nothing at all", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send("180500000000006162", "1905000000", "0e");
    expect(await client.answer()).toMatch(/^00/);
  });

  it("uses values that were sent ahead, for one execution", async () => {
    const sql = "select $1";
    await using server = await serverOf({
      answers: { [sql]: one },
      descriptions: { [sql]: { parameters: [{ kind: "text" }], columns: [] } },
    });
    using client = await RawClient.login(server);
    client.send(ascii("\u0016select ?"));
    expect(await client.answer()).toBe("000100000000000100000000");
    await client.answer();
    client.send("18010000000000" + ascii("ab"), "18010000000000" + ascii("c"));
    client.send("170100000000010000000001fc00");
    for (let packet = 0; packet < 4; packet += 1) await client.answer();
    expect(server.door.queries.at(-1)?.parameters).toEqual([
      { type: { kind: "text" }, value: "abc" },
    ]);
    client.send("170100000000010000000100");
    for (let packet = 0; packet < 4; packet += 1) await client.answer();
    expect(server.door.queries.at(-1)?.parameters).toEqual([
      { type: { kind: "text" }, value: null },
    ]);
  });

  it("refuses parameters that are cut short and goes on", async () => {
    const sql = "select $1";
    await using server = await serverOf({
      descriptions: { [sql]: { parameters: [{ kind: "text" }], columns: [] } },
    });
    using client = await RawClient.login(server);
    client.send(ascii("\u0016select ?"));
    await client.answer();
    await client.answer();
    client.send("170100000000010000000001fd00ff", "0e");
    expect(await client.errno()).toBe(1835);
    expect(await client.answer()).toMatch(/^00/);
    expect(server.door.queries).toEqual([]);
  });

  it("refuses a hundred thousand places in a statement", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send(ascii(`\u0016select ${"?,".repeat(100_000)}?`));
    expect(await client.errno()).toBe(1390);
  });

  it("tells the new database with the OK packet", async () => {
    const change = { kind: "catalog", catalog: "lake", schema: "mart" } as const;
    await using server = await serverOf({
      answers: { 'USE "mart"': [{ kind: "session", change }, doneOf({ updateType: "USE" })] },
    });
    using client = await RawClient.login(server);
    client.send(ascii("\u0002mart"), ascii("\u0003select database()"));
    expect(await client.answer()).toBe("0000000240000000070105046d617274");
    for (let packet = 0; packet < 2; packet += 1) await client.answer();
    expect(await client.answer()).toBe("046d617274");
  });

  it("asks no engine for a database with a name of more than 64 Ki characters", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    const long = "a".repeat(70_000);
    client.send(ascii(`\u0003use ${long}`));
    expect(await client.errno()).toBe(1049);
    client.send(ascii(`\u0002${long}`));
    expect(await client.errno()).toBe(1049);
    expect(server.door.queries).toEqual([]);
  });

  it("keeps the database for an engine that knows no USE, and refuses one that does not exist", async () => {
    const failed = (code: "query.unsupported" | "query.unknownObject") =>
      [{ kind: "failed", error: gatewayError(code) }] as const;
    await using server = await serverOf({
      answers: {
        'USE "mart"': failed("query.unsupported"),
        "use nosuch": failed("query.unknownObject"),
        "select 1": one,
      },
    });
    using client = await RawClient.login(server);
    client.send(ascii("\u0002mart"), ascii("\u0003use nosuch"), ascii("\u0003select 1"));
    expect(await client.answer()).toMatch(/^00/);
    expect(await client.errno()).toBe(1049);
    for (let packet = 0; packet < 4; packet += 1) await client.answer();
    expect(server.door.queries.at(-1)?.session.schema).toBe("mart");
  });

  it("describes the columns of a table for COM_FIELD_LIST, by its wildcard", async () => {
    const sql = 'SELECT * FROM "t"';
    const columns = [columnOf("abc", int32), columnOf("xyz", int32)];
    await using server = await serverOf({ descriptions: { [sql]: { parameters: [], columns } } });
    using client = await RawClient.login(server);
    client.send(ascii("\u0004t\0a%"));
    expect(await client.answer()).toMatch(/0361626303616263.*fb$/);
    expect(await client.answer()).toMatch(/^fe/);
    client.send(ascii("\u0004nosuch\0"));
    expect(await client.errno()).toBe(1064);
  });

  it("answers statistics with a line of text and options with an end mark", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send("09", "1b0000", ascii("\u0003set @a = 1; set @b = 2"), "1b0500");
    expect(Buffer.from(await client.answer(), "hex").toString()).toMatch(
      /^Uptime: \d+ {2}Threads: 1/,
    );
    expect(await client.answer()).toMatch(/^fe/);
    expect(await client.answer()).toMatch(/^0000000a/);
    expect(await client.answer()).toMatch(/^00000002/);
    expect(await client.errno()).toBe(1047);
  });

  it("goes back to the login on COM_RESET_CONNECTION", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send(ascii("\u0003set @a = 1"), "1f", ascii("\u0003select @a"));
    for (let packet = 0; packet < 4; packet += 1) await client.answer();
    expect(await client.answer()).toBe("fb");
  });

  it("refuses text that is not valid in the connection's character set", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send("03ff", "16ff", "02ff");
    expect(await client.errno()).toBe(1300);
    expect(await client.errno()).toBe(1300);
    expect(await client.errno()).toBe(1046);
    expect(server.door.queries).toEqual([]);
  });

  it("says what is empty or open instead of hanging", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.send(
      "03",
      ascii("\u0003 ; ;"),
      ascii("\u0003-- only this"),
      ascii("\u0003select $$"),
      ascii("\u0016select 'open"),
    );
    expect(await client.errno()).toBe(1065);
    expect(await client.errno()).toBe(1065);
    // As a MySQL server does it.
    expect(await client.answer()).toMatch(/^00/);
    expect(await client.errno()).toBe(1064);
    expect(await client.errno()).toBe(1064);
  });

  it("closes when a packet is numbered wrongly, and says so first", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.socket.write(Buffer.from("010000050e", "hex"));
    expect(await client.errno()).toBe(1156);
    await client.closed;
  });
});

describe("the connection phase", () => {
  it("refuses a client over the cap with MySQL's number in place of the greeting", async () => {
    await using server = await serverOf({}, { maxConnections: 1 });
    using first = await RawClient.login(server);
    using second = new RawClient(connect(server.port, "127.0.0.1"));
    expect(await second.errno()).toBe(1040);
    await second.closed;
    first.send("0e");
    expect(await first.answer()).toMatch(/^00/);
  });

  it("refuses a second response where a command belongs", async () => {
    await using server = await serverOf();
    using client = await RawClient.login(server);
    client.socket.write(packetOf(responseHex("mysql_native_password"), 3));
    expect(await client.errno()).toBe(1156);
    await client.closed;
  });

  it("refuses a response that is larger than any honest one, before it has arrived", async () => {
    await using server = await serverOf();
    using client = new RawClient(connect(server.port, "127.0.0.1"));
    await client.answer();
    client.socket.write(Buffer.from("00001001", "hex"));
    expect(await client.errno()).toBe(1153);
    await client.closed;
  });

  it("gives every connection its own challenge and id", async () => {
    await using server = await serverOf();
    using first = new RawClient(connect(server.port, "127.0.0.1"));
    using second = new RawClient(connect(server.port, "127.0.0.1"));
    const [one1, two] = [await first.answer(), await second.answer()];
    expect(one1.slice(30, 38)).not.toBe(two.slice(30, 38));
    expect(one1.slice(38, 54)).not.toBe(two.slice(38, 54));
  });
});

describe("an answer", () => {
  it("comes with EOF packets for clients that want them", async () => {
    await using server = await serverOf({ answers: { "select 1": one, x: [doneOf()] } });
    const plain = flags & ~capability.deprecateEof & ~capability.sessionTrack;
    using client = await RawClient.login(server, plain);
    client.send(ascii("\u0003select 1"));
    await client.answer();
    await client.answer();
    expect(await client.answer()).toBe("fe00000200");
    expect(await client.answer()).toBe("0131");
    expect(await client.answer()).toBe("fe00000200");
    client.send(ascii("\u0003x"));
    expect(await client.answer()).toBe(
      `0000000200000024${ascii("Query id: ")}${ascii(server.door.queries[1]?.id ?? "")}`,
    );
  });
});
