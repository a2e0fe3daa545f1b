/**
 * Rows that the gateway wrote itself, for a client that reads another encoding than UTF-8. What its server wrote is in
 * that already and never comes here.
 */
import type { Column } from "@gateway/core/type/type.ts";
import { ByteWriter, getInt32, putInt32 } from "@gateway/wire/postgres/bytes.ts";
import type { Charset } from "@gateway/wire/postgres/charset/charset.ts";
import { decodeText } from "@gateway/wire/text.ts";
import type { RowWriter } from "./rows.ts";

/** A character that the set does not have: whoever asked for the rows is told so before they are written. */
export function unwritableIn(text: string, charset: Charset | undefined): boolean {
  return charset !== undefined && charset.encode(text) === undefined;
}

/** Writes the same rows, the cells of text columns in the character set. */
export function recodedWriter(
  rows: RowWriter,
  charset: Charset,
  columns: readonly Column[],
): RowWriter {
  const texts = columns.map(({ type }) => type.kind === "text");
  return {
    rows: rows.rows,
    write: (out, first, { end }) => {
      let row = first;
      while (row < end) {
        const plain = new ByteWriter();
        row = rows.write(plain, row, { end: row + 1, bytesMax: 0 });
        recode(out, plain.take(), texts, charset);
      }
      return row;
    },
  };
}

const headBytes = 7;

function recode(
  out: ByteWriter,
  row: Uint8Array,
  texts: readonly boolean[],
  charset: Charset,
): void {
  const begin = out.length;
  out.bytes(row.subarray(0, headBytes));
  let at = headBytes;
  for (const isText of texts) {
    const length = getInt32(row, at);
    const cell = row.subarray(at + 4, at + 4 + Math.max(0, length));
    const own = isText ? charset.encode(decodeText(cell) ?? "") : undefined;
    const written = own ?? cell;
    out.i32(length < 0 ? -1 : written.length);
    out.bytes(written);
    at += 4 + cell.length;
  }
  putInt32(out.buffer, begin + 1, out.length - begin - 1);
}
