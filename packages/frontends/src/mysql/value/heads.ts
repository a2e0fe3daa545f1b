/**
 * What stands before the rows of results that come again, as it was written the last time. Who reads a server's
 * answers tells the same definitions by the same bytes, so that they are found by asking for their identity.
 */
import type { ColumnsEvent } from "@gateway/core/query/event.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { putColumnsEvent, type AnswerContext } from "../encode.ts";

interface Head {
  readonly definitions: Uint8Array;
  /** Flags and first number that it was written with. */
  readonly status: number;
  readonly sequence: number;
  /** Undefined until it has come twice: most of what a client asks once is not asked again. */
  bytes: Uint8Array | undefined;
  /** Number of the packet behind it. */
  behind: number;
}

/** A longer one is written anew. */
const headBytesMax = 2_048;

/** The head of one client's last result. What its login agreed to does not change. */
export class Heads {
  #last: Head | undefined;

  /** Writes the head of a result whose definitions are a server's own. */
  put(out: PacketWriter, columns: ColumnsEvent, context: AnswerContext): void {
    const definitions = columns.native?.bytes;
    const { status } = context;
    const { sequence } = out;
    const last = this.#last;
    const isLast =
      definitions !== undefined &&
      last?.definitions === definitions &&
      last.status === status &&
      last.sequence === sequence;
    if (isLast && last.bytes !== undefined) {
      out.raw(last.bytes);
      out.sequence = last.behind;
      return;
    }
    const start = out.at;
    putColumnsEvent(out, columns, context);
    if (isLast && out.at - start <= headBytesMax) {
      last.bytes = out.bytes.slice(start, out.at);
      last.behind = out.sequence;
    } else if (definitions !== undefined) {
      this.#last = { definitions, status, sequence, bytes: undefined, behind: 0 };
    }
  }
}
