/** Servers whose greeting or login is not what was asked for: who of them is spoken with, and what they get to see. */
import { createServer, type AddressInfo } from "node:net";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { putAuthSwitch, putGreeting } from "@gateway/wire/mysql/handshake.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { capability, collationId } from "@gateway/wire/mysql/protocol.ts";
import { Home } from "@gateway/core/query/home.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig, type MysqlConfig } from "./config.ts";
import { okOf } from "./rig/scripted.ts";

const all = 0xffff_ffff;
const asked = { foundRows: false, ignoreSpace: false };
const overTls = { tls: { serverName: "db.example" } };

interface Greeted {
  readonly bytes: Uint8Array;
  readonly code: string;
  readonly more?: Partial<MysqlConfig>;
}

const greetings: readonly (readonly [string, Greeted])[] = [
  [
    "no PROTOCOL_41",
    { bytes: greeting(all & ~capability.protocol41), code: "GATEWAY_CAPABILITIES" },
  ],
  [
    "no SECURE_CONNECTION",
    { bytes: greeting(all & ~capability.secureConnection), code: "GATEWAY_CAPABILITIES" },
  ],
  [
    "no PLUGIN_AUTH",
    { bytes: greeting(all & ~capability.pluginAuth), code: "GATEWAY_CAPABILITIES" },
  ],
  [
    "no TRANSACTIONS",
    { bytes: greeting(all & ~capability.transactions), code: "GATEWAY_CAPABILITIES" },
  ],
  ["none of the flags of later servers", { bytes: cutGreeting(28), code: "GATEWAY_CAPABILITIES" }],
  ["its flags cut in two", { bytes: cutGreeting(30), code: "GATEWAY_BROKEN" }],
  ["no flags", { bytes: cutGreeting(26), code: "GATEWAY_BROKEN" }],
  [
    "no SSL where TLS is configured",
    { bytes: greeting(all & ~capability.ssl), code: "GATEWAY_NO_TLS", more: overTls },
  ],
  [
    "an OK behind it, before TLS",
    {
      bytes: Buffer.concat([greeting(all), packet(okOf(), 2)]),
      code: "GATEWAY_BYTES_IN_CLEAR",
      more: overTls,
    },
  ],
  [
    "an OK behind it, before the login",
    { bytes: Buffer.concat([greeting(all), packet(okOf(), 2)]), code: "GATEWAY_BYTES_IN_CLEAR" },
  ],
  [
    "a demand for the password behind it, before TLS",
    {
      bytes: Buffer.concat([greeting(all), packet(authSwitch("mysql_clear_password"), 2)]),
      code: "GATEWAY_BYTES_IN_CLEAR",
      more: overTls,
    },
  ],
  [
    "another version of the protocol",
    { bytes: packet(Uint8Array.of(9, 0x38, 0), 0), code: "GATEWAY_BROKEN" },
  ],
  ["a number in the middle of an exchange", { bytes: greeting(all, 5), code: "GATEWAY_BROKEN" }],
  [
    "a length beyond every greeting",
    { bytes: Uint8Array.of(0, 0, 1, 0, 10), code: "GATEWAY_BROKEN" },
  ],
  [
    "another protocol",
    { bytes: Buffer.from("220 mail.example ESMTP\r\n"), code: "GATEWAY_BROKEN" },
  ],
];

describe("a greeting", () => {
  it.each(greetings)("with %s is left unanswered", async (_what, { bytes, code, more }) => {
    await using server = await serverOf(bytes);
    expect(await detailOf(server.port, more)).toBe(code);
    expect(server.came().length).toBe(0);
  });

  it("without FOUND_ROWS is refused for a client alone that counts the rows it found", async () => {
    const bytes = greeting(all & ~(capability.foundRows | capability.deprecateEof));
    await using server = await serverOf(bytes, [okOf()]);
    const counting = { ...asked, foundRows: true };
    expect(await detailOf(server.port, {}, counting)).toBe("GATEWAY_CAPABILITIES");
    expect(server.came().length).toBe(0);
    // The login is taken, and fails by what the server does not answer behind it.
    expect(await detailOf(server.port)).not.toBe("GATEWAY_CAPABILITIES");
    expect(server.came().length).toBeGreaterThan(0);
  });

  it("that offers everything is answered with what is used, and nothing else", async () => {
    await using server = await serverOf(greeting(all));
    await detailOf(server.port);
    const flags = new ByteReader(server.came(), 4).u32();
    const { compress, zstdCompression, multiStatements, localFiles, ssl, foundRows } = capability;
    expect(flags & (compress | zstdCompression | multiStatements | localFiles | ssl)).toBe(0);
    expect(flags & foundRows).toBe(0);
    expect(flags & capability.protocol41).not.toBe(0);
  });
});

const demands: readonly (readonly [string, Uint8Array])[] = [
  ["the password in clear", authSwitch("mysql_clear_password")],
  ["a plugin that nobody knows", authSwitch("dialog")],
  ["the login of servers before 4.1", Uint8Array.of(0xfe)],
  ["a second factor", Buffer.concat([Uint8Array.of(2), authSwitch("dialog").subarray(1)])],
  ["more of an exchange that it did not begin", Uint8Array.of(1, 4)],
  ["columns", Uint8Array.of(3)],
];

describe("a login in clear", () => {
  it.each(demands)("that is answered with %s ends without the password", async (_what, demand) => {
    await using server = await serverOf(greeting(all), [demand]);
    expect(await detailOf(server.port, { connectTimeoutSecs: 1 })).toMatch(/^[A-Z][A-Z_]+$/);
    expect(server.came().length).toBeGreaterThan(0);
    expect(server.came().includes("s3cret")).toBe(false);
  });
});

describe("a login over TLS", () => {
  it("that the server goes on with in clear shows nobody's name", async () => {
    await using server = await serverOf(greeting(all), [okOf()], { stays: true });
    expect(await detailOf(server.port, { ...overTls, connectTimeoutSecs: 1 })).toMatch(/^[A-Z_]+$/);
    // The request for TLS is all that goes out in packets; behind it comes TLS's own greeting.
    const came = server.came();
    expect(came.readUIntLE(0, 3)).toBe(32);
    expect(came[36]).toBe(0x16);
    expect(came.includes("ann") || came.includes("s3cret")).toBe(false);
  });
});

function packet(payload: Uint8Array, sequence: number): Buffer {
  return Buffer.concat([
    Uint8Array.of(payload.length & 0xff, payload.length >> 8, 0, sequence),
    payload,
  ]);
}

function greeting(capabilities: number, sequence = 0): Buffer {
  const out = new PacketWriter();
  putGreeting(out, {
    serverVersion: "8.4.0-lying",
    connectionId: 7,
    nonce: Buffer.from("abcdefghijklmnopqrst"),
    capabilities: capabilities >>> 0,
    collation: collationId.utf8mb4,
    status: 2,
    plugin: "mysql_native_password",
  });
  return packet(out.release(), sequence);
}

/** Of so many bytes. The flags begin behind the 26th. */
function cutGreeting(length: number): Buffer {
  return packet(greeting(all).subarray(4, 4 + length), 0);
}

function authSwitch(plugin: string): Uint8Array {
  const out = new PacketWriter();
  putAuthSwitch(out, plugin, Buffer.from("abcdefghijklmnopqrst"));
  return out.release();
}

interface Lying extends AsyncDisposable {
  readonly port: number;
  /** All that clients sent. */
  readonly came: () => Buffer;
}

/** Greets every connection with these bytes, and answers the first that comes with these payloads. Then it closes, unless it stays. */
async function serverOf(
  hello: Uint8Array,
  answers: readonly Uint8Array[] = [],
  { stays = false }: { readonly stays?: boolean } = {},
): Promise<Lying> {
  const came: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes: Buffer) => came.push(bytes));
    socket.once("data", () => {
      const bytes = Buffer.concat(answers.map((payload, index) => packet(payload, index + 2)));
      if (stays) socket.write(bytes);
      else socket.end(bytes);
    });
    socket.write(hello);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    came: () => Buffer.concat(came),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** Why a statement of a client was not answered: what operators are told. */
async function detailOf(
  port: number,
  more: Partial<MysqlConfig> = {},
  wants: typeof asked = asked,
): Promise<string | undefined> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "s3cret" },
    ...more,
  });
  await using backend = valueOf(await open("c", config, hostOf()));
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const mysql = { home: new Home(), ...wants };
  const query = { ...identifiedOf("select 1", [], session), mysql, takes: ["mysqlRows"] as const };
  for await (const event of backend.execute(query, never)) {
    if (event.kind !== "failed") continue;
    expect(event.error.code).toBe("cluster.connectFailed");
    return event.error.detail;
  }
  return undefined;
}
