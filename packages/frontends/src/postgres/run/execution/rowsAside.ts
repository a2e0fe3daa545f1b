/**
 * Rows set aside: the rest of a cursor's result, taken out of the engine so that its connection can run
 * another statement of the transaction.
 *
 * They stay in memory, as the messages that will be sent: a client's rows are written to no file. The rows of
 * each user are limited, and so are those of a listener, so that nobody takes all the room.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { getInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";

/** Bytes of all rows set aside of one user, and of a listener. */
const userBytesMax = 64 * 1024 * 1024;
const allBytesMax = 256 * 1024 * 1024;

/** Whose room is full: the user's, or that of all users of the listener. */
type Full = "user" | "listener";

/** How many bytes the rows set aside may take: those of one listener together, and those of each user. */
export class AsideRoom {
  #left: number;
  /** Bytes taken by user; who has none is not in it. */
  readonly #taken = new Map<string, number>();

  /** In bytes. */
  constructor(bytes = allBytesMax) {
    this.#left = bytes;
  }

  /** Takes bytes, or answers whose room is full and takes nothing. */
  take(user: string, bytes: number): Full | undefined {
    const taken = (this.#taken.get(user) ?? 0) + bytes;
    if (taken > userBytesMax) return "user";
    if (bytes > this.#left) return "listener";
    this.#left -= bytes;
    this.#taken.set(user, taken);
    return undefined;
  }

  give(user: string, bytes: number): void {
    this.#left += bytes;
    const taken = (this.#taken.get(user) ?? 0) - bytes;
    if (taken > 0) this.#taken.set(user, taken);
    else this.#taken.delete(user);
  }
}

const none = new Uint8Array(0);

/** Rows in order, written at the end and read from the beginning. */
export class RowsAside implements Disposable {
  readonly #room: AsideRoom;
  readonly #user: string;
  /** Oldest first, from `#next` on; those before it were read. */
  #pieces: Uint8Array[] = [];
  #next = 0;
  #bytes = 0;
  /** The piece that is read now. */
  #piece: Uint8Array = none;
  #at = 0;

  constructor(room: AsideRoom, user: string) {
    this.#room = room;
    this.#user = user;
  }

  /** Adds whole messages, which are kept as they are. Answers why there is no room. */
  add(messages: Uint8Array): GatewayError | undefined {
    const bytes = messages.length;
    const full = this.#room.take(this.#user, bytes);
    if (full !== undefined) return noRoom[full]();
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

  /** Writes up to `rows` of the rows that are ready, or drops them when there is no `out`; answers how many. */
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
    this.#room.give(this.#user, bytes);
  }
}

const noRoom = {
  user: () =>
    gatewayError("query.invalid", {
      sqlState: "53400",
      message:
        "the open cursors of this user have too many rows left to set them aside: 64 MB are kept for a user",
      hint: "Read cursors to their end or close them before the next statement of their transaction.",
    }),
  // Out of memory: the client can do nothing but wait.
  listener: () =>
    gatewayError("capacity.queueFull", {
      sqlState: "53200",
      message:
        "the gateway has no room to set the rows of this cursor aside: other users' open cursors take it",
      hint: "Try again later, or read the cursor to its end before the next statement.",
    }),
} satisfies Record<Full, () => GatewayError>;
