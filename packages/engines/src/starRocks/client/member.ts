/** One logged-in connection: bytes out, bytes in as they are asked for, and what the connection remembers. */
import type { Waiter } from "@gateway/core/query/asked.ts";
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import type { Duplex } from "node:stream";
import { characterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import { packetBytesMax, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import type { Connection } from "mysql2";
import { drained } from "../../connect/drained.ts";
import { atRest } from "../../connect/plainSocket.ts";
import { lentBytes } from "../../connect/readBuffer.ts";
import { turnWrites } from "../../connect/turn.ts";
import { halves, type Standing } from "../page/halves.ts";
import type { LoggedIn } from "./login.ts";

/** When so many bytes wait for their reader, the connection is read no further. */
const heldBytesMax = 256 * 1024;

/** What a connection of ours has from its login, as `SET NAMES` would say it. */
export const loginNames = "utf8mb4 COLLATE utf8mb4_general_ci";

export class Member {
  readonly driver: Connection;
  readonly threadId: number;
  readonly endsWithOk: boolean;
  readonly takesAttributes: boolean;
  readonly isMariadb: boolean;
  readonly greeted: LoggedIn["greeted"];
  /** Where the connection stands; undefined when nobody knows. */
  database: string | undefined;
  /** What `SET NAMES` it stands under. */
  names = loginNames;
  /** The set that it answers in; undefined for utf8mb4. Only engine `mysql` asks for another; `halves` is utf8mb3, and read so. */
  results: Standing | undefined;
  /** Session variables that were set on it. */
  readonly variables = new Map<string, string>();
  /** Time limits that were set on it; undefined when it has those that it began with, or nobody knows. */
  limit: string | undefined;
  /** Something may be left on it that another session must not meet: it is closed instead of being used again. */
  tainted = false;
  /** Number of the first packet of the answer to what was sent last. */
  answersFrom = 1;
  readonly #stream: Duplex;
  readonly #feed: LoggedIn["feed"];
  /** What came and was not read: mostly one piece, for which no list is made. */
  #first: Buffer | undefined;
  /** Behind it. */
  readonly #more: Buffer[] = [];
  #heldBytes = 0;
  #waiter: Waiter | undefined;
  #driving = false;
  #discarding = false;
  #wasLarge = false;
  /** Something was thrown away, so what comes now begins in the middle of a packet. */
  #cut = false;

  constructor(
    { driver, threadId, stream, feed, endsWithOk, takesAttributes, isMariadb, greeted }: LoggedIn,
    database: string | undefined,
  ) {
    this.driver = driver;
    this.threadId = threadId;
    this.endsWithOk = endsWithOk;
    this.takesAttributes = takesAttributes;
    this.isMariadb = isMariadb;
    this.greeted = greeted;
    this.database = database;
    this.#stream = stream;
    this.#feed = feed;
    stream.on("data", (bytes: Buffer) => this.#take(bytes));
    stream.on("close", () => this.#awake());
    stream.on("error", () => this.#awake());
    // An idle connection reads, so that its end is seen.
    stream.resume();
  }

  /** The text of an error; undefined where it comes as all texts do. */
  get decode(): ((bytes: Uint8Array) => string) | undefined {
    const { results } = this;
    return results && characterSet(results === halves ? "utf8mb3" : results).shown;
  }

  get open(): boolean {
    return !this.#stream.destroyed && this.#stream.readable;
  }

  /** Between two statements a server has nothing to say: bytes that nobody asked for are a lie, or belong to another answer. */
  get quiet(): boolean {
    return this.#heldBytes === 0;
  }

  /** Sends a command, or what follows one. */
  send(bytes: Uint8Array): void {
    this.answersFrom = numberBehind(bytes.length);
    turnWrites.write(this.#stream, bytes);
  }

  /** Resolves when what was sent has left, or the connection is over. */
  drained(): Promise<void> {
    return drained(this.#stream);
  }

  /** What came and was not read, where it came in one piece. */
  get held(): Buffer | undefined {
    return this.#more.length === 0 ? this.#first : undefined;
  }

  /** Takes it. */
  takeHeld(): void {
    this.#first = undefined;
    if (this.#more.length > 0) this.#more.length = 0;
    this.#heldBytes = 0;
  }

  /** Resolves when more came, or the connection is over. */
  more(): Promise<void> {
    return new Promise<void>((came) => this.wait({ came }));
  }

  /** The same for whoever needs no promise. */
  wait(waiter: Waiter): void {
    this.#waiter = waiter;
    if (this.#stream.isPaused()) this.#stream.resume();
  }

  /** The next bytes; undefined when the connection is over. A little is read ahead of the one who asks. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const chunk = this.#first;
      if (chunk !== undefined) {
        this.#first = this.#more.shift();
        this.#heldBytes -= chunk.length;
        return chunk;
      }
      if (!this.open) return undefined;
      await this.more();
    }
  }

  /** The answer to what was sent is over. */
  rest(): void {
    if (this.#wasLarge) atRest(this.#stream);
    this.#wasLarge = false;
  }

  /** Lets mysql2 read what comes, until the result is disposed. */
  drive(): Disposable {
    this.#driving = true;
    this.#stream.resume();
    return onDispose(() => {
      this.#driving = false;
    });
  }

  /**
   * Throws away what nobody reads. A server notices that its statement was ended only when it can send on:
   * until then it holds the statement, and the caller its slot. Once a byte was thrown away, `next` answers
   * only at the connection's end.
   */
  discard(): void {
    this.#discarding = true;
    if (this.#heldBytes >= heldBytesMax) this.#throwAway();
  }

  /** Calls back once when the connection is over, unless the result was disposed before. */
  ended(call: () => void): Disposable {
    if (this.#stream.destroyed) call();
    else this.#stream.once("close", call);
    return onDispose(() => void this.#stream.off("close", call));
  }

  destroy(): void {
    this.tainted = true;
    this.#stream.destroy();
    this.driver.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#driving) return this.#feed(bytes);
    if (this.#cut) return;
    if (bytes.length >= lentBytes) this.#wasLarge = true;
    if (this.#first === undefined) this.#first = bytes;
    else this.#more.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= heldBytesMax) {
      if (this.#discarding) return this.#throwAway();
      this.#stream.pause();
    }
    this.#awake();
  }

  #awake(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.came();
  }

  #throwAway(): void {
    this.#cut = true;
    this.takeHeld();
    this.#stream.resume();
  }
}

/** A command of 16 MB and more goes in several packets, an empty one behind full ones; the answer is numbered behind them. */
function numberBehind(length: number): number {
  return (Math.floor(length / (packetHeaderBytes + packetBytesMax)) + 1) & 0xff;
}
