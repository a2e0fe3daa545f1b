/** A client that speaks bytes: for what no client package can be made to send. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PacketReader, type Packet } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { OpenServer } from "./mysql.ts";

/** What this client agrees to unless told. */
export const flags =
  capability.protocol41 |
  capability.secureConnection |
  capability.pluginAuth |
  capability.deprecateEof |
  capability.sessionTrack;

/** Speaks bytes. */
export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** Of a login. */
  greeting: Buffer = Buffer.alloc(0);
  readonly #reader = new PacketReader(1 << 26);
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, "close");
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk);
      this.#wake();
    });
    socket.on("close", () => this.#wake());
  }

  /** Logs in under provider none. `mariadb`: flags of MariaDB's own. */
  static async login(
    server: OpenServer,
    capabilities: number = flags,
    mariadb = 0,
  ): Promise<RawClient> {
    const client = new RawClient(connect(server.port, "127.0.0.1"));
    client.greeting = Buffer.from(await client.answer(), "hex");
    client.socket.write(packetOf(responseHex("mysql_native_password", capabilities, mariadb), 1));
    if (!(await client.answer()).startsWith("00")) throw new Error("the login was refused");
    return client;
  }

  /** Commands as digits, all in one write. */
  send(...commands: readonly string[]): void {
    this.socket.write(Buffer.concat(commands.map((hex) => packetOf(hex, 0))));
  }

  /** The next packet as digits. */
  async answer(): Promise<string> {
    return Buffer.from((await this.#packet()).payload).toString("hex");
  }

  /** So many packets as digits. */
  async answers(count: number): Promise<readonly string[]> {
    const found: string[] = [];
    while (found.length < count) found.push(await this.answer());
    return found;
  }

  /** The number of the error that comes next. */
  async errno(): Promise<number | undefined> {
    const { payload } = await this.#packet();
    return payload[0] === 0xff ? (payload[1] ?? 0) | ((payload[2] ?? 0) << 8) : undefined;
  }

  async #packet(): Promise<Packet> {
    for (;;) {
      const step = this.#reader.next();
      if (step.kind === "packet") return step;
      if (step.kind === "violation" || this.socket.closed) throw new Error("no packet came");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** One packet of digits. */
export function packetOf(hex: string, sequence: number): Buffer {
  const out = new PacketWriter();
  out.sequence = sequence;
  out.begin();
  out.raw(Buffer.from(hex, "hex"));
  out.end();
  return Buffer.from(out.release());
}

/** The client's first packet, for user `ann` without a password. */
export function responseHex(plugin: string, capabilities: number = flags, mariadb = 0): string {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(capabilities >>> 0);
  head.writeUInt32LE(mariadb, 28);
  head[8] = 255;
  return `${head.toString("hex")}${ascii("ann")}0000${ascii(plugin)}00`;
}

/** Text as digits. */
export function ascii(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}
