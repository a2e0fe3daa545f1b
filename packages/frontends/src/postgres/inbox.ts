/**
 * What a client sent and was not answered yet: a bounded queue of bytes, read as frames.
 *
 * The socket is read while a statement runs, because a client that leaves is noticed by reading only.
 * It is stopped when a whole message waits for certain.
 */
import { FrameReader, type FrameRule, type FrameStep } from "@gateway/wire/postgres/frame.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { Ahead } from "./run/series.ts";

/** What may wait beside a message of the largest size. A client that leaves while more waits is noticed later. */
const readAheadBytes = 64 * 1024;

/** Sync ends a series; a Close in between changes nothing. */
const syncType = 0x53;
const closeType = 0x43;

export class Inbox {
  readonly #connection: FollowedConnection;
  readonly #maxBytes: () => number;
  readonly #reader = new FrameReader();
  #wake: (() => void) | undefined;
  #paused = false;

  /** `maxBytes` is the longest message that may come now. */
  constructor(connection: FollowedConnection, maxBytes: () => number) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.listen();
  }

  /** Reads the connection's socket, which TLS replaces. */
  listen(): void {
    this.#connection.socket.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk);
      // A whole message is there for certain: the client waits until it was answered.
      if (this.#reader.pending > this.#maxBytes() + readAheadBytes) {
        this.#paused = true;
        this.#connection.socket.pause();
      }
      this.#wake?.();
    });
  }

  /** Ends the wait for more: the client is gone. */
  wake(): void {
    this.#wake?.();
  }

  get pending(): number {
    return this.#reader.pending;
  }

  /** The first byte that was not taken. */
  peek(): number | undefined {
    return this.#reader.peek();
  }

  next(rule: FrameRule): FrameStep {
    return this.#reader.next(rule);
  }

  /** Everything that was not taken, for a handshake that is not ours. */
  rest(): Uint8Array {
    return this.#reader.rest();
  }

  /** Resolves when more has come or the client is gone. */
  more(): Promise<void> {
    if (this.#paused) {
      this.#paused = false;
      this.#connection.socket.resume();
    }
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#connection.over) resolve();
    });
  }

  /** What the client sent behind the message that is answered now; waits for it, as the client owes a Sync or a Flush. */
  ahead(): Ahead | Promise<Ahead> {
    return this.#reader.ahead(endsAhead) ?? this.#waitAhead();
  }

  async #waitAhead(): Promise<Ahead> {
    for (;;) {
      const found = this.#reader.ahead(endsAhead);
      if (found !== undefined) return found;
      if (this.#connection.over) return "gone";
      // More than the socket is let in with: what is ahead is too large to be a Sync.
      if (this.#paused && this.#reader.pending > this.#maxBytes()) return "more";
      await this.more();
    }
  }
}

/** What a message of this type says about the rest of the series; undefined when the next one tells. */
function endsAhead(type: number): "sync" | "more" | undefined {
  if (type === closeType) return undefined;
  return type === syncType ? "sync" : "more";
}
