/**
 * A PostgreSQL client for tests that sends exactly the bytes it is told to and shows every message it
 * gets. It knows no query and no pool, so that a test can break any rule.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";

/** A message of the server: its letter and its body. */
export interface Seen {
  readonly type: string;
  readonly body: Buffer;
}

export class RawClient implements AsyncDisposable {
  #socket: Socket;
  #bytes = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#watch(socket);
  }

  /** Connects without sending anything. */
  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1" });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new RawClient(socket);
  }

  /** Connects and starts a session; answers when the server is ready. */
  static async start(port: number, parameters: Record<string, string> = {}): Promise<RawClient> {
    const client = await RawClient.open(port);
    client.send(startupOf({ user: "ann", ...parameters }));
    await client.until("Z");
    return client;
  }

  send(...parts: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(parts));
  }

  /** Stops reading, as a slow client does. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Sends no more, and still reads. */
  finish(): void {
    this.#socket.end();
  }

  /** Leaves without a word. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** The next byte outside of any message. */
  async byte(): Promise<string> {
    await this.#have(1);
    const letter = String.fromCharCode(this.#bytes[0] ?? 0);
    this.#bytes = this.#bytes.subarray(1);
    return letter;
  }

  /** The next message; undefined when the server closed the connection. */
  async next(): Promise<Seen | undefined> {
    if (!(await this.#have(5))) return undefined;
    const length = this.#bytes.readInt32BE(1);
    if (!(await this.#have(1 + length))) return undefined;
    const type = String.fromCharCode(this.#bytes[0] ?? 0);
    const body = this.#bytes.subarray(5, 1 + length);
    this.#bytes = this.#bytes.subarray(1 + length);
    return { type, body };
  }

  /** Messages up to and with the first of type `last`, or to the end of the connection. */
  async until(last: string): Promise<readonly Seen[]> {
    const seen: Seen[] = [];
    for (;;) {
      const message = await this.next();
      if (message === undefined) return seen;
      seen.push(message);
      if (message.type === last) return seen;
    }
  }

  /** Everything until the server closes the connection. */
  rest(): Promise<readonly Seen[]> {
    return this.until("");
  }

  /** Goes over to TLS after the server agreed, or at once. */
  async secure(more: ConnectionOptions = {}): Promise<void> {
    this.#socket.removeAllListeners();
    const secured = connectTls({
      socket: this.#socket,
      rejectUnauthorized: false,
      ...more,
    });
    await new Promise<void>((resolve, reject) => {
      secured.once("secureConnect", resolve);
      secured.once("error", reject);
    });
    this.#socket = secured;
    this.#watch(secured);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await Promise.resolve();
  }

  #watch(socket: Socket): void {
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake?.();
    });
    const over = () => {
      this.#ended = true;
      this.#wake?.();
    };
    socket.on("end", over);
    socket.on("close", over);
    socket.on("error", over);
  }

  /** False when the connection ended before. */
  async #have(bytes: number): Promise<boolean> {
    while (this.#bytes.length < bytes) {
      if (this.#ended) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return true;
  }
}

/** A start-up packet. */
export function startupOf(parameters: Record<string, string>, version = 0x00030000): Uint8Array {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [
    textOf(name),
    textOf(value),
  ]);
  return untypedOf(int32(version), ...pairs, Uint8Array.of(0));
}

/** A packet without a type byte. */
export function untypedOf(...parts: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length + 4), body]);
}

export const sslRequest = untypedOf(int32(80877103));
export const gssRequest = untypedOf(int32(80877104));

export function cancelOf(key: {
  readonly process: number;
  readonly secret: Uint8Array;
}): Uint8Array {
  return untypedOf(int32(80877102), int32(key.process), key.secret);
}

/** A message with its type. */
export function messageOf(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

export const sync = messageOf("S");
export const flush = messageOf("H");

export function queryOf(sql: string): Uint8Array {
  return messageOf("Q", textOf(sql));
}

export function parseOf(name: string, sql: string, types: readonly number[] = []): Uint8Array {
  return messageOf(
    "P",
    textOf(name),
    textOf(sql),
    int16(types.length),
    Buffer.concat(types.map(int32)),
  );
}

export interface Binding {
  readonly portal?: string;
  readonly statement?: string;
  readonly formats?: readonly number[];
  readonly values?: readonly (Uint8Array | string | null)[];
  readonly resultFormats?: readonly number[];
}

export function bindOf(binding: Binding = {}): Uint8Array {
  const { portal = "", statement = "", formats = [], values = [], resultFormats = [] } = binding;
  return messageOf(
    "B",
    textOf(portal),
    textOf(statement),
    int16(formats.length),
    ...formats.map(int16),
    int16(values.length),
    Buffer.concat(values.flatMap(valueOf)),
    int16(resultFormats.length),
    ...resultFormats.map(int16),
  );
}

export function describeOf(target: "S" | "P", name = ""): Uint8Array {
  return messageOf("D", Buffer.from(target), textOf(name));
}

export function executeOf(portal = "", maxRows = 0): Uint8Array {
  return messageOf("E", textOf(portal), int32(maxRows));
}

export function closeOf(target: "S" | "P", name: string): Uint8Array {
  return messageOf("C", Buffer.from(target), textOf(name));
}

/** Letters of the messages, for comparing whole answers. */
export function letters(seen: readonly Seen[]): string {
  return seen.map(({ type }) => type).join("");
}

/** Fields of an error or notice by their letter. */
export function fieldsOf({ body }: Seen): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const field of body.toString("utf8").split("\0")) {
    if (field !== "") fields[field.charAt(0)] = field.slice(1);
  }
  return fields;
}

/** Cells of a row as text; null for NULL. */
export function cellsOf(row: Seen): readonly (string | null)[] {
  return rawCellsOf(row).map((cell) => cell?.toString("utf8") ?? null);
}

/** Cells of a row as bytes. */
export function rawCellsOf({ body }: Seen): readonly (Buffer | null)[] {
  const cells: (Buffer | null)[] = [];
  let at = 2;
  for (let column = 0; column < body.readInt16BE(0); column += 1) {
    const length = body.readInt32BE(at);
    at += 4;
    cells.push(length < 0 ? null : body.subarray(at, at + length));
    at += Math.max(0, length);
  }
  return cells;
}

/** Name and value of a parameter status. */
export function statusOf({ body }: Seen): readonly [string, string] {
  const [name = "", value = ""] = body.toString("utf8").split("\0");
  return [name, value];
}

/** The key in the server's greeting. */
export function keyOf(seen: readonly Seen[]): { process: number; secret: Uint8Array } {
  const body = seen.find(({ type }) => type === "K")?.body ?? Buffer.alloc(4);
  return { process: body.readInt32BE(0), secret: body.subarray(4) };
}

export function textOf(text: string): Uint8Array {
  return Buffer.from(`${text}\0`, "utf8");
}

export function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

export function int16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function valueOf(value: Uint8Array | string | null): Uint8Array[] {
  if (value === null) return [int32(-1)];
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return [int32(bytes.length), bytes];
}
