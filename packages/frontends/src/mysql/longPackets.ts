/** What becomes of a client's long texts: those over their limit are skipped, and others wait for room. */
import { gatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { LongPacket } from "@gateway/wire/mysql/packetReader.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { ConnectionRoom } from "../listener/messageRoom.ts";
import { limitsOf } from "../listener/statementLimits.ts";
import { errorReply, ownErrors } from "./errors.ts";
import { passesTexts } from "./run/relaying.ts";
import type { Responder } from "./run/responder.ts";

/** Query attributes stand before a text, which is judged again once it is known how long it is. */
const besideText = 64 * 1024;

/** Why a text is skipped, or how long it may be. */
export type LongVerdict =
  | { readonly kind: "skip"; readonly reply: ErrorReply }
  | { readonly kind: "take"; readonly bytesMax: number };

export class LongPackets {
  readonly #connection: FollowedConnection;
  readonly #clock: Host["clock"];
  /** Made with the first long text: most connections have none. */
  #room: ConnectionRoom | undefined;

  constructor(connection: FollowedConnection, { clock }: Pick<Host, "clock">) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** A promise while there is no room. Without a responder nobody has logged in. */
  judge(
    { bytes, whole }: LongPacket,
    responder: Responder | undefined,
  ): LongVerdict | Promise<LongVerdict> {
    const connection = this.#connection;
    const passes = responder !== undefined && passesTexts(responder);
    const { maxStatementBytes } = limitsOf(connection.config, passes);
    const capabilities = responder?.client.capabilities ?? 0;
    const bytesMax =
      maxStatementBytes + ((capabilities & capability.queryAttributes) === 0 ? 0 : besideText);
    if (bytes > bytesMax) return { kind: "skip", reply: ownErrors.textTooLarge(maxStatementBytes) };
    const user = responder?.client.session.identity.user ?? "";
    const room = (this.#room ??= new ConnectionRoom(this.#clock));
    // How much follows is not known before it has come.
    const wanted = whole ? bytes : bytesMax;
    const entered = room.enter(user, wanted, () => connection.destroy());
    const verdict = (has: boolean): LongVerdict => (has ? { kind: "take", bytesMax } : noRoom);
    return entered instanceof Promise ? entered.then(verdict) : verdict(entered);
  }

  /** A whole text came. */
  arrived(): void {
    this.#room?.arrived();
  }

  /** It was answered, or its client is gone. */
  leave(): void {
    this.#room?.leave();
  }
}

const noRoom: LongVerdict = {
  kind: "skip",
  reply: errorReply(gatewayError("capacity.statementText")),
};
