/**
 * Frames by chance over connections in memory: sound commands in any order, broken ones, and noise,
 * plain and compressed, cut into chunks anywhere.
 *
 * Every run comes from a seed. What must hold whatever comes: no bug, every answer made of whole
 * packets, no engine's query left running behind a connection, and an end.
 */
import { noModes } from "@gateway/core/sql/session/statement.ts";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { deflateSync, inflateSync } from "node:zlib";
import { gatewayError } from "@gateway/core/error.ts";
import { seededRandom, virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { FrameReader, frameHeader } from "@gateway/wire/mysql/compressed.ts";
import { PacketReader } from "@gateway/wire/mysql/packetReader.ts";
import { capability, commandCode } from "@gateway/wire/mysql/protocol.ts";
import { configOf } from "../../listener/rig/listener.ts";
import type { FollowedConnection } from "../../listener/connection.ts";
import { scriptedDoor, type Script } from "../../rig/scriptedDoor.ts";
import { MysqlConnection } from "../connection.ts";
import { Members } from "../run/members.ts";
import { doneOf, resultOf } from "./mysql.ts";
import { flags, packetOf, responseHex } from "./raw.ts";
import { textReader } from "../read/reading.ts";

type Random = () => number;

/** What one run did. */
export interface Fuzzed {
  readonly frames: number;
  readonly connections: number;
  /** Milliseconds of the connection that took longest. */
  readonly slowestMs: number;
}

const framesPerConnection = 200;
const int8 = { kind: "integer", bits: 8, signed: true } as const;
const text = { kind: "text" } as const;
const columns = [columnOf("a", int8), columnOf("b", text)];
const rows = resultOf(
  columns,
  [1n, null, 3n].map((value) => [value, value === null ? null : "ä'"]),
);

const texts = [
  "select 1",
  "select 1; insert x; select 1",
  "insert x",
  "broken",
  "begin",
  "commit",
  "rollback",
  "",
  "select $$",
  "select 'open",
  "set autocommit = 0",
  "set @a = 1, sql_select_limit = 2",
  "set session_track_system_variables = '*', session_track_transaction_info = 'CHARACTERISTICS'",
  "set names latin1",
  "select @@session.sql_mode, database()",
  "use nosuch",
  "kill query 1",
  "show warnings",
  "show /*!50002 full*/ columns from t",
  "show create table a.`b`",
  "select * from information_schema.tables where table_schema = database()",
  "select ?",
  "\u00e4\u{1f600}",
];

/** Sends that many frames, over as many connections as it takes. Throws with the seed when something does not hold. */
export async function fuzz(frames: number, seed: number): Promise<Fuzzed> {
  const random = seededRandom(seed);
  let sent = 0;
  let connections = 0;
  let slowestMs = 0;
  while (sent < frames) {
    const from = performance.now();
    try {
      sent += await fuzzConnection(random);
    } catch (error) {
      throw new Error(`seed ${seed}, connection ${connections}`, { cause: error });
    }
    slowestMs = Math.max(slowestMs, performance.now() - from);
    connections += 1;
  }
  return { frames: sent, connections, slowestMs };
}

async function fuzzConnection(random: Random): Promise<number> {
  const welcome = random() < 0.95;
  const compressed = welcome && random() < 0.3;
  const named = welcome && random() < 0.3;
  const client = memoryClient(named);
  if (welcome) client.push(loginOf(compressed, named));
  else client.push(noise(random, 1 + Math.floor(random() * 80)));
  await turn();
  const greeted = client.sent().length;
  const count = 1 + Math.floor(random() * framesPerConnection);
  let sent = 0;
  while (sent < count && !client.ended) {
    const bytes: Uint8Array[] = [];
    const together = 1 + Math.floor(random() * 12);
    for (let frame = 0; frame < together; frame += 1) {
      const packet = frameOf(random, named);
      bytes.push(compressed ? packedOf(random, packet) : packet);
    }
    sent += together;
    for (const chunk of chunksOf(Buffer.concat(bytes), random)) client.push(chunk);
    await turn();
  }
  await client.leave();
  const [bug] = client.bugs();
  if (bug !== undefined) throw bug instanceof Error ? bug : new Error("a bug was logged");
  if (!areWhole(client.sent().subarray(greeted), compressed)) {
    throw new Error("an answer that is not made of whole packets");
  }
  if (client.running() > 0) throw new Error("a query is left behind");
  return sent;
}

function scriptOf(named: boolean): Script {
  const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };
  const begun = [
    { kind: "session", change: { kind: "pinned", modes: noModes, pin } } as const,
    doneOf(),
  ];
  const over = [
    { kind: "session", change: { kind: "unpinned", outcome: "committed" } } as const,
    doneOf(),
  ];
  const description = { parameters: [], columns };
  return {
    ...(named && beforeMysql),
    answers: {
      "select 1": rows,
      "select ?": rows,
      "select $1": rows,
      "insert x": [doneOf({ updateCount: 1 })],
      broken: [{ kind: "failed", error: gatewayError("query.data") }],
      begin: begun,
      BEGIN: begun,
      commit: over,
      COMMIT: over,
      rollback: over,
    },
    descriptions: {
      "select 1": description,
      "select $1": { parameters: [text], columns },
      "select ?": { parameters: [text], columns },
      "insert x": { parameters: [], columns: [] },
      broken: { parameters: [], columns: [] },
    },
  };
}

/** A connection without a socket. */
function memoryClient(named: boolean) {
  const door = scriptedDoor(scriptOf(named));
  const host = virtualHost(1);
  const pieces: Buffer[] = [];
  const gone = new AbortController();
  const socket = Object.assign(new EventEmitter(), { pause: ignore, resume: ignore });
  let ended = false;
  const end = (): void => {
    ended = true;
    socket.removeAllListeners("data");
  };
  const connection: FollowedConnection = {
    // Of a socket the frontend uses no more than these.
    socket: socket as unknown as Socket,
    address: "127.0.0.1",
    secure: false,
    canUpgrade: false,
    protocolAgreed: false,
    config: configOf({ maxMessageBytes: 64 * 1024 }),
    closed: gone.signal,
    get over() {
      return gone.signal.aborted;
    },
    whenOver: (listener) => gone.signal.addEventListener("abort", listener, { once: true }),
    draining: false,
    upgrade: async () => undefined,
    certificateNames: () => [],
    channelBinding: () => undefined,
    credentialShown: ignore,
    handshakeDone: ignore,
    idle: ignore,
    send: (bytes) => {
      if (!ended) pieces.push(Buffer.from(bytes));
      return undefined;
    },
    end,
    destroy: end,
  };
  const passwordKey = () => Promise.reject(new Error("no password is asked for"));
  const parts = { door, host, members: new Members(host), passwordKey, startedMs: 0 };
  const read = textReader();
  new MysqlConnection(connection, { ...parts, read, port: () => 3306 }).start();
  return {
    push: (bytes: Uint8Array) => void socket.emit("data", Buffer.from(bytes)),
    sent: () => Buffer.concat(pieces),
    bugs: () => host.log.bugs,
    running: () => door.queries.length - door.ended.length,
    get ended() {
      return ended;
    },
    leave: async () => {
      gone.abort();
      for (let left = 0; left < 4; left += 1) await turn();
    },
  };
}

function ignore(): void {}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function loginOf(compressed: boolean, named: boolean): Uint8Array {
  const agreed = (compressed ? capability.compress : 0) | (named ? capability.queryAttributes : 0);
  const more = capability.multiStatements | agreed;
  return packetOf(responseHex("mysql_native_password", flags | more), 1);
}

/** Whether the bytes are whole packets, in whole frames where they are compressed. */
function areWhole(bytes: Buffer, compressed: boolean): boolean {
  const packets = new PacketReader(1 << 24);
  if (!compressed) packets.push(bytes);
  else if (!openFrames(bytes, packets)) return false;
  for (;;) {
    const step = packets.next();
    if (step.kind === "violation") return false;
    if (step.kind === "more") return packets.bufferedBytes === 0;
  }
}

function openFrames(bytes: Buffer, packets: PacketReader): boolean {
  let at = 0;
  while (at < bytes.length) {
    // Numbers begin anew with each command, so each frame is read for itself.
    const frames = new FrameReader();
    frames.expect(bytes[at + 3] ?? 0);
    frames.push(bytes.subarray(at));
    const frame = frames.next();
    if (frame.kind !== "frame") return false;
    packets.push(frame.contentBytes === undefined ? frame.bytes : inflateSync(frame.bytes));
    at = bytes.length - frames.bufferedBytes;
  }
  return true;
}

function packedOf(random: Random, packet: Uint8Array): Uint8Array {
  const chance = random();
  if (chance < 0.01) return noise(random, 1 + Math.floor(random() * 30));
  if (chance < 0.5) return Buffer.concat([frameHeader(packet.length, 0, 0), packet]);
  const packed = deflateSync(packet, { level: 1 });
  const length = chance < 0.99 ? packet.length : Math.floor(random() * 100_000);
  return Buffer.concat([frameHeader(packed.length, 0, length), packed]);
}

function frameOf(random: Random, named: boolean): Uint8Array {
  const command = named && random() < 0.7 ? namedOf(random) : commandOf(random);
  const sound = packetOf(command.toString("hex"), random() < 0.998 ? 0 : 1);
  const chance = random();
  if (chance < 0.985) return sound;
  if (chance < 0.99) return noise(random, 1 + Math.floor(random() * 40));
  const broken = Buffer.from(sound);
  if (chance < 0.996) {
    broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256);
    return broken;
  }
  return broken.subarray(0, Math.floor(random() * broken.length));
}

function commandOf(random: Random): Buffer {
  const sql = Buffer.from(pick(random, texts));
  const statement = uint32(1 + Math.floor(random() * 4));
  const code = commandCode;
  const makers: readonly (() => readonly Uint8Array[])[] = [
    () => [byte(code.query), sql],
    () => [byte(code.query), sql],
    () => [byte(code.stmtPrepare), sql],
    () => [byte(code.stmtExecute), statement, byte(random() < 0.5 ? 1 : 0), uint32(1)],
    () => [byte(code.stmtExecute), statement, byte(0), uint32(1), boundText],
    () => [byte(code.stmtExecute), statement, byte(1), uint32(1), noise(random, 12)],
    () => [byte(code.stmtFetch), statement, uint32(Math.floor(random() * 4))],
    () => [byte(code.stmtSendLongData), statement, noise(random, 2 + Math.floor(random() * 8))],
    () => [byte(code.stmtClose), statement],
    () => [byte(code.stmtReset), statement],
    () => [byte(code.initDb), sql],
    () => [byte(code.fieldList), sql],
    () => [byte(code.setOption), noise(random, 2)],
    () => [byte(pick(random, [code.ping, code.statistics, code.processInfo]))],
    () => [byte(code.resetConnection)],
    () => [byte(code.processKill), uint32(2)],
    () => [byte(Math.floor(random() * 256)), noise(random, Math.floor(random() * 20))],
    () => (random() < 0.1 ? [byte(code.changeUser), changeUser] : [byte(code.ping)]),
  ];
  return Buffer.concat(pick(random, makers)());
}

/** A text or an execution with attributes, sound or not. */
function namedOf(random: Random): Buffer {
  const sql = Buffer.from(pick(random, texts));
  const statement = uint32(1 + Math.floor(random() * 4));
  const execute = [byte(commandCode.stmtExecute), statement, byte(8), uint32(1)];
  const makers: readonly (() => readonly Uint8Array[])[] = [
    () => [byte(commandCode.query), Buffer.of(0, 1), sql],
    () => [byte(commandCode.query), named, sql],
    () => [byte(commandCode.query), named.subarray(0, Math.floor(random() * 20)), sql],
    () => [byte(commandCode.query), noise(random, 12), sql],
    () => [byte(commandCode.stmtPrepare), sql],
    () => [...execute, boundNamed],
    () => [...execute, byte(0)],
    () => [...execute, noise(random, 12)],
  ];
  return Buffer.concat(pick(random, makers)());
}

/** Two attributes of a text: `a` is `x`, `b` is NULL. */
const named = Buffer.from("02010201fd000161fd0001620178", "hex");
/** One parameter and one attribute. */
const boundNamed = Buffer.from("020001fd0000fd00016101780179", "hex");
const beforeMysql = {
  dialect: "mysql",
  speaks: "mysql",
  statuses: new Map([["query_attributes", "ON"]]),
} as const;

/** One parameter: not NULL, bound as VARCHAR, `x`. */
const boundText = Buffer.from("0001fd000178", "hex");
/** To user `bob` without a password, by the plugin that asks for none. */
const changeUser = Buffer.from("bob\0\0\0\u002d\0mysql_native_password\0", "latin1");

function byte(value: number): Uint8Array {
  return Uint8Array.of(value);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8, value >> 16, value >> 24);
}

function noise(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function* chunksOf(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  let at = 0;
  while (at < bytes.length) {
    const length = random() < 0.7 ? bytes.length : 1 + Math.floor(random() * 30);
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
