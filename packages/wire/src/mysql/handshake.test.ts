import { describe, expect, it } from "vitest";
import { ByteReader } from "./byteReader.ts";
import {
  parseChangeUser,
  parseHandshake,
  putAuthMoreData,
  putAuthSwitch,
  putGreeting,
} from "./handshake.ts";
import { PacketWriter } from "./packetWriter.ts";
import { capability } from "./protocol.ts";

describe("putGreeting", () => {
  it("writes version 10 with the challenge in two parts and the plugin behind", () => {
    const out = new PacketWriter();
    putGreeting(out, {
      serverVersion: "8.4.0",
      connectionId: 0x01020304,
      nonce: Buffer.from("abcdefghijklmnopqrst"),
      capabilities: 0x81fff7ff,
      collation: 255,
      status: 2,
      plugin: "caching_sha2_password",
    });
    expect(hexOf(out)).toBe(
      `0a${ascii("8.4.0")}00` +
        `04030201${ascii("abcdefgh")}00` +
        `fff7ff0200ff8115${"00".repeat(10)}` +
        `${ascii("ijklmnopqrst")}00${ascii("caching_sha2_password")}00`,
    );
  });

  it("writes MariaDB's own flags where others have zeros", () => {
    const out = new PacketWriter();
    const greeting = {
      serverVersion: "8",
      connectionId: 1,
      collation: 255,
      status: 2,
      plugin: "x",
    };
    const nonce = Buffer.from("abcdefghijklmnopqrst");
    putGreeting(out, { ...greeting, nonce, capabilities: 0x81fff7fe, mariadbCapabilities: 8 });
    expect(hexOf(out)).toContain(`fef7ff0200ff8115${"00".repeat(6)}08000000${ascii("ijkl")}`);
  });
});

describe("parseHandshake", () => {
  it("reads what mysql2 sends", () => {
    const response = parseHandshake(bytesOf(mysql2Response));
    expect(response).toMatchObject({ kind: "handshakeResponse", plugin: "caching_sha2_password" });
    expect(fieldsOf(response)).toEqual({ user: "alice", database: "sales", authBytes: 32 });
    expect(response).toHaveProperty(
      "attributes",
      new Map([
        ["_client_name", "Node-MySQL-2"],
        ["_client_version", "3.24.5"],
        ["gateway_tags", "team:a"],
      ]),
    );
  });

  it("reads what the MariaDB connector sends, whose plugin is another", () => {
    const response = parseHandshake(bytesOf(mariadbResponse));
    expect(response).toMatchObject({ kind: "handshakeResponse", plugin: "mysql_native_password" });
    expect(fieldsOf(response)).toEqual({ user: "alice", database: "sales", authBytes: 20 });
  });

  it("takes 32 bytes with the SSL flag for the request to start TLS", () => {
    const head = bytesOf(mysql2Response).slice(0, 32);
    head[1] = (head[1] ?? 0) | (capability.ssl >> 8);
    expect(parseHandshake(head)).toMatchObject({ kind: "sslRequest" });
  });

  it("accepts an empty database as none", () => {
    const flags = capability.protocol41 | capability.connectWithDb | capability.secureConnection;
    const response = parseHandshake(responseOf(flags, `${ascii("bob")}000000`));
    expect(fieldsOf(response)).toEqual({ user: "bob", database: undefined, authBytes: 0 });
  });

  it("refuses a client older than 4.1", () => {
    expect(parseHandshake(responseOf(0, "00"))).toMatchObject({ kind: "violation" });
  });

  it("refuses every cut of a response", () => {
    const whole = bytesOf(mysql2Response);
    // Before the plugin, fields are required; behind it they are optional or measured by a length.
    const optionalFrom = Buffer.from(whole).indexOf("sales");
    for (let length = 0; length < optionalFrom; length += 1) {
      expect(parseHandshake(whole.subarray(0, length))).toMatchObject({ kind: "violation" });
    }
  });

  it("refuses attributes whose length reaches past the packet", () => {
    const flags = capability.protocol41 | capability.secureConnection | capability.connectAttrs;
    const lying = responseOf(flags, `${ascii("bob")}0000feffffffffffff0f00`);
    expect(parseHandshake(lying)).toMatchObject({ kind: "violation" });
  });

  it("reads MariaDB's own flags of a client that does not say MySQL beside them", () => {
    const mariadbFlags = (flags: number) => {
      const bytes = Buffer.from(responseOf(flags, `${ascii("bob")}0000`));
      bytes.writeUInt32LE(0x8000_0008, 28);
      const response = parseHandshake(bytes);
      return response.kind === "handshakeResponse" ? response.mariadbCapabilities : response.kind;
    };
    const { protocol41, secureConnection, longPassword } = capability;
    expect(mariadbFlags(protocol41 | secureConnection)).toBe(0x8000_0008);
    expect(mariadbFlags(protocol41 | secureConnection | longPassword)).toBe(0);
  });

  it("refuses thousands of attributes", () => {
    const flags = capability.protocol41 | capability.secureConnection | capability.connectAttrs;
    const pairs = "01610161".repeat(300);
    const many = responseOf(flags, `${ascii("bob")}0000fcb004${pairs}`);
    expect(parseHandshake(many)).toMatchObject({ kind: "violation" });
  });
});

describe("parseChangeUser", () => {
  it("reads user, database, collation and plugin", () => {
    const body = `${ascii("bob")}0003010203${ascii("db")}002d00${ascii("mysql_native_password")}00`;
    const change = parseChangeUser(
      new ByteReader(bytesOf(body)),
      capability.pluginAuth | capability.secureConnection,
    );
    expect(change).toMatchObject({
      kind: "changeUser",
      collation: 45,
      plugin: "mysql_native_password",
    });
    expect(fieldsOf(change)).toEqual({ user: "bob", database: "db", authBytes: 3 });
  });

  it("does without everything behind the database", () => {
    const change = parseChangeUser(new ByteReader(bytesOf(`${ascii("bob")}000000`)), 0);
    expect(change).toMatchObject({ collation: undefined, plugin: undefined, database: undefined });
  });

  it("refuses a body that ends in the middle of the user", () => {
    expect(parseChangeUser(new ByteReader(bytesOf(ascii("bo"))), 0).kind).toBe("violation");
  });
});

describe("putAuthSwitch and putAuthMoreData", () => {
  it("name the plugin, then carry its bytes", () => {
    const out = new PacketWriter();
    putAuthSwitch(out, "x", Buffer.from("ab"));
    putAuthMoreData(out, Uint8Array.of(4));
    expect(hexOf(out)).toBe("fe78006162000104");
  });
});

/** Recorded from mysql2 3.24.5 against a server that greets with caching_sha2_password. */
const mysql2Response =
  "cff3ba0800000000e00000000000000000000000000000000000000000000000616c6963650020c76e2898612a4cf0" +
  "42c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae80973616c65730063616368696e675f736861325f70617373" +
  "776f726400450c5f636c69656e745f6e616d650c4e6f64652d4d7953514c2d320f5f636c69656e745f76657273696f" +
  "6e06332e32342e350c676174657761795f74616773067465616d3a61";

/** Recorded from the mariadb package 3.5.4, its host name shortened. */
const mariadbResponse =
  "0aa3be0100000040e00000000000000000000000000000000000000000000000616c69636500148817c50fa779daef" +
  "010ee7577825b0847df9842e73616c6573006d7973716c5f6e61746976655f70617373776f7264001a0c5f636c6965" +
  "6e745f6e616d650c6d61726961646220636f6e6e";

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

function hexOf(out: PacketWriter): string {
  return Buffer.from(out.written()).toString("hex");
}

function ascii(text: string): string {
  return Buffer.from(text, "ascii").toString("hex");
}

function responseOf(flags: number, rest: string): Uint8Array {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(flags >>> 0);
  return Uint8Array.from(Buffer.concat([head, Buffer.from(rest, "hex")]));
}

function fieldsOf(message: object): object | undefined {
  if (!("user" in message && "database" in message && "authData" in message)) return undefined;
  const { user, database, authData } = message;
  return {
    user: textOf(user),
    database: textOf(database),
    authBytes: authData instanceof Uint8Array ? authData.length : undefined,
  };
}

function textOf(bytes: unknown): string | undefined {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : undefined;
}
