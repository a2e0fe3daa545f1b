/**
 * Calls of gRPC as plain functions: a request's messages in, messages and one status out.
 *
 * Every method is registered as a stream both ways. So the handler runs before a byte of the request was read, and
 * a stranger's message takes no memory before its login was judged.
 */
import { Buffer } from "node:buffer";
import type { ServerHttp2Stream } from "node:http2";
import { Metadata, type ServerDuplexStream } from "@grpc/grpc-js";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { RelayedClient } from "../listener/elsewhere.ts";
import { mayTakeCredentials } from "../listener/tls.ts";
import type { FlightStatus } from "./errors.ts";
import { requestMsMax, stalledMs } from "./limits.ts";
import type { Readers } from "./readers.ts";
import { EngineMessage, type Message } from "./value/message.ts";

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** Who made a call, as the gateway saw it to which the client is connected. */
export type CallPeer = Pick<RelayedClient, "address" | "mayTakeCredentials" | "certificateNames">;

/** One call, wherever its client is connected. */
export interface Call {
  readonly peer: CallPeer;
  /** What the results of the call belong to; once it is left they are ended soon. */
  readonly home: object;
  /** Aborted when the client left, cancelled, or its own deadline passed. */
  readonly signal: AbortSignal;
  header(name: string): readonly string[];
  /** All headers whose values are text. */
  headers(): ReadonlyMap<string, string>;
  /** A header of the answer. Only before the first message. */
  answerHeader(name: string, value: string): void;
  /** The next message of the request; undefined behind its last one. */
  next(user: string): Promise<Result<Uint8Array | undefined, GatewayError>>;
  /** Sends a message. Undefined when it was taken, otherwise a promise for that. */
  send(message: Message): Promise<void> | undefined;
  /** Ends it, without an error or with one; nothing follows. */
  end(failure: FlightStatus | undefined): void;
}

export interface CallParts {
  readonly connection: FollowedConnection;
  readonly host: Host;
  readonly readers: Readers;
  /** What gRPC sends its messages over. */
  readonly wire: ServerHttp2Stream;
}

/** One that came over gRPC. */
export class GrpcCall implements Call {
  readonly #connection: FollowedConnection;
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
    this.#connection = parts.connection;
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

  get peer(): CallPeer {
    const connection = this.#connection;
    return {
      address: connection.address,
      mayTakeCredentials: mayTakeCredentials(connection),
      certificateNames: connection.certificateNames(),
    };
  }

  get home(): object {
    return this.#connection;
  }

  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  header(name: string): readonly string[] {
    return this.#stream.metadata.get(name).map(String);
  }

  headers(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const name of Object.keys(this.#stream.metadata.getMap())) {
      const values = this.#stream.metadata.get(name);
      if (values.every((value) => typeof value === "string")) found.set(name, values.join(", "));
    }
    return found;
  }

  answerHeader(name: string, value: string): void {
    this.#answer.set(name, value);
  }

  next(user: string): Promise<Result<Uint8Array | undefined, GatewayError>> {
    return nextOf(this.#incoming, { ...this.#parts, user, signal: this.signal });
  }

  send(message: Message): Promise<void> | undefined {
    if (this.signal.aborted) return undefined;
    this.#sendHeaders();
    this.#outstanding += 1;
    writeMessage(this.#parts.wire, message, (error) => {
      this.#outstanding -= 1;
      // What broke off may still lie with the system.
      if (error == null && message instanceof EngineMessage) message.release();
      this.#onTaken?.();
    });
    return this.#outstanding <= outstandingMax ? undefined : this.#taken();
  }

  end(failure: FlightStatus | undefined): void {
    if (this.signal.aborted) return;
    this.#sendHeaders();
    // A client that takes nothing any more does not keep its connection with that.
    if (this.#outstanding > 0) void this.#taken();
    if (failure === undefined) this.#stream.end();
    else this.#stream.emit("error", { ...failure, metadata: new Metadata() });
  }

  #sendHeaders(): void {
    if (this.#headersSent) return;
    this.#headersSent = true;
    this.#stream.sendMetadata(this.#answer);
  }

  async #taken(): Promise<void> {
    const { clock } = this.#parts.host;
    using _stalled = clock.timer(stalledMs, () => this.#connection.destroy());
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

/** So many are with gRPC while the next one is asked for: the connection always has something to send. */
const outstandingMax = 1;

/** How the system took a message, as a stream says it. */
type OnTaken = (error?: Error | null) => void;

const closed = new Error("the call is over");

/** Sends a message as gRPC frames it. The library itself would copy each of them once more, into memory of its own. */
function writeMessage(wire: ServerHttp2Stream, message: Message, taken: OnTaken): void {
  // Its deadline ended the call, and what follows is that it closes.
  if (wire.destroyed || wire.writableEnded) return taken(closed);
  const isWhole = message instanceof EngineMessage;
  const head = Buffer.allocUnsafe(
    grpcPrefixBytes + (isWhole ? message.headBytes : message.byteLength),
  );
  head[0] = 0;
  head.writeUInt32BE(message.byteLength, 1);
  if (!isWhole) {
    message.copy(head, grpcPrefixBytes);
    return void wire.write(head, taken);
  }
  const [first, body] = message.chunks;
  head.set(first, grpcPrefixBytes);
  wire.cork();
  wire.write(head);
  wire.write(body, taken);
  wire.uncork();
}

/** That the message is not compressed, and its length. */
const grpcPrefixBytes = 5;

interface Reading extends Pick<CallParts, "host" | "readers"> {
  readonly user: string;
  readonly signal: AbortSignal;
}

/** The next message, in its user's turn and within a request's time; undefined behind the last one. */
export async function nextOf(
  messages: AsyncIterator<Uint8Array>,
  { user, signal, host, readers }: Reading,
): Promise<Result<Uint8Array | undefined, GatewayError>> {
  const turn = await readers.turn(user, signal);
  if (turn === undefined) return err(gatewayError("query.cancelled"));
  using _turn = turn;
  let late: Disposable | undefined;
  const timeout = new Promise<"late">((resolve) => {
    late = host.clock.timer(requestMsMax, () => resolve("late"));
  });
  using _late = { [Symbol.dispose]: () => late?.[Symbol.dispose]() };
  try {
    const step = await Promise.race([messages.next(), timeout]);
    if (step === "late") return err(gatewayError("protocol.timeout"));
    return ok(step.done === true ? undefined : step.value);
  } catch {
    // The stream was destroyed: the client left, or sent what was refused below.
    return err(gatewayError("query.cancelled"));
  }
}

/** The library makes the stream itself and lets nobody choose. */
function setReadAhead(stream: Stream, messages: number): void {
  const { _readableState: state } = stream as unknown as {
    readonly _readableState?: { highWaterMark: number };
  };
  if (state !== undefined) state.highWaterMark = messages;
}
