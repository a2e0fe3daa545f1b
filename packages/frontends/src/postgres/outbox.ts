/** Gathers answers until they are worth a write. Only `flush` and `pass` send. */
import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import type { BackendMessage } from "@gateway/wire/postgres/message.ts";
import { writeBackend } from "@gateway/wire/postgres/backend.ts";
import { ByteWriter, Scratch } from "@gateway/wire/postgres/bytes.ts";
import { Breath } from "../turn.ts";

/** Bytes that are worth a write of their own. */
export const flushBytes = 64 * 1024;
/** Room behind them for the row that goes over that size. */
const slackBytes = 8 * 1024;

const scratch = new Scratch((bytes) => Buffer.allocUnsafe(bytes));

export class Outbox {
  readonly writer = new ByteWriter(scratch);
  readonly #send: Send;
  readonly #breath = new Breath();
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
    const bytes = this.writer.length;
    await this.#left(this.flush(), bytes, signal);
  }

  /**
   * Sends what gathered, and behind it rows that are written already. They are this one's from here on: they are given
   * back once they have left.
   */
  async passOn(rows: Uint8Array, signal: AbortSignal): Promise<void> {
    void this.flush();
    const isKept = this.#aside !== undefined;
    const sent = this.#put(rows);
    const leaving = this.#left(sent, rows.length, signal);
    if (isKept) return await leaving;
    if (sent === undefined) giveBack(rows);
    else void sent.then(() => giveBack(rows));
    await leaving;
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

  async #left(sent: Promise<void> | undefined, bytes: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (sent === undefined) return await this.#breath.behind(bytes);
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        signal.removeEventListener("abort", settle);
        resolve();
      };
      signal.addEventListener("abort", settle);
      void sent.then(settle);
    });
  }

  /** Undefined when the client took everything, otherwise a promise for that. Never rejects. */
  flush(): Promise<void> | undefined {
    if (this.writer.length === 0) return undefined;
    return this.#put(this.writer.take());
  }

  #put(bytes: Uint8Array): Promise<void> | undefined {
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
