/**
 * The file of a client's LOAD DATA LOCAL: packets that come in the middle of an answer, and are no commands. A server
 * has asked for it by name; one piece waits at a time.
 */
import type { MysqlFiles } from "@gateway/core/query/mysqlCall.ts";
import type { Received } from "./inbox.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { Responder } from "./run/responder.ts";

type Piece = Uint8Array | "end" | "left";

export interface LocalFileParts {
  /** Sends the request to the client. The number that its first packet must have. */
  readonly request: (name: Uint8Array) => Promise<number>;
  /** Packets are wanted again. */
  readonly resume: () => void;
}

/** Where the client's login offers its files. */
export function fileOf(responder: Responder, resume: () => void): LocalFile | undefined {
  if ((responder.client.capabilities & capability.localFiles) === 0) return undefined;
  const request = async (name: Uint8Array): Promise<number> => {
    const { out } = responder;
    out.begin();
    out.u8(localInfile);
    out.raw(name);
    out.end();
    const { sequence } = out;
    await responder.flush();
    return sequence;
  };
  return new LocalFile({ request, resume });
}

/** The first byte of a request for a file. */
const localInfile = 0xfb;

export class LocalFile implements MysqlFiles {
  readonly #parts: LocalFileParts;
  #state: "none" | "asked" | "left" = "none";
  #sequence = 0;
  #piece: Piece | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: LocalFileParts) {
    this.#parts = parts;
  }

  /** True while the client's packets belong to the file. */
  get open(): boolean {
    return this.#state === "asked";
  }

  /** True while the next of them is wanted. */
  get wants(): boolean {
    return this.open && this.#piece === undefined;
  }

  async ask(name: Uint8Array): Promise<void> {
    if (this.#state !== "none") return;
    this.#sequence = await this.#parts.request(name);
    // The client may have left meanwhile.
    if (this.#state === "none") this.#state = "asked";
    this.#parts.resume();
  }

  async next(): Promise<Piece> {
    while (this.#piece === undefined && this.#state === "asked") {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#piece ?? "left";
    this.#piece = undefined;
    if (piece === "end") this.#state = "none";
    this.#parts.resume();
    return piece;
  }

  /** A packet of the client. What is none, or out of order, ends the file as if the client had left. */
  take(received: Received): void {
    if (received.kind !== "packet" || received.sequence !== this.#sequence) return this.leave();
    this.#sequence = (received.lastSequence + 1) & 0xff;
    this.#piece = received.payload.length === 0 ? "end" : received.payload;
    this.#wake?.();
  }

  /** The client is gone. */
  leave(): void {
    this.#state = "left";
    this.#wake?.();
  }
}
