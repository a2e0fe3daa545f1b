/** Query attributes of clients: offered before servers that take them, and brought to those alone. */
import { columnOf } from "@gateway/core/type/build.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import type { Script } from "../rig/scriptedDoor.ts";
import { clientOf, doneOf, resultOf, serverOf, type OpenServer } from "./rig/mysql.ts";
import { ascii, flags, RawClient } from "./rig/raw.ts";

const { queryAttributes, multiStatements } = capability;
const agreed = flags | queryAttributes;
const takes = new Map([["query_attributes", "ON"]]);
const before = { dialect: "mysql", speaks: "mysql", statuses: takes } as const;

const text = { kind: "text" } as const;
const rows = resultOf([columnOf("a", text)], [["x"]]);
const described = { parameters: [], columns: [columnOf("a", text)] };
const script = {
  ...before,
  answers: {
    "select 1": rows,
    "select 2": rows,
    "select ?": rows,
    "insert into t": [doneOf()],
    BEGIN: [doneOf()],
    "SET SESSION collation_connection = 'latin1_swedish_ci'": [doneOf()],
  },
  descriptions: {
    "select 1": described,
    "select ?": { ...described, parameters: [text] },
  },
} satisfies Partial<Script>;

/** `a`, which is `x`. */
const one = { nulls: "00", types: "fd000161", values: "0178" };
const head = `01010001${one.types}${one.values}`;
const sent = `1 ${one.nulls} ${one.types} ${one.values}`;

describe("the greeting", () => {
  it.each([
    ["a MySQL that takes them", before, true],
    ["one that takes none", { ...before, statuses: new Map([["query_attributes", "OFF"]]) }, false],
    ["a server that nobody reached yet", { dialect: "mysql", speaks: "mysql" }, false],
    ["engines that do not speak MySQL", { dialect: "mysql", statuses: takes }, false],
  ] as const)("says whether attributes are taken: %s", async (_name, engine, offered) => {
    await using server = await serverOf({ answers: { "select 1": rows }, ...engine });
    using client = await RawClient.login(server, agreed);
    expect(offers(client)).toBe(offered);
    // What was not offered is not read, whatever the client says.
    client.send(ascii(offered ? "\u0003\u0000\u0001select 1" : "\u0003select 1"));
    expect((await client.answers(4)).at(-1)).toMatch(/^fe/);
  });
});

describe("attributes of a text", () => {
  it("go with its statement", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    expect(await asked(client, `03${head}${ascii("select 1")}`, 4)).toMatch(/^fe/);
    expect(attributesAt(server)).toEqual([sent]);
  });

  it("go with each of several statements, and with none of the next text", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed | multiStatements);
    await asked(client, `03${head}${ascii("select 1; select 2")}`, 8);
    await asked(client, ascii("\u0003\u0000\u0001select 1"), 4);
    expect(attributesAt(server)).toEqual([sent, sent, undefined]);
  });

  it("are none of what the gateway asks by itself", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0003\u0000\u0001set autocommit = 0"), 1);
    await asked(client, `03${head}${ascii("insert into t")}`, 1);
    const own = server.door.queries.filter(({ sql }) => sql !== "insert into t");
    expect(own.length).toBeGreaterThan(0);
    for (const { mysql } of own) expect(mysql?.attributes).toBeUndefined();
  });

  it("are read in the client's character set, names as well", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0003\u0000\u0001set names latin1"), 1);
    const latin1 = `01010001fd0001e401e4`;
    await asked(client, `03${latin1}${ascii("select 1")}`, 4);
    expect(attributesAt(server).at(-1)).toBe("1 00 fd0002c3a4 02c3a4");
  });

  it("are refused where the packet lies about them, and the session goes on", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    const lies = ["", "00", "0002", "c80100", "01010001fd0001", "010100010d00016101", "fb01"];
    for (const lie of lies) {
      client.send(`03${lie}`);
      expect(await client.errno()).toBe(1835);
    }
    await asked(client, ascii("\u0003\u0000\u0001select 1"), 4);
    expect(server.door.queries).toHaveLength(1);
  });
});

describe("attributes of an execution", () => {
  it("go with its values", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0016select ?"), 3);
    await asked(client, `17010000000801000000020001fd0000${one.types}01790178`, 4);
    const [query] = server.door.queries;
    expect(attributesAt(server)).toEqual([sent]);
    expect(hexOf(query?.mysql?.execution?.body)).toBe("0001fd000179");
    // The types of the last one, and no attributes.
    await asked(client, "170100000008010000000100000179", 4);
    expect(attributesAt(server)[1]).toBeUndefined();
  });

  it("go with values that came ahead", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0016select ?"), 3);
    client.send(`18010000000000${ascii("ahead")}`);
    await asked(client, `17010000000801000000020001fd0000${one.types}0178`, 4);
    const [query] = server.door.queries;
    expect(attributesAt(server)).toEqual([sent]);
    expect([...(query?.mysql?.execution?.longData ?? [])]).toEqual([[0, Buffer.from("ahead")]]);
  });

  it("are refused with fewer values than places, and where the packet lies", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0016select ?"), 3);
    for (const [body, errno] of [
      ["00", 1210],
      ["", 1835],
      ["c8", 1835],
      [`020001fd0000${one.types}0179`, 1835],
    ] as const) {
      client.send(`17010000000801000000${body}`);
      expect(await client.errno()).toBe(errno);
    }
    expect(server.door.queries).toEqual([]);
  });

  it("are sent by mysql2 with and without values", async () => {
    await using server = await serverOf(script);
    await using client = await clientOf(server);
    const attributes = { a: "x" };
    await client.execute({ sql: "select ?", attributes }, ["v"]);
    await client.execute({ sql: "select 1", attributes });
    await client.query({ sql: "select 1", attributes });
    await client.query("select 1");
    expect(attributesAt(server)).toEqual([sent, sent, sent, undefined]);
    expect(server.bugs()).toEqual([]);
  });
});

describe("where the engines became others", () => {
  it("attributes are refused, and statements without go on", async () => {
    const plain = { "select 1": rows, "select $1": rows };
    await using server = await serverOf({ ...script, answers: plain });
    using client = await RawClient.login(server, agreed);
    await asked(client, ascii("\u0016select ?"), 3);
    const engines = [{ dialect: "mysql", catalogs: [] }] as const;
    Object.assign(server.door, { engines: () => engines });
    for (const command of [
      `03${head}${ascii("select 1")}`,
      `03${head}${ascii("set @a = 1")}`,
      `17010000000801000000020001fd0000${one.types}01790178`,
    ]) {
      client.send(command);
      expect(await client.errno()).toBe(1235);
    }
    expect(server.door.queries).toEqual([]);
    await asked(client, ascii("\u0003\u0000\u0001select 1"), 4);
    expect(attributesAt(server)).toEqual([undefined]);
  });
});

/** Sends a command; the last packet of its answer. */
async function asked(client: RawClient, command: string, answers: number): Promise<string> {
  client.send(command);
  const last = (await client.answers(answers)).at(-1) ?? "";
  if (last.startsWith("ff")) throw new Error(Buffer.from(last, "hex").toString("latin1"));
  return last;
}

function attributesAt({ door }: OpenServer) {
  return door.queries.map(({ mysql }) => {
    const found = mysql?.attributes;
    const { nulls, types, values } = found ?? {};
    return found && [found.count, hexOf(nulls), hexOf(types), hexOf(values)].join(" ");
  });
}

function offers({ greeting }: RawClient): boolean {
  const upper = greeting.readUInt16LE(greeting.indexOf(0, 1) + 19);
  return (upper & (queryAttributes >>> 16)) !== 0;
}

function hexOf(bytes: Uint8Array = new Uint8Array(0)): string {
  return Buffer.from(bytes).toString("hex");
}
