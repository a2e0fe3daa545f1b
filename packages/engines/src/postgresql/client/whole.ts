/** A result that is there at once, with its end: told in one event, because each costs a turn through all stages. */
import type { DoneEvent } from "@gateway/core/query/event.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { TransactionStatus } from "@gateway/wire/postgres/message.ts";
import type { ServerField } from "@gateway/wire/postgres/server.ts";
import { repeatedText } from "@gateway/wire/text.ts";
import {
  preparedBytes,
  wholeAnswer,
  wholeRows,
  type WholeRows,
} from "@gateway/wire/postgres/wholeAnswer.ts";
import { columnsOf, readDescription } from "./descriptions.ts";

export interface Whole {
  readonly fields: readonly ServerField[];
  /** As the server wrote them. */
  readonly rows: Uint8Array;
  readonly count: number;
  readonly tag: string;
  /** All of it but the last message. */
  readonly written: Uint8Array;
  readonly status: TransactionStatus;
}

/** Of all that stands before the rows. A longer one is read each time. */
const headMax = 1_024;

/** All that stands before the rows of a result. */
interface Head {
  /** As it came. */
  readonly bytes: Uint8Array;
  readonly simple: boolean;
  readonly columns: number;
  readonly fields: readonly ServerField[];
}

/** That of the answer before: one that begins as that did is read no further than its rows. */
let lastHead: Head | undefined;

/** The result in these bytes; undefined where they are anything else. */
export function readWhole(bytes: Uint8Array, simple: boolean): Whole | undefined {
  const last = lastHead;
  if (last !== undefined && last.simple === simple && beginsWith(bytes, last.bytes)) {
    const rows = wholeRows(bytes, last.bytes.length, last.columns);
    return rows && wholeOf(bytes, last, rows);
  }
  const found = wholeAnswer(bytes, simple);
  if (found === undefined) return undefined;
  const { start, end, columns } = found.description;
  const described = readDescription(bytes, start, end);
  if (described?.kind !== "rowDescription") return undefined;
  const { fields } = described;
  // A copy: what came lies in memory with others'.
  const head = { bytes: Uint8Array.prototype.slice.call(bytes, 0, end), simple, columns, fields };
  if (end <= headMax) lastHead = head;
  return wholeOf(bytes, head, found.rows);
}

function wholeOf(
  bytes: Uint8Array,
  { fields, simple }: Head,
  { start, end, count, tag: word, completed, status: letter }: WholeRows,
): Whole | undefined {
  const tag = repeatedText(bytes, word.start, word.end);
  const status = statusOf(letter);
  if (tag === undefined || status === undefined) return undefined;
  // The client of a statement that was prepared is told of that by its frontend.
  const written = bytes.subarray(simple ? 0 : preparedBytes, completed);
  return { fields, rows: bytes.subarray(start, end), count, tag, written, status };
}

function beginsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  const { length } = head;
  if (bytes.length < length) return false;
  for (let at = 0; at < length; at += 1) if (bytes[at] !== head[at]) return false;
  return true;
}

function statusOf(letter: number | undefined): TransactionStatus | undefined {
  switch (letter) {
    case 0x49:
      return "I";
    case 0x54:
      return "T";
    case 0x45:
      return "E";
    default:
      return undefined;
  }
}

/** The end of the statement, with its result. */
export function doneWhole(
  { fields, rows, count, tag, written }: Whole,
  executionMs: number,
): DoneEvent {
  const batch: Batch | undefined =
    count === 0 ? undefined : { form: "native", format: "postgresRows", rows: count, bytes: rows };
  const stats = { queueMs: 0, executionMs, rows: count, bytes: rows.length };
  const columns = { kind: "columns", columns: columnsOf(fields, true) } as const;
  const whole = { columns, batch, written };
  return { kind: "done", stats, commandTag: tag, whole };
}
