/**
 * Messages of the connection phase: greeting, SSL request, handshake response, change of user, and
 * the packets of an authentication exchange.
 *
 * Bytes only: the frontend chooses the plugin and checks the password. Authentication data that a client
 * sends has no message kind; it is the bare payload.
 */
import { ByteReader } from "./byteReader.ts";
import type { PacketWriter } from "./packetWriter.ts";
import { capability, violation, type Violation } from "./protocol.ts";

/** Bytes of the challenge in the greeting. */
export const nonceBytes = 20;
/** Further name/value pairs of a client are a violation, not a way to take memory. */
const attributesMax = 256;

export interface Greeting {
  readonly serverVersion: string;
  readonly connectionId: number;
  /** `nonceBytes` bytes, none of them 0 and none over 0x7f, as clients read it as text. */
  readonly nonce: Uint8Array;
  readonly capabilities: number;
  /** MariaDB's own flags, which clients read where `longPassword` is not offered. */
  readonly mariadbCapabilities?: number;
  readonly collation: number;
  readonly status: number;
  readonly plugin: string;
}

/** Text fields are undecoded: the client's charset is one of them. */
export interface HandshakeResponse {
  readonly kind: "handshakeResponse";
  readonly capabilities: number;
  /** MariaDB's own flags; 0 from a client that does not say that it sends them. */
  readonly mariadbCapabilities: number;
  readonly collation: number;
  readonly user: Uint8Array;
  /** What the plugin that the client chose answers to the nonce. */
  readonly authData: Uint8Array;
  readonly database: Uint8Array | undefined;
  readonly plugin: string | undefined;
  readonly attributes: ReadonlyMap<string, string>;
  /** The zstd level that the client wants; undefined unless it offers zstd. */
  readonly zstdLevel: number | undefined;
}

/** The short form a client sends before it starts TLS. */
export interface SslRequest {
  readonly kind: "sslRequest";
  readonly capabilities: number;
  readonly collation: number;
}

export interface ChangeUser {
  readonly kind: "changeUser";
  readonly user: Uint8Array;
  readonly authData: Uint8Array;
  readonly database: Uint8Array | undefined;
  readonly collation: number | undefined;
  readonly plugin: string | undefined;
  readonly attributes: ReadonlyMap<string, string>;
}

const utf8 = new TextDecoder("utf-8");

/** Writes the payload of protocol version 10, the first packet of a connection. */
export function putGreeting(out: PacketWriter, greeting: Greeting): void {
  out.u8(10);
  out.nulText(greeting.serverVersion);
  out.u32(greeting.connectionId);
  out.raw(greeting.nonce.subarray(0, 8));
  out.u8(0);
  out.u16(greeting.capabilities & 0xffff);
  out.u8(greeting.collation);
  out.u16(greeting.status);
  out.u16(greeting.capabilities >>> 16);
  out.u8(nonceBytes + 1);
  out.zeros(6);
  out.u32(greeting.mariadbCapabilities ?? 0);
  out.raw(greeting.nonce.subarray(8, nonceBytes));
  out.u8(0);
  out.nulText(greeting.plugin);
}

/** Writes the payload that asks the client for another authentication plugin. */
export function putAuthSwitch(out: PacketWriter, plugin: string, nonce: Uint8Array): void {
  out.u8(0xfe);
  out.nulText(plugin);
  out.raw(nonce);
  out.u8(0);
}

/** Writes the payload with further data of the plugin. */
export function putAuthMoreData(out: PacketWriter, bytes: Uint8Array): void {
  out.u8(0x01);
  out.raw(bytes);
}

/** Reads the client's first packet, which is the SSL request or the response itself. */
export function parseHandshake(payload: Uint8Array): HandshakeResponse | SslRequest | Violation {
  const reader = new ByteReader(payload);
  const capabilities = reader.u32();
  if (!reader.failed && (capabilities & capability.protocol41) === 0) {
    return violation("malformed", "client older than protocol 4.1");
  }
  reader.u32();
  const collation = reader.u8();
  reader.take(19);
  const filler = reader.u32();
  if (reader.failed) return violation("malformed", "handshake response too short");
  if ((capabilities & capability.ssl) !== 0 && reader.remaining === 0) {
    return { kind: "sslRequest", capabilities, collation };
  }

  const user = reader.untilNul();
  const authData = authDataOf(reader, capabilities);
  const hasDatabase = (capabilities & capability.connectWithDb) !== 0;
  // Some clients set the flag and leave the field out when the name is empty.
  const database = hasDatabase && reader.remaining > 0 ? reader.untilNulOrEnd() : undefined;
  const plugin = pluginOf(reader, capabilities);
  const attributes = attributesOf(reader, capabilities);
  const hasLevel = (capabilities & capability.zstdCompression) !== 0 && reader.remaining > 0;
  const zstdLevel = hasLevel ? reader.u8() : undefined;
  if (reader.failed || attributes === undefined) {
    return violation("malformed", "handshake response cut short");
  }
  return {
    kind: "handshakeResponse",
    capabilities,
    mariadbCapabilities: (capabilities & capability.longPassword) === 0 ? filler : 0,
    collation,
    user,
    authData,
    database: database?.length === 0 ? undefined : database,
    plugin,
    attributes,
    zstdLevel,
  };
}

/** Reads the body of COM_CHANGE_USER, behind the command byte, with the capabilities of the handshake. */
export function parseChangeUser(reader: ByteReader, capabilities: number): ChangeUser | Violation {
  const user = reader.untilNul();
  const authData = reader.take(reader.u8());
  const database = reader.untilNulOrEnd();
  // Everything behind the database is optional, in this order.
  const collation = reader.remaining >= 2 ? reader.u16() : undefined;
  const plugin = pluginOf(reader, capabilities);
  const attributes = attributesOf(reader, capabilities);
  if (reader.failed || attributes === undefined) {
    return violation("malformed", "change of user cut short");
  }
  return {
    kind: "changeUser",
    user,
    authData,
    database: database.length === 0 ? undefined : database,
    collation,
    plugin,
    attributes,
  };
}

function authDataOf(reader: ByteReader, capabilities: number): Uint8Array {
  if ((capabilities & capability.pluginAuthLenencData) !== 0) return reader.lenencBytes();
  if ((capabilities & capability.secureConnection) !== 0) return reader.take(reader.u8());
  return reader.untilNul();
}

function pluginOf(reader: ByteReader, capabilities: number): string | undefined {
  if ((capabilities & capability.pluginAuth) === 0 || reader.remaining === 0) return undefined;
  return utf8.decode(reader.untilNulOrEnd());
}

/** Undefined when the pairs do not fill their length exactly, or are too many. */
function attributesOf(
  reader: ByteReader,
  capabilities: number,
): ReadonlyMap<string, string> | undefined {
  const attributes = new Map<string, string>();
  if ((capabilities & capability.connectAttrs) === 0 || reader.remaining === 0) return attributes;
  const pairs = new ByteReader(reader.lenencBytes());
  for (let count = 0; pairs.remaining > 0; count += 1) {
    const name = utf8.decode(pairs.lenencBytes());
    const value = utf8.decode(pairs.lenencBytes());
    if (pairs.failed || count === attributesMax) return undefined;
    attributes.set(name, value);
  }
  return attributes;
}
