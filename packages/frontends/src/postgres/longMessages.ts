/** What becomes of a client's long messages: texts over their limit are skipped, and others wait for room. */
import type { FrameStep } from "@gateway/wire/postgres/frame.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { ConnectionRoom } from "../listener/messageRoom.ts";
import { limitsOf } from "../listener/statementLimits.ts";
import type { Inbox } from "./inbox.ts";
import { longBytesMax } from "./read/textLimit.ts";

type LongStep = Extract<FrameStep, { kind: "long" }>;

/** Whose messages they are. */
export interface Sender {
  readonly user: string;
  /** Texts go on to servers in the client's own words. */
  readonly passesTexts: boolean;
}

export interface LongParts {
  readonly connection: FollowedConnection;
  readonly inbox: Inbox;
  readonly clock: Host["clock"];
}

export class LongMessages {
  readonly #parts: LongParts;
  readonly #late = () => this.#parts.connection.destroy();
  /** Made with the first long message: most connections have none. */
  #room: ConnectionRoom | undefined;
  /** A message that has room is arriving. */
  #receives = false;
  /** The limit of the text that is skipped; undefined where there was no room for it. */
  skippedLimit: number | undefined;

  constructor(parts: LongParts) {
    this.#parts = parts;
  }

  /** Lets the reader go on, with the message or behind it. */
  async decide(step: LongStep, { user, passesTexts }: Sender): Promise<void> {
    const { connection, inbox, clock } = this.#parts;
    const { config } = connection;
    const limits = limitsOf(config, passesTexts);
    const fits = step.length <= longBytesMax(step.type, limits, config.maxMessageBytes);
    this.skippedLimit = fits ? undefined : limits.maxStatementBytes;
    const room = fits ? (this.#room ??= new ConnectionRoom(clock)) : undefined;
    const entered = room?.enter(user, step.length, this.#late) ?? false;
    this.#receives = await inbox.decide(step, entered);
    // Who left while he waited has been given back nothing yet.
    if (connection.over) this.leave();
  }

  /** A whole message came. */
  arrived(): void {
    if (this.#room === undefined) return;
    this.#receives = false;
    this.#room.arrived();
  }

  /** The client is waited for. In the middle of a series it keeps its room, and is not waited for long. */
  rest(idle: boolean): void {
    if (this.#room === undefined || this.#receives) return;
    if (idle) this.leave();
    else this.#room.expect(this.#late);
  }

  /** All that came was answered, or its client is gone. */
  leave(): void {
    this.#room?.leave();
  }
}
