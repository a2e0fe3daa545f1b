/** Gathers answers until they are worth a write. Only `flush` and `pass` send. */
import { setImmediate } from "node:timers/promises";
import type { BackendMessage } from "@gateway/wire/postgres/message.ts";
import { writeBackend } from "@gateway/wire/postgres/backend.ts";
import { ByteWriter, Scratch } from "@gateway/wire/postgres/bytes.ts";

/** Bytes that are worth a write of their own. */
export const flushBytes = 64 * 1024;
/** Room behind them for the row that goes over that size. */
const slackBytes = 8 * 1024;
/** After so many writes that the socket took at once, other connections get a turn: about a megabyte. */
const writesPerTurn = 16;

const scratch = new Scratch((bytes) => Buffer.allocUnsafe(bytes));

export class Outbox {
  readonly writer = new ByteWriter(scratch);
  readonly #send: Send;
  #writes = 0;
  #sent = 0;
  #aside: Aside | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  put(message: BackendMessage): void {
    writeBackend(this.writer, message);
  }

  /** The place behind everything that was put, by the bytes that were sent before. */
  get place(): number {
    return this.#sent + this.writer.length;
  }

  /** Takes back what was put between two places. False where some of it was sent. */
  takeBack(from: number, to: number): boolean {
    if (from < this.#sent) return false;
    const bytes = this.writer.take();
    this.writer.bytes(bytes.subarray(0, from - this.#sent));
    this.writer.bytes(bytes.subarray(to - this.#sent));
    return true;
  }

  /** True when enough gathered to be sent. */
  get full(): boolean {
    return this.writer.length >= flushBytes;
  }

  /** Makes room for a long result at once instead of growing towards it. */
  expectMuch(): void {
    if (this.writer.length < flushBytes) {
      this.writer.room(flushBytes - this.writer.length + slackBytes);
    }
  }

  /**
   * Sends what gathered in the middle of a result. It waits for a slow client, but only while the query lives:
   * a client that does not read must not hold a slot.
   */
  async pass(signal: AbortSignal): Promise<void> {
    const sent = this.flush();
    if (signal.aborted) return;
    if (sent === undefined) return await this.#breathe();
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        signal.removeEventListener("abort", settle);
        resolve();
      };
      signal.addEventListener("abort", settle);
      void sent.then(settle);
    });
  }

  /**
   * Takes what the work writes in place of the client, so that another message can be made of it. Undefined when that
   * is more than `bytesMax`, which are never held.
   */
  async aside<Value>(
    bytesMax: number,
    work: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly bytes: Uint8Array | undefined }> {
    const before = this.writer.take();
    const aside: Aside = { parts: [], bytes: 0, bytesMax };
    this.#aside = aside;
    try {
      const value = await work();
      void this.flush();
      const bytes = aside.bytes > bytesMax ? undefined : Buffer.concat(aside.parts);
      return { value, bytes };
    } finally {
      this.#aside = undefined;
      this.writer.bytes(before);
    }
  }

  /** Gives the rest of the process a turn: a fast engine and a fast client would never do so. */
  async #breathe(): Promise<void> {
    this.#writes += 1;
    if (this.#writes % writesPerTurn === 0) await setImmediate();
  }

  /** Undefined when the client took everything, otherwise a promise for that. Never rejects. */
  flush(): Promise<void> | undefined {
    if (this.writer.length === 0) return undefined;
    const bytes = this.writer.take();
    if (this.#aside === undefined) {
      this.#sent += bytes.length;
      return this.#send(bytes);
    }
    keep(this.#aside, bytes);
    return undefined;
  }
}

interface Aside {
  readonly parts: Uint8Array[];
  bytes: number;
  readonly bytesMax: number;
}

/** Counts what does not fit, and lets it go. */
function keep(aside: Aside, bytes: Uint8Array): void {
  aside.bytes += bytes.length;
  if (aside.bytes <= aside.bytesMax) aside.parts.push(bytes);
  else aside.parts.length = 0;
}

/** Undefined when the bytes have left, otherwise a promise for that, which also resolves when the client is gone. */
export type Send = (bytes: Uint8Array) => Promise<void> | undefined;
