/**
 * A server of MySQL's family whose users log in with their own password in clear, under TLS, as those of
 * a directory do. It remembers every login and every statement with who sent it.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket, type TlsOptions } from "node:tls";
import {
  parseHandshake,
  putAuthSwitch,
  putGreeting,
  type HandshakeResponse,
} from "@gateway/wire/mysql/handshake.ts";
import { PacketReader } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import {
  capability,
  collationId,
  columnType,
  commandCode,
  packetHeaderBytes,
} from "@gateway/wire/mysql/protocol.ts";
import { putColumn, putColumnCount, putEof, putError, putOk } from "@gateway/wire/mysql/reply.ts";

export type MysqlMood =
  | "well"
  /** Takes a login and never answers it. */
  | "silent"
  /** Keeps the first 32 characters of a name, as MySQL does. */
  | "clipping"
  /** Has no place for anybody, and says so in the greeting's place. */
  | "full"
  /** Says that it has no TLS, as somebody in the middle would. */
  | "plain";

export interface SeenLogin {
  readonly user: Buffer;
  readonly password: string;
  readonly encrypted: boolean;
  readonly database: string | undefined;
}

export interface SeenStatement {
  readonly user: string;
  readonly sql: string;
}

interface Peer {
  readonly id: number;
  stream: Duplex;
  user: string;
  /** Answers what waits, when it is killed. */
  kill: (() => void) | undefined;
  running: string | undefined;
}

const capabilities =
  capability.protocol41 |
  capability.secureConnection |
  capability.pluginAuth |
  capability.connectWithDb |
  capability.transactions |
  capability.ssl;
const payloadBytesMax = 1_000_000;
/** A whole packet: a handshake response up to its user. */
const sslRequestBytes = 36;
const nonce = Buffer.from("abcdefghijklmnopqrst");

export class FakeMysql implements AsyncDisposable {
  readonly #server: Server;
  readonly #tls: TlsOptions;
  readonly #passwords: ReadonlyMap<string, string>;
  readonly #peers = new Map<number, Peer>();
  readonly #sockets = new Set<Socket>();
  mood: MysqlMood = "well";
  /** Errors that a login gets although its password is right. */
  refusal: { readonly errno: number; readonly sqlState: string } | undefined;
  /** Variables that it does not know. */
  unknownVariables: readonly string[] = [];
  /** Answers `KILL QUERY` and lets the statement go on. */
  deaf = false;
  readonly logins: SeenLogin[] = [];
  readonly statements: SeenStatement[] = [];
  /** Bytes that came without TLS, but for requests for it. */
  bytesInClear = 0;
  #ids = 0;
  #waiting: { readonly count: number; readonly wake: () => void }[] = [];

  private constructor(tls: TlsOptions, passwords: ReadonlyMap<string, string>) {
    this.#tls = tls;
    this.#passwords = passwords;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /** `passwords` by name; a name that is not there is refused. */
  static async start(tls: TlsOptions, passwords: ReadonlyMap<string, string>): Promise<FakeMysql> {
    const fake = new FakeMysql(tls, passwords);
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when so many statements wait to be killed. */
  waits(count = 1): Promise<void> {
    if (this.waiting >= count) return Promise.resolve();
    return new Promise((wake) => {
      this.#waiting.push({ count, wake });
    });
  }

  /** Statements that wait to be killed. */
  get waiting(): number {
    return [...this.#peers.values()].filter(({ kill }) => kill !== undefined).length;
  }

  /** Ends every statement that waits. */
  endAll(): void {
    for (const { kill } of this.#peers.values()) kill?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.#ids += 1;
    const peer: Peer = {
      id: this.#ids,
      stream: socket,
      user: "",
      kill: undefined,
      running: undefined,
    };
    this.#peers.set(peer.id, peer);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#peers.delete(peer.id);
    });
    if (this.mood === "full") {
      return say(peer, 0, (out) =>
        putError(out, { errno: 1040, sqlState: "08004", message: "Too many connections" }),
      );
    }
    say(peer, 0, (out) =>
      putGreeting(out, {
        serverVersion: "8.0.0-fake",
        connectionId: peer.id,
        nonce,
        capabilities: this.mood === "plain" ? capabilities & ~capability.ssl : capabilities,
        collation: collationId.utf8mb4,
        status: 2,
        plugin: "mysql_native_password",
      }),
    );
    this.#converse(peer, socket);
  }

  /** Waits for the request for TLS, and reads nothing that stands behind it in clear. */
  #converse(peer: Peer, socket: Socket): void {
    let seen = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      seen = Buffer.concat([seen, bytes]);
      if (seen.length < sslRequestBytes) return;
      const first = parseHandshake(seen.subarray(packetHeaderBytes, sslRequestBytes));
      if (first.kind !== "sslRequest") {
        this.bytesInClear += seen.length;
        return void socket.destroy();
      }
      socket.removeAllListeners("data");
      socket.pause();
      socket.unshift(seen.subarray(sslRequestBytes));
      this.#secured(peer, socket);
    });
  }

  #secured(peer: Peer, socket: Socket): void {
    let response: HandshakeResponse | undefined;
    let state: "handshake" | "password" | "in" = "handshake";
    const secure = new TLSSocket(socket, { isServer: true, ...this.#tls });
    secure.on("error", () => socket.destroy());
    peer.stream = secure;
    reading(secure, (payload, at) => {
      if (this.mood === "silent") return;
      if (state === "in") return this.#command(peer, payload);
      if (state === "password") {
        state = "in";
        return this.#judge(peer, response, payload, at);
      }
      const told = parseHandshake(payload);
      if (told.kind !== "handshakeResponse") return void socket.destroy();
      response = told;
      state = "password";
      say(peer, at + 1, (out) => putAuthSwitch(out, "mysql_clear_password", nonce));
    });
  }

  #judge(
    peer: Peer,
    response: HandshakeResponse | undefined,
    payload: Uint8Array,
    at: number,
  ): void {
    const user = Buffer.from(response?.user ?? []);
    const password = Buffer.from(payload).toString("utf8").split("\0")[0] ?? "";
    const database =
      response?.database === undefined ? undefined : Buffer.from(response.database).toString();
    this.logins.push({ user, password, encrypted: peer.stream instanceof TLSSocket, database });
    const name = user.toString("utf8");
    peer.user = this.mood === "clipping" ? name.slice(0, 32) : name;
    const message = `Access denied for user '${peer.user}'@'localhost' with ${password}`;
    if (this.refusal !== undefined) {
      const { refusal } = this;
      return say(peer, at + 1, (out) => putError(out, { ...refusal, message }));
    }
    if (this.#passwords.get(peer.user) !== password) {
      return say(peer, at + 1, (out) => putError(out, { errno: 1045, sqlState: "28000", message }));
    }
    say(peer, at + 1, (out) => putOk(out, okReply, capabilities));
  }

  #command(peer: Peer, payload: Uint8Array): void {
    if (payload[0] !== commandCode.query) return void peer.stream.destroy();
    const sql = Buffer.from(payload.subarray(1)).toString("utf8");
    const text = sql.replace(/^\/\*.*?\*\/ /, "");
    this.statements.push({ user: peer.user, sql: text });
    peer.running = sql;
    const asked = text.trim().toLowerCase();
    if (asked.startsWith("kill query ")) return this.#kill(peer, Number(asked.slice(11)));
    if (asked === "select sleep") return this.#sleep(peer);
    peer.running = undefined;
    if (asked === "select @@sql_mode") return rows(peer, [["STRICT_TRANS_TABLES"]]);
    if (asked === "select user()") return rows(peer, [[`${peer.user}@localhost`]]);
    if (asked === "select current_user()") return rows(peer, [[peer.user]]);
    const [, variable = ""] = /^set session `(\w+)`/.exec(asked) ?? [];
    if (this.unknownVariables.includes(variable)) {
      const message = `Unknown system variable '${variable}'`;
      return say(peer, 1, (out) => putError(out, { errno: 1193, sqlState: "HY000", message }));
    }
    const literal = /^select '([^']*)'$/.exec(asked);
    if (literal !== null) return rows(peer, [[literal[1] ?? ""]]);
    if (asked === "show full processlist") return rows(peer, this.#list(peer.user));
    if (asked.startsWith("select c.table_schema")) {
      return rows(peer, [["demo", `of_${peer.user}`, "BASE TABLE", "id", "int", "NO"]]);
    }
    say(peer, 1, (out) => putOk(out, okReply, capabilities));
  }

  /** An account sees and ends its own statements; `gateway` everybody's. */
  #kill(peer: Peer, id: number): void {
    const found = this.#peers.get(id);
    peer.running = undefined;
    if (found === undefined || (found.user !== peer.user && peer.user !== "gateway")) {
      const message = "You are not owner of thread";
      return say(peer, 1, (out) => putError(out, { errno: 1095, sqlState: "HY000", message }));
    }
    say(peer, 1, (out) => putOk(out, okReply, capabilities));
    if (!this.deaf) found.kill?.();
  }

  #sleep(peer: Peer): void {
    peer.kill = () => {
      peer.kill = undefined;
      peer.running = undefined;
      const message = "Query execution was interrupted";
      say(peer, 1, (out) => putError(out, { errno: 1317, sqlState: "70100", message }));
    };
    const { waiting } = this;
    for (const { count, wake } of this.#waiting) if (count <= waiting) wake();
    this.#waiting = this.#waiting.filter(({ count }) => count > waiting);
  }

  #list(user: string): readonly (readonly string[])[] {
    return [...this.#peers.values()]
      .filter((one) => one.user === user || user === "gateway")
      .map((one) => [
        `${one.id}`,
        one.user,
        one.running === undefined ? "Sleep" : "Query",
        one.running ?? "",
      ]);
  }
}

const okReply = { affectedRows: 0, insertId: 0n, status: 2, warnings: 0, info: "", tracked: [] };

function reading(stream: Duplex, take: (payload: Uint8Array, sequence: number) => void): void {
  const reader = new PacketReader(payloadBytesMax);
  stream.on("data", (bytes: Buffer) => {
    reader.push(bytes);
    for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
      if (step.kind !== "packet") return void stream.destroy();
      take(step.payload, step.lastSequence);
    }
  });
}

function say(peer: Peer, sequence: number, put: (out: PacketWriter) => void): void {
  const out = new PacketWriter();
  out.sequence = sequence;
  out.begin();
  put(out);
  out.end();
  peer.stream.write(out.release());
}

function rows(peer: Peer, cells: readonly (readonly string[])[]): void {
  const out = new PacketWriter();
  out.sequence = 1;
  const packet = (put: () => void): void => {
    out.begin();
    put();
    out.end();
  };
  const width = cells[0]?.length ?? 1;
  packet(() => putColumnCount(out, width));
  for (let index = 0; index < width; index += 1) {
    packet(() => putColumn(out, { ...column, name: `c${index}` }));
  }
  packet(() => putEof(out, 2, 0));
  for (const row of cells) {
    packet(() => {
      for (const cell of row) out.lenencText(cell);
    });
  }
  packet(() => putEof(out, 2, 0));
  peer.stream.write(out.release());
}

const column = {
  schema: "",
  table: "",
  collation: collationId.utf8mb4,
  length: 1_024,
  type: columnType.varString,
  flags: 0,
  decimals: 0,
};
