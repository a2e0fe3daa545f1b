/** The data of a `COPY … FROM STDIN` as its client sends it, for a server that is asked to take it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { CopyPiece, CopySource } from "@gateway/core/query/query.ts";
import { parseFrontend } from "@gateway/wire/postgres/frontend.ts";
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import type { Outbox } from "../outbox.ts";

/** Takes the client's messages as long as they belong to the COPY. */
export interface CopyInbox {
  copyFrame(stopped: () => boolean): Promise<Frame | undefined>;
  /** The type of the message that comes next, where it has no place in a COPY. */
  other(): number | undefined;
  /** Ends the connection behind the error of the COPY: PostgreSQL looks for no further message then. */
  lose(): void;
  wake(): void;
}

const copyInLetter = 0x47;

/** How a client broke off, in PostgreSQL's words. */
interface Broken {
  readonly said: string;
  /** Where the next message begins is not known any more. */
  readonly loses: boolean;
}

/** One COPY's data, and what became of it where its client broke it off. */
export class ClientCopy implements CopySource {
  readonly #inbox: CopyInbox;
  readonly #out: Outbox;
  #stopped = false;
  #broken: Broken | undefined;

  constructor(inbox: CopyInbox, out: Outbox) {
    this.#inbox = inbox;
    this.#out = out;
  }

  begin(head: Uint8Array): void {
    const start = this.#out.writer.begin(copyInLetter);
    this.#out.writer.bytes(head);
    this.#out.writer.end(start);
    void this.#out.flush();
  }

  async next(): Promise<CopyPiece> {
    const frame = await this.#inbox.copyFrame(() => this.#stopped);
    if (frame !== undefined) return this.#pieceOf(frame);
    if (this.#stopped) return { kind: "left" };
    const type = this.#inbox.other();
    // One of the COPY's that can not be read, for instance over its limit, is told behind its end.
    if (type === undefined) return { kind: "failed", reason: brokenOff };
    const shown = type.toString(16).toUpperCase().padStart(2, "0");
    const said = `unexpected message type 0x${shown} during COPY from stdin`;
    return this.#breakOff({ said, loses: true });
  }

  stop(): void {
    this.#stopped = true;
    this.#inbox.wake();
  }

  /**
   * The error of a COPY as its client is told it. A server hears of a client that broke off as of one that gave up
   * (57014); whatever else it says came before that, and is what happened.
   */
  errorOf(error: GatewayError): GatewayError {
    const broken = this.#broken;
    if (broken === undefined || error.sqlState !== gaveUp) return error;
    if (broken.loses) this.#inbox.lose();
    const vendor = error.vendor === undefined ? {} : { vendor: error.vendor };
    return gatewayError("query.invalid", { sqlState: "08P01", message: broken.said, ...vendor });
  }

  #pieceOf(frame: Frame): CopyPiece {
    const step = parseFrontend(frame);
    if (step.kind === "violation")
      return this.#breakOff({ said: "invalid string in message", loses: false });
    switch (step.message.kind) {
      case "copyData":
        return { kind: "data", bytes: step.message.body };
      case "copyDone":
        return { kind: "done" };
      case "copyFail":
        return { kind: "failed", reason: step.message.reason };
      default:
        throw new Error("a message that does not belong to a COPY");
    }
  }

  #breakOff(broken: Broken): CopyPiece {
    this.#broken = broken;
    return { kind: "failed", reason: brokenOff };
  }
}

const brokenOff = "the client broke off its COPY";
/** As a server calls a COPY whose client says CopyFail. */
const gaveUp = "57014";
