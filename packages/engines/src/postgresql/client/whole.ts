/** A result that is there at once, with its end: told in one event, because each costs a turn through all stages. */
import type { DoneEvent } from "@gateway/core/query/event.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { TransactionStatus } from "@gateway/wire/postgres/message.ts";
import type { ServerField } from "@gateway/wire/postgres/server.ts";
import { repeatedText } from "@gateway/wire/text.ts";
import { wholeAnswer } from "@gateway/wire/postgres/wholeAnswer.ts";
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

/** The result in these bytes; undefined where they are anything else. */
export function readWhole(bytes: Uint8Array, simple: boolean): Whole | undefined {
  const found = wholeAnswer(bytes, simple);
  if (found === undefined) return undefined;
  const { description, rows, tag: word, written, ready } = found;
  const described = readDescription(bytes, description.start, description.end);
  const tag = repeatedText(bytes, word.start, word.end);
  const status = statusOf(bytes[ready.start]);
  if (described?.kind !== "rowDescription" || tag === undefined || status === undefined)
    return undefined;
  const { fields } = described;
  return {
    fields,
    rows: bytes.subarray(rows.start, rows.end),
    count: rows.count,
    tag,
    written: bytes.subarray(written.start, written.end),
    status,
  };
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
