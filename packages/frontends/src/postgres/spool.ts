/**
 * Rows set aside: the rest of a cursor's result, taken out of the engine so that its connection can run
 * another statement of the transaction.
 *
 * They are kept as the messages they will be sent as, in memory: a client's rows are written to no
 * file. One spool and all spools of a listener together are bounded.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { getInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";

/** Bytes of one spool, and of all spools of a listener. */
const ownBytesMax = 64 * 1024 * 1024;
const allBytesMax = 256 * 1024 * 1024;

/** What the spools of one listener may take together. */
export class SpoolRoom {
  #left: number;

  /** In bytes. */
  constructor(bytes = allBytesMax) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

const none = new Uint8Array(0);

/** Rows in order, written at the end and read from the beginning. */
export class Spool implements Disposable {
  readonly #room: SpoolRoom;
  /** Oldest first, from `#next` on; those before it were read. */
  #pieces: Uint8Array[] = [];
  #next = 0;
  #bytes = 0;
  /** The piece that is read now. */
  #piece: Uint8Array = none;
  #at = 0;

  constructor(room: SpoolRoom) {
    this.#room = room;
  }

  /** Adds whole messages, which are kept as they are. Answers why there is no room. */
  add(messages: Uint8Array): GatewayError | undefined {
    const bytes = messages.length;
    if (this.#bytes + bytes > ownBytesMax || !this.#room.take(bytes)) return noRoom();
    this.#bytes += bytes;
    this.#pieces.push(messages);
    return undefined;
  }

  /** Makes the next rows ready. False when there are none left. */
  ready(): boolean {
    if (this.#at < this.#piece.length) return true;
    this.#give(this.#piece.length);
    this.#at = 0;
    this.#piece = none;
    if (this.#next >= this.#pieces.length) return false;
    this.#piece = this.#pieces[this.#next] ?? none;
    this.#pieces[this.#next] = none;
    this.#next += 1;
    return true;
  }

  /** Passes on up to `rows` of the rows that are ready, or passes over them when there is no `out`; answers how many. */
  take(rows: number, out: ByteWriter | undefined): number {
    const from = this.#at;
    let taken = 0;
    while (taken < rows && this.#at < this.#piece.length) {
      this.#at += 1 + getInt32(this.#piece, this.#at + 1);
      taken += 1;
    }
    out?.bytes(this.#piece.subarray(from, this.#at));
    return taken;
  }

  [Symbol.dispose](): void {
    this.#give(this.#bytes);
    this.#pieces = [];
    this.#piece = none;
  }

  #give(bytes: number): void {
    this.#bytes -= bytes;
    this.#room.give(bytes);
  }
}

function noRoom(): GatewayError {
  return gatewayError("query.invalid", {
    sqlState: "53400",
    message: "an open cursor of this transaction has too many rows left to set them aside",
    hint: "Read it to its end or close it before the next statement.",
  });
}
