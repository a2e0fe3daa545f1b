/** Rows of a PostgreSQL server that go to its client as they are: DataRow messages, cut between two of them only. */
import type { NativeBatch } from "@gateway/core/type/vector.ts";
import { getInt32 } from "@gateway/wire/postgres/bytes.ts";
import { ownWriteMin } from "../../turn.ts";
import type { RowWriter } from "./rows.ts";

/** Copies messages. Rows are asked for in order, each once. */
export function nativeRowWriter({ bytes, rows }: NativeBatch): RowWriter {
  /** Where row `next` begins. */
  let at = 0;
  let next = 0;

  /** The end of as many rows as fit, but at least of one. */
  function endOf(end: number, room: number): number {
    const first = at;
    let to = at;
    while (next < end && to < bytes.length) {
      to += 1 + getInt32(bytes, to + 1);
      next += 1;
      if (to - first >= room) break;
    }
    return to;
  }

  return {
    rows,
    asWritten: bytes.length >= ownWriteMin ? bytes : undefined,
    write: (out, first, { end, bytesMax }) => {
      // Rows that a cursor moved past are passed over.
      while (next < first) {
        at += 1 + getInt32(bytes, at + 1);
        next += 1;
      }
      const to = endOf(end, Math.max(1, bytesMax - out.length));
      out.bytes(bytes.subarray(at, to));
      at = to;
      return next;
    },
  };
}
