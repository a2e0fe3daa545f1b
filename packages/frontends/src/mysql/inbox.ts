/**
 * What a client sends, handed on packet by packet while packets are wanted.
 *
 * The socket is read all the time, because only a read shows that a client left. Commands that come ahead
 * wait here; beyond a limit nothing more is read until they are taken. It decides nothing about messages.
 */
import type { Packet, SkippedPacket } from "@gateway/wire/mysql/packetReader.ts";
import type { Violation } from "@gateway/wire/mysql/protocol.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { Channel } from "./channel.ts";
import { pipelinedBytesMax } from "./limits.ts";

/** One packet, or what stands in its place. */
export type Received = Packet | SkippedPacket | Violation;

export interface InboxParts {
  readonly connection: FollowedConnection;
  readonly channel: Channel;
  /** True while the connection wants its next packet. */
  wants(): boolean;
  take(received: Received): void;
  /** Takes a promise that nobody waits for; its rejection is a bug. */
  background(task: Promise<void>): void;
}

export class Inbox {
  readonly #parts: InboxParts;
  #paused = false;
  /** True while a large compressed frame is being opened. */
  #opening = false;
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
      while (this.#wants) {
        const step = this.#parts.channel.next();
        if (step instanceof Promise) {
          this.#parts.background(this.#open(step));
          break;
        }
        if (step.kind === "more") break;
        this.#parts.take(step);
      }
    } finally {
      this.#pumping = false;
    }
  }

  get #wants(): boolean {
    return !this.#opening && this.#parts.wants();
  }

  async #open(frame: Promise<void>): Promise<void> {
    this.#opening = true;
    await frame;
    this.#opening = false;
    this.resume();
  }

  /** Stops reading when too much waits, and goes on when it was taken. */
  #holdBack(): void {
    const { connection, channel } = this.#parts;
    const waits = !this.#wants && channel.bufferedBytes > pipelinedBytesMax;
    if (waits === this.#paused) return;
    this.#paused = waits;
    connection.socket[waits ? "pause" : "resume"]();
  }
}
