/** MariaDB's own flags: offered before MariaDBs alone, and blocks in definitions for clients that agreed alone. */
import { columnOf } from "@gateway/core/type/build.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { capability, mariadbCapability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, resultOf, serverOf } from "./rig/mysql.ts";
import { ascii, flags, RawClient } from "./rig/raw.ts";

const version = "8.4.0-gateway";
/** All that MariaDB 11 offers. */
const everyFlag = "61";
const { extendedMetadata } = mariadbCapability;
const behindMariadb = {
  dialect: "mysql",
  speaks: "mysql",
  statuses: statusesOf(everyFlag),
} as const;

const text = { kind: "text" } as const;
const columns = [columnOf("a", text), columnOf("b", text)];
const names = (name: string) => `0364656601730174017401${ascii(name)}01${ascii(name)}`;
const fixed = "0c2d00ffff0000fd0000000000";
/** As a server sends them to who agreed: JSON, and a type without a name. The second came without a block. */
const json = `${names("a")}0601046a736f6e${fixed}`;
const events: readonly ResultEvent[] = [
  {
    kind: "columns",
    columns,
    native: { format: "mysqlRows", bytes: packetsOf([json, `${names("b")}${fixed}`]) },
  },
  {
    kind: "batch",
    batch: { form: "native", format: "mysqlRows", rows: 1, bytes: packetsOf(["027b7d0178"]) },
  },
  doneOf(),
];

const own = resultOf([columnOf("a", text)], [["x"]]);
/** Of the gateway's own: a text, which may be NULL. */
const ownFixed = "0cff00fcff0300fd0000000000";
const ownPlain = `03646566000000016100${ownFixed}`;

describe("the greeting", () => {
  it("offers before MariaDBs what is passed on of theirs, and no more", async () => {
    await using server = await serverOf(behindMariadb);
    using client = await RawClient.login(server);
    expect(read(client)).toEqual({ version, mysql: false, mariadb: extendedMetadata });
  });

  it("offers nothing that a MariaDB of an older version has not", async () => {
    await using server = await serverOf({
      ...behindMariadb,
      statuses: statusesOf("5"),
    });
    using client = await RawClient.login(server);
    expect(read(client)).toEqual({ version, mysql: true, mariadb: 0 });
  });

  it.each([
    ["a MySQL", { statuses: statusesOf("0") }],
    ["a server that nobody reached yet", { statuses: undefined }],
    ["engines that do not speak MySQL", { speaks: undefined }],
  ] as const)("offers nothing of MariaDB's before %s", async (_name, other) => {
    const { statuses, ...more } = { ...behindMariadb, ...other };
    await using server = await serverOf({
      answers: { "select own": own },
      dialect: more.dialect,
      ...(more.speaks && { speaks: more.speaks }),
      ...(statuses && { statuses }),
    });
    // What a client says unasked changes nothing.
    using client = await RawClient.login(server, flags, extendedMetadata);
    expect(read(client)).toEqual({ version, mysql: true, mariadb: 0 });
    client.send(ascii("\u0003select own"));
    expect((await client.answers(4))[1]).toBe(ownPlain);
  });

  it("waits until the servers were asked once", async () => {
    const statuses = new Map<string, string>();
    let [reached, answered] = [nothing, nothing];
    const asked = new Promise<void>((resolve) => (reached = resolve));
    const learning = new Promise<void>((resolve) => (answered = resolve));
    const learned = () => {
      reached();
      return learning;
    };
    await using server = await serverOf({ ...behindMariadb, statuses, learned });
    const login = RawClient.login(server);
    await asked;
    for (const [name, value] of behindMariadb.statuses) statuses.set(name, value);
    answered();
    using client = await login;
    expect(read(client).mariadb).toBe(extendedMetadata);
  });
});

describe("column definitions", () => {
  const script = { ...behindMariadb, answers: { "select a": events, "select own": own } };

  it("have their blocks for a client that agreed to them, an empty one where there is none", async () => {
    await using server = await serverOf(script);
    using client = await RawClient.login(server, flags, extendedMetadata);
    client.send(ascii("\u0003select a"));
    const answer = await client.answers(5);
    expect(answer.slice(0, 4)).toEqual(["02", json, `${names("b")}00${fixed}`, "027b7d0178"]);
    expect(server.door.queries[0]?.mysql).toMatchObject({ extendedMetadata: true });
    client.send(ascii("\u0003select own"));
    expect((await client.answers(4))[1]).toBe(`0364656600000001610000${ownFixed}`);
  });

  it("have none for one that did not, or that says MySQL beside the flag", async () => {
    await using server = await serverOf(script);
    for (const [capabilities, mariadb] of [
      [flags, 0],
      [flags | capability.longPassword, extendedMetadata],
    ] as const) {
      using client = await RawClient.login(server, capabilities, mariadb);
      client.send(ascii("\u0003select own"));
      expect((await client.answers(4))[1]).toBe(ownPlain);
      client.send(ascii("\u0003select a"));
      await client.answers(5);
      expect(server.door.queries.at(-1)?.mysql).toMatchObject({ extendedMetadata: false });
    }
  });

  it("are read by mysql2, of texts and of prepared statements, also of another user", async () => {
    await using server = await serverOf({
      ...script,
      descriptions: { "select own": { parameters: [text], columns: [columnOf("a", text)] } },
    });
    await using client = await clientOf(server);
    expect((await client.query("select a"))[0]).toEqual([{ a: {}, b: "x" }]);
    expect((await client.query("select own"))[0]).toEqual([{ a: "x" }]);
    await client.changeUser({ user: "bea" });
    expect((await client.execute("select own", [1]))[0]).toEqual([{ a: "x" }]);
    expect(server.bugs()).toEqual([]);
  });
});

function statusesOf(mariadb: string): ReadonlyMap<string, string> {
  return new Map([["mariadb_capabilities", mariadb]]);
}

function nothing(): void {}

/** What a greeting says of its server. */
function read({ greeting }: RawClient) {
  const end = greeting.indexOf(0, 1);
  const lower = greeting.readUInt16LE(end + 14);
  return {
    version: greeting.toString("latin1", 1, end),
    mysql: (lower & capability.longPassword) !== 0,
    mariadb: greeting.readUInt32LE(end + 28),
  };
}

function packetsOf(payloads: readonly string[]): Uint8Array {
  const out = new PacketWriter();
  for (const payload of payloads) {
    out.begin();
    out.raw(Buffer.from(payload, "hex"));
    out.end();
  }
  return out.release();
}
