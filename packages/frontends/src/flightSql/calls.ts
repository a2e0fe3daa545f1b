/**
 * Calls of gRPC as plain functions: a request's messages in, messages and one status out.
 *
 * Every method is registered as a stream both ways. So the handler runs before a byte of the request was read, and
 * a stranger's message takes no memory before its login was judged.
 */
import type { Buffer } from "node:buffer";
import { Metadata, type ServerDuplexStream } from "@grpc/grpc-js";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { statusOf } from "./errors.ts";
import { requestMsMax, stalledMs } from "./limits.ts";
import type { Readers } from "./readers.ts";
import type { Message } from "./value/message.ts";

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** Lower-case names to their values, each as often as it came. */
export type CallHeaders = (name: string) => readonly string[];

export interface CallParts {
  readonly connection: FollowedConnection;
  readonly host: Host;
  readonly readers: Readers;
}

/** One call. */
export class Call {
  readonly connection: FollowedConnection;
  readonly #stream: Stream;
  readonly #parts: CallParts;
  readonly #canceller = new Canceller();
  readonly #answer = new Metadata();
  readonly #incoming: AsyncIterator<Buffer>;
  #headersSent = false;
  /** Messages that gRPC has not taken yet. */
  #outstanding = 0;
  #onTaken: (() => void) | undefined;

  constructor(stream: Stream, parts: CallParts) {
    this.connection = parts.connection;
    this.#stream = stream;
    this.#parts = parts;
    // Otherwise it reads sixteen messages ahead.
    setReadAhead(stream, 1);
    // At the end of a request the answer still follows.
    const kept = { destroyOnReturn: false };
    this.#incoming = stream.iterator(kept)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    stream.on("cancelled", () => this.#leave());
    stream.on("close", () => this.#leave());
  }

  /** Aborted when the client left, cancelled, or its own deadline passed. */
  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  header(name: string): readonly string[] {
    return this.#stream.metadata.get(name).map(String);
  }

  /** All headers whose values are text. */
  headers(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const name of Object.keys(this.#stream.metadata.getMap())) {
      const values = this.#stream.metadata.get(name);
      if (values.every((value) => typeof value === "string")) found.set(name, values.join(", "));
    }
    return found;
  }

  /** A header of the answer. Only before the first message. */
  answerHeader(name: string, value: string): void {
    this.#answer.set(name, value);
  }

  /** The next message of the request; undefined behind its last one. */
  async next(user: string): Promise<Result<Uint8Array | undefined, GatewayError>> {
    const turn = await this.#parts.readers.turn(user, this.signal);
    if (turn === undefined) return err(gatewayError("query.cancelled"));
    using _turn = turn;
    let late: Disposable | undefined;
    const timeout = new Promise<"late">((resolve) => {
      late = this.#parts.host.clock.timer(requestMsMax, () => resolve("late"));
    });
    using _late = { [Symbol.dispose]: () => late?.[Symbol.dispose]() };
    try {
      const step = await Promise.race([this.#incoming.next(), timeout]);
      if (step === "late") return err(gatewayError("protocol.timeout"));
      return ok(step.done === true ? undefined : step.value);
    } catch {
      // The stream was destroyed: the client left, or sent what gRPC refused by itself.
      return err(gatewayError("query.cancelled"));
    }
  }

  /** Sends a message. Undefined when gRPC has taken it, otherwise a promise for that. */
  send(message: Message): Promise<void> | undefined {
    if (this.signal.aborted) return undefined;
    this.#sendHeaders();
    this.#outstanding += 1;
    this.#stream.write(message as Buffer, () => {
      this.#outstanding -= 1;
      this.#onTaken?.();
    });
    return this.#outstanding === 0 ? undefined : this.#taken();
  }

  /** Ends it; nothing follows. */
  end(answer: Result<void, GatewayError>): void {
    if (this.signal.aborted) return;
    this.#sendHeaders();
    if (answer.ok) {
      this.#stream.end();
      return;
    }
    const { code, details } = statusOf(answer.error);
    this.#stream.emit("error", { code, details, metadata: new Metadata() });
  }

  #sendHeaders(): void {
    if (this.#headersSent) return;
    this.#headersSent = true;
    this.#stream.sendMetadata(this.#answer);
  }

  async #taken(): Promise<void> {
    const { clock } = this.#parts.host;
    using _stalled = clock.timer(stalledMs, () => this.connection.destroy());
    await new Promise<void>((resolve) => {
      this.#onTaken = resolve;
      if (this.signal.aborted) resolve();
    });
    this.#onTaken = undefined;
  }

  #leave(): void {
    this.#canceller.abort(gatewayError("query.cancelled"));
    this.#onTaken?.();
  }
}

/** The library makes the stream itself and lets nobody choose. */
function setReadAhead(stream: Stream, messages: number): void {
  const { _readableState: state } = stream as unknown as {
    readonly _readableState?: { highWaterMark: number };
  };
  if (state !== undefined) state.highWaterMark = messages;
}
