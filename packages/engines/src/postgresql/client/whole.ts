/** A result that is there at once, with its end: told in one event, because each costs a turn through all stages. */
import type { Reading } from "@gateway/core/query/course.ts";
import type { DoneEvent } from "@gateway/core/query/event.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { TransactionStatus } from "@gateway/wire/postgres/message.ts";
import { parseServer, type ServerField } from "@gateway/wire/postgres/server.ts";
import { repeatedText } from "@gateway/wire/text.ts";
import { wholeAnswer } from "@gateway/wire/postgres/wholeAnswer.ts";
import { columnsOf, readDescription } from "./descriptions.ts";
import type { Member } from "./member.ts";

export interface Whole {
  readonly fields: readonly ServerField[];
  /** As the server wrote them. */
  readonly rows: Uint8Array;
  readonly count: number;
  readonly tag: string;
  readonly status: TransactionStatus;
}

const rowDescription = 0x54;
const readyForQuery = 0x5a;

/** The result in these bytes; undefined where they are anything else. */
export function readWhole(bytes: Uint8Array, simple: boolean): Whole | undefined {
  const found = wholeAnswer(bytes, simple);
  if (found === undefined) return undefined;
  const part = ({ start, end }: { start: number; end: number }) => bytes.subarray(start, end);
  const description = readDescription({ type: rowDescription, body: part(found.description) });
  const ready = parseServer({ type: readyForQuery, body: part(found.ready) });
  const tag = repeatedText(part(found.tag));
  if (description?.kind !== "rowDescription" || tag === undefined || ready?.kind !== "ready")
    return undefined;
  const { fields } = description;
  return { fields, rows: part(found.rows), count: found.rows.count, tag, status: ready.status };
}

/** Waits for the first of the answer. Undefined where that is not all of it: it is read as it comes. */
export function* wholeOf(member: Member, simple: boolean): Reading<Whole | undefined> {
  if (member.quiet) yield member.more();
  return member.whole(simple);
}

/** The end of the statement, with its result. */
export function doneWhole({ fields, rows, count, tag }: Whole, executionMs: number): DoneEvent {
  const batch: Batch | undefined =
    count === 0 ? undefined : { form: "native", format: "postgresRows", rows: count, bytes: rows };
  const stats = { queueMs: 0, executionMs, rows: count, bytes: rows.length };
  const whole = { columns: { kind: "columns", columns: columnsOf(fields, true) }, batch } as const;
  return { kind: "done", stats, commandTag: tag, whole };
}
