/**
 * What a server says of its own accord to a session that keeps its connection: notifications, changed settings, its
 * end. A client at rest hears it at once; one that waits for an answer hears it with that.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Kept, KeptListener } from "@gateway/core/query/pin.ts";
import type { Outbox } from "../outbox.ts";

/** Most bytes that wait behind an answer. A server may have notified of much more. */
const waitingBytesMax = 4 * 1024 * 1024;

export interface HeardParts {
  readonly out: Outbox;
  /** Ends the client's connection with this error. */
  readonly gone: (error: GatewayError) => void;
  /** The process as which the client was told to know itself. */
  readonly process: number;
  /** The connection that the session keeps. */
  readonly kept: () => Kept | undefined;
}

const lost = gatewayError("engine.broken", { detail: "the session's connection ended" });

export class Heard {
  readonly #parts: HeardParts;
  /** The client waits for an answer. */
  #working = false;
  /** Something was told that leaves with the end of the turn. */
  #leaving = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** More was said than a client may leave unread. */
  #flooded = false;
  /** Values of reported settings, as the client was told them; and those that are not told yet. */
  readonly #told = new Map<string, string>();
  readonly #changed = new Map<string, string>();

  constructor(parts: HeardParts) {
    this.#parts = parts;
  }

  /** The client was told this value. */
  told(name: string, value: string): void {
    this.#told.set(name, value);
  }

  /** A message came that will be answered. */
  work(): void {
    this.#working = true;
  }

  /** Writes what waited, before the client is told that it may go on. False when its connection is over. */
  rest(): boolean {
    this.#working = false;
    const { out, gone, kept } = this.#parts;
    if (this.#waiting.length > 0) {
      for (const bytes of this.#waiting) out.writer.bytes(bytes);
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
    this.#tellChanges();
    const over = this.#flooded || kept()?.state === "ended";
    if (over) gone(lost);
    return !over;
  }

  /** Listens to a connection. `settings`: its server's settings are the session's. */
  listener(settings: boolean): KeptListener {
    return {
      message: (bytes) => this.#message(bytes),
      status: (name, value) => {
        if (settings) this.#status(name, value);
      },
      over: (why) => {
        if (!this.#working) this.#parts.gone(why ?? lost);
      },
    };
  }

  #message(bytes: Uint8Array): Promise<void> | undefined {
    const { out, process } = this.#parts;
    named(bytes, process);
    if (!this.#working) {
      out.writer.bytes(bytes);
      return out.full ? out.flush() : this.#leaveTogether();
    }
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes <= waitingBytesMax) this.#waiting.push(bytes);
    else this.#flooded = true;
    return undefined;
  }

  /** What a server says at once is read at once, as from itself: drivers that take a batch end it where a read did. */
  #leaveTogether(): undefined {
    if (this.#leaving) return;
    this.#leaving = true;
    setImmediate(() => {
      this.#leaving = false;
      // Otherwise it goes before the answer.
      if (!this.#working) void this.#parts.out.flush();
    });
  }

  #status(name: string, value: string): void {
    // The gateway keeps the client's own name and encoding.
    if (name === "client_encoding" || !this.#told.has(name) || this.#told.get(name) === value)
      return;
    this.#changed.set(name, value);
    if (this.#working) return;
    this.#tellChanges();
    void this.#parts.out.flush();
  }

  #tellChanges(): void {
    // To empty an empty map makes it anew, and there is nothing to tell behind most statements.
    if (this.#changed.size === 0) return;
    for (const [name, value] of this.#changed) {
      this.#told.set(name, value);
      this.#parts.out.put({ kind: "parameterStatus", name, value });
    }
    this.#changed.clear();
  }
}

const notificationResponse = 0x41;

/** A client tells its own notifications from others' by its process, for which it was told another than the server's. */
function named(bytes: Uint8Array, process: number): void {
  if (bytes[0] !== notificationResponse || bytes.length < 9) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getInt32(5) === 0) view.setInt32(5, process);
}
