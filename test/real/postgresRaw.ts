/** A client of PostgreSQL that sends and answers bytes: drivers know UTF-8 alone. */
import { connect, type Socket } from "node:net";
import { FrameReader, type Frame } from "@gateway/wire/postgres/frame.ts";
import { serverTypes } from "@gateway/wire/postgres/server.ts";

/** What came of one message or series. */
export interface RawAnswer {
  /** Cells of all rows. */
  readonly cells: readonly Buffer[];
  readonly texts: readonly string[];
  readonly names: readonly Buffer[];
  /** Fields of the error by their letters. */
  readonly error: ReadonlyMap<string, Buffer> | undefined;
}

export type Raw = PgRaw;

export class PgRaw {
  readonly statuses = new Map<string, string>();
  readonly #socket: Socket;
  readonly #frames = new FrameReader();
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.#frames.push(bytes);
      this.#wake?.();
    });
    socket.on("close", () => this.#wake?.());
    socket.on("error", () => undefined);
  }

  static async open(
    port: number,
    database: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<PgRaw> {
    const raw = new PgRaw(connect(port, "127.0.0.1"));
    const pairs = Object.entries({ user: "ann", database, ...settings }).flat();
    const body = Buffer.from(`\0\x03\0\0${pairs.map((text) => `${text}\0`).join("")}\0`);
    const { error } = await raw.#asked(sized(body));
    if (error !== undefined) throw new Error(error.get("M")?.toString("latin1"));
    return raw;
  }

  async query(sql: string | Uint8Array): Promise<RawAnswer> {
    return await this.#asked(message("Q", sql, "\0"));
  }

  /** The same with one value, in text. */
  async bound(sql: string, value: Uint8Array): Promise<RawAnswer> {
    const length = Buffer.alloc(4);
    length.writeInt32BE(value.length);
    return await this.#asked(
      Buffer.concat([
        message("P", "\0", sql, "\0\0\0"),
        message("B", "\0\0\0\0\0\x01", length, value, "\0\0"),
        message("D", "P\0"),
        message("E", "\0\0\0\0\0"),
        message("S"),
      ]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.end(message("X"));
    await closed;
  }

  async #asked(bytes: Uint8Array): Promise<RawAnswer> {
    this.#socket.write(bytes);
    const cells: Buffer[] = [];
    const names: Buffer[] = [];
    let error: ReadonlyMap<string, Buffer> | undefined;
    for (;;) {
      const frame = await this.#frame();
      if (frame === undefined) throw new Error("the connection ended");
      const body = Buffer.from(frame.body);
      const letter = String.fromCharCode(frame.type);
      if (letter === "S") {
        const [name = "", value = ""] = body.toString().split("\0");
        this.statuses.set(name, value);
      }
      if (letter === "D") cells.push(...cellsOf(body));
      if (letter === "T") names.push(...namesOf(body));
      if (letter === "E") error = fieldsOf(body);
      if (letter === "Z") return { cells, names, error, texts: cells.map(String) };
    }
  }

  async #frame(): Promise<Frame | undefined> {
    for (;;) {
      const step = this.#frames.next({ types: serverTypes, maxBytes: 1 << 20 });
      if (step.kind === "frame") return step.frame;
      if (step.kind !== "wait" || this.#socket.destroyed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function sized(body: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

function message(letter: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(letter), sized(body)]);
}

function cellsOf(body: Buffer): Buffer[] {
  const cells: Buffer[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const length = Math.max(0, body.readInt32BE(at));
    cells.push(body.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return cells;
}

function namesOf(body: Buffer): Buffer[] {
  const names: Buffer[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const end = body.indexOf(0, at);
    names.push(body.subarray(at, end));
    at = end + 19;
  }
  return names;
}

function fieldsOf(body: Buffer): ReadonlyMap<string, Buffer> {
  const fields = new Map<string, Buffer>();
  for (let at = 0; body[at] !== 0;) {
    const end = body.indexOf(0, at);
    fields.set(String.fromCharCode(body[at] ?? 0), body.subarray(at + 1, end));
    at = end + 1;
  }
  return fields;
}
