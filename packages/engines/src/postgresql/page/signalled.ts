/** Rows whose one column names connections: each is signalled as its row is read, and its cell says whether it was. */
import { warningCode, type ResultEvent } from "@gateway/core/query/event.ts";
import { getInt32 } from "@gateway/wire/postgres/bytes.ts";
import type { FrameRun } from "@gateway/wire/postgres/frame.ts";
import type { ServerField } from "@gateway/wire/postgres/server.ts";
import { spansOf, type CellSpans } from "./cells.ts";

/** Whom a query signals (`sql/signals.ts`). */
export interface Signalling {
  /** Of the processes' numbers, as `Array.at` counts. */
  readonly column: number;
  /** False where the connection is not one of the client's own user. */
  readonly signal: (process: number) => boolean | Promise<boolean>;
}

/** The columns as its client has them in mind. */
export function signalledFields(
  fields: readonly ServerField[],
  signalling: Signalling | undefined,
): readonly ServerField[] {
  if (signalling === undefined || fields.length === 0) return fields;
  const at = placeOf(fields, signalling);
  return fields.map((field, index) =>
    index === at
      ? { ...field, type: booleanOid, size: 1, modifier: -1, table: 0, column: 0 }
      : field,
  );
}

const booleanOid = 16;
/** No server has more connections. Who makes up numbers costs the other processes no more questions. */
const askedMax = 10_000;

function placeOf({ length }: readonly ServerField[], { column }: Signalling): number {
  return column < 0 ? length + column : column;
}

export class SignalledRows {
  readonly #signalling: Signalling;
  readonly #at: number;
  readonly #width: number;
  readonly #binary: boolean;
  #asked = 0;
  #left = 0;

  constructor(fields: readonly ServerField[], signalling: Signalling) {
    this.#signalling = signalling;
    this.#at = placeOf(fields, signalling);
    this.#width = fields.length;
    this.#binary = fields[this.#at]?.format === 1;
  }

  /** Signals the connections of these rows, one behind the other. */
  async read({ bytes, count, sound }: FrameRun): Promise<FrameRun> {
    const spans = spansOf(bytes, count, this.#width);
    const told: (boolean | undefined)[] = [];
    for (let row = 0; row < count; row += 1) {
      const process = processIn(spans, row * this.#width + this.#at, this.#binary);
      told.push(process === undefined ? undefined : await this.#sent(process));
    }
    return { bytes: this.#written(spans, told), count, sound };
  }

  async #sent(process: number): Promise<boolean> {
    this.#asked += 1;
    const sent = this.#asked <= askedMax && (await this.#signalling.signal(process));
    if (!sent) this.#left += 1;
    return sent;
  }

  /** Says that some were left alone; undefined where none was. */
  get warning(): ResultEvent | undefined {
    if (this.#left === 0) return undefined;
    const text = `${this.#left} of the processes are none of this user's sessions, and were left alone`;
    return { kind: "notice", code: warningCode, text };
  }

  /** The same rows, with a boolean of one byte in the place of each number. */
  #written({ bytes, starts, lengths }: CellSpans, told: readonly (boolean | undefined)[]): Buffer {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const [row, sent] of told.entries()) {
      const cell = row * this.#width + this.#at;
      const [start = 0, length = 0] = [starts[cell], lengths[cell]];
      if (sent === undefined) continue;
      const head = headOf(starts, row * this.#width);
      const resized = Buffer.from(bytes.subarray(from, start));
      resized.writeInt32BE(1, resized.length - 4);
      resized.writeInt32BE(getInt32(bytes, head + 1) + 1 - length, head + 1 - from);
      parts.push(resized, this.#cell(sent));
      from = start + length;
    }
    parts.push(bytes.subarray(from));
    return Buffer.concat(parts);
  }

  #cell(sent: boolean): Uint8Array {
    if (this.#binary) return Uint8Array.of(sent ? 1 : 0);
    return Buffer.from(sent ? "t" : "f", "latin1");
  }
}

/** Where the row begins whose first cell this is: before a letter, its length, the number of its cells and the cell's length. */
function headOf(starts: Int32Array, cell: number): number {
  return (starts[cell] ?? 0) - 4 - 7;
}

/** Undefined for NULL. What is no number is nobody's. */
function processIn({ bytes, starts, lengths }: CellSpans, cell: number, binary: boolean) {
  const [start = 0, length = -1] = [starts[cell], lengths[cell]];
  if (length < 0) return undefined;
  if (binary) return length === 4 ? getInt32(bytes, start) : 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString("latin1");
  return /^\d{1,10}$/.test(text) ? Number(text) : 0;
}
