/** Where answers gather until they are worth a write. Nothing is sent before `flush`. */
import { setImmediate } from "node:timers/promises";
import type { BackendMessage } from "@gateway/wire/postgres/message.ts";
import { writeBackend } from "@gateway/wire/postgres/backend.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";

/** Bytes that are worth a write of their own. */
export const flushBytes = 64 * 1024;
/** Room behind them for the row that crosses the line. */
const slackBytes = 8 * 1024;
/** Writes that were taken at once before other connections get a turn: about a megabyte. */
const writesPerTurn = 16;

export class Outbox {
  readonly writer = new ByteWriter((bytes) => Buffer.allocUnsafeSlow(bytes));
  readonly #send: Send;
  #writes = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  put(message: BackendMessage): void {
    writeBackend(this.writer, message);
  }

  /** True when what gathered should leave. */
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
   * Sends what gathered in the middle of a result: waits for a slow client, but no longer than the query
   * lives, because its slot is not the client's to hold.
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

  /** A fast engine and a fast client would otherwise never let anything else of the process happen. */
  async #breathe(): Promise<void> {
    this.#writes += 1;
    if (this.#writes % writesPerTurn === 0) await setImmediate();
  }

  /** Undefined when the client took everything, otherwise a promise for that. Never rejects. */
  flush(): Promise<void> | undefined {
    return this.writer.length === 0 ? undefined : this.#send(this.writer.take());
  }
}

/** Undefined when the bytes have left, otherwise a promise for that, which also resolves when the client is gone. */
export type Send = (bytes: Uint8Array) => Promise<void> | undefined;
