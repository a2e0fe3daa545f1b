/**
 * What a client sends, handed on packet by packet while packets are wanted.
 *
 * The socket is read all the time, because only a read shows that a client left. Commands that come ahead
 * wait here; beyond a limit nothing more is read until they are taken. It decides nothing about messages.
 */
import { gatewayError } from "@gateway/core/error.ts";
import type {
  LongPacket,
  Packet,
  PacketStep,
  SkippedPacket,
} from "@gateway/wire/mysql/packetReader.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { Violation } from "@gateway/wire/mysql/protocol.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { Channel } from "./channel.ts";
import { errorReply } from "./errors.ts";
import { pipelinedBytesMax } from "./limits.ts";
import type { LongVerdict } from "./longPackets.ts";

/** A text that was skipped, and what its client is told. */
export interface RefusedPacket extends SkippedPacket {
  readonly reply: ErrorReply;
}

/** One packet, or what stands in its place. */
export type Received = Packet | RefusedPacket | Violation;

export interface InboxParts {
  readonly connection: FollowedConnection;
  readonly channel: Channel;
  /** True while the connection wants its next packet. */
  wants(): boolean;
  take(received: Received): void;
  /** What becomes of a long text. A promise while there is no room for it: nothing is read meanwhile. */
  judge(packet: LongPacket): LongVerdict | Promise<LongVerdict>;
  /** Takes a promise that nobody waits for; its rejection is a bug. */
  background(task: Promise<void>): void;
}

/** No text is skipped that nobody judged. */
const noReply = errorReply(gatewayError("query.textTooLarge"));

export class Inbox {
  readonly #parts: InboxParts;
  #paused = false;
  /** True while a large compressed frame is being opened. */
  #opening = false;
  /** True while a long text has no room yet. */
  #judging = false;
  /** Of the text that is skipped. */
  #reply: ErrorReply | undefined;
  /** True while `#pump` is on the stack, so that what a packet leads to does not start it again. */
  #pumping = false;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** Reads the connection's socket, which TLS replaces. */
  listen(): void {
    const { connection, channel } = this.#parts;
    connection.socket.on("data", (chunk: Buffer) => {
      channel.push(chunk);
      this.resume();
    });
  }

  /** Hands on what is wanted. Called when that may have changed. */
  resume(): void {
    this.#pump();
    this.#holdBack();
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#wants()) {
        const step = this.#parts.channel.next();
        if (step instanceof Promise) {
          this.#parts.background(this.#open(step));
          break;
        }
        if (step.kind === "more") break;
        this.#hand(step);
      }
    } finally {
      this.#pumping = false;
    }
  }

  #hand(step: Exclude<PacketStep, { kind: "more" }>): void {
    if (step.kind === "skipped") {
      this.#parts.take({ ...step, reply: this.#reply ?? noReply });
      return;
    }
    if (step.kind !== "long") {
      this.#parts.take(step);
      return;
    }
    const verdict = this.#parts.judge(step);
    if (verdict instanceof Promise) this.#parts.background(this.#await(verdict));
    else this.#decide(verdict);
  }

  /** No getter: a private one is a call of the runtime each time. */
  #wants(): boolean {
    return !this.#opening && !this.#judging && this.#parts.wants();
  }

  async #open(frame: Promise<void>): Promise<void> {
    this.#opening = true;
    await frame;
    this.#opening = false;
    this.resume();
  }

  async #await(judgement: Promise<LongVerdict>): Promise<void> {
    this.#judging = true;
    const verdict = await judgement;
    this.#judging = false;
    this.#decide(verdict);
    this.resume();
  }

  #decide(verdict: LongVerdict): void {
    const { channel } = this.#parts;
    if (verdict.kind === "take") {
      channel.allowLong(verdict.bytesMax);
      return;
    }
    this.#reply = verdict.reply;
    channel.skipLong();
  }

  /** Stops reading when too much waits, and goes on when it was taken. */
  #holdBack(): void {
    const { connection, channel } = this.#parts;
    const waits = this.#judging || (!this.#wants() && channel.bufferedBytes > pipelinedBytesMax);
    if (waits === this.#paused) return;
    this.#paused = waits;
    connection.socket[waits ? "pause" : "resume"]();
  }
}
