/** A call whose client is connected to another gateway of the fleet: that one carries its messages here, and the answer back. */
import type { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Result } from "@gateway/core/result.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { RelayedRequest } from "../../listener/elsewhere.ts";
import { nextOf, type Call, type CallParts, type CallPeer } from "../calls.ts";
import type { FlightStatus } from "../errors.ts";
import { aliveMs } from "../limits.ts";
import { EngineMessage, type Message } from "../value/message.ts";
import { aliveFrame, endFrame, headerFrame, messageFrame, readRequest } from "./frames.ts";

export interface CarriedParts extends Pick<CallParts, "host" | "readers"> {
  /** The longest message that a request may have. */
  readonly maxMessageBytes: number;
}

export class CarriedCall implements Call {
  readonly peer: CallPeer;
  /** Nobody tells us when that client leaves: what it does not fetch in time is ended. */
  readonly home: object = {};
  readonly #headers: Readonly<Record<string, readonly string[]>>;
  readonly #response: ServerResponse;
  readonly #parts: CarriedParts;
  readonly #incoming: AsyncIterator<Uint8Array>;
  readonly #canceller = new Canceller();
  #headersSent = false;
  #alive: Disposable | undefined;
  #onTaken: (() => void) | undefined;
  readonly #answer = new Map<string, string>();

  constructor({ request, response, client }: RelayedRequest, parts: CarriedParts) {
    this.peer = client;
    this.#headers = distinct(request.headersDistinct);
    this.#response = response;
    this.#parts = parts;
    this.#incoming = readRequest(request, parts.maxMessageBytes);
    response.on("close", () => this.#leave());
    response.on("error", () => this.#leave());
    response.on("drain", () => this.#onTaken?.());
    this.#stayAlive();
  }

  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  header(name: string): readonly string[] {
    return this.#headers[name] ?? [];
  }

  headers(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#headers).map(([name, all]) => [name, all.join(", ")]));
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
    const frame = messageFrame(message);
    if (message instanceof EngineMessage) message.release();
    return this.#write(frame) ? undefined : this.#taken();
  }

  end(failure: FlightStatus | undefined): void {
    if (this.signal.aborted) return;
    this.#sendHeaders();
    this.#alive?.[Symbol.dispose]();
    this.#response.end(endFrame(failure));
  }

  #sendHeaders(): void {
    if (this.#headersSent) return;
    this.#headersSent = true;
    for (const [name, value] of this.#answer) this.#write(headerFrame(name, value));
  }

  #write(bytes: Buffer | Uint8Array): boolean {
    return this.#response.write(bytes);
  }

  /** Both ends cut a silent connection off, and a query may be silent for longer. */
  #stayAlive(): void {
    this.#alive = this.#parts.host.clock.timer(aliveMs, () => {
      // The other end takes nothing: it is for it to say so.
      if (!this.#response.writableNeedDrain) this.#write(aliveFrame);
      this.#stayAlive();
    });
  }

  /** The gateway that carries it cuts off a client that takes nothing, and its connection to us with it. */
  #taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#onTaken = resolve;
    });
  }

  #leave(): void {
    this.#alive?.[Symbol.dispose]();
    this.#canceller.abort(gatewayError("query.cancelled"));
    this.#onTaken?.();
  }
}

/** Without those of the relay. */
function distinct(headers: NodeJS.Dict<string[]>): Record<string, readonly string[]> {
  const own = Object.entries(headers).filter(([name]) => !hidden.test(name));
  return Object.fromEntries(own.map(([name, values]) => [name, values ?? []]));
}

/** About the way between two gateways, and not about the call. */
const hidden = /^(?:gateway-relay-.*|host|connection|content-length|transfer-encoding)$/;
