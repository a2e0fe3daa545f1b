/**
 * Writes batches as DataRow frames, straight into the outgoing buffer: no object per row or cell.
 *
 * Each batch gets one writer per column. The most bytes a row may take are known before it is written, so the
 * buffer never has to grow in the middle of a frame.
 */
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { dataRow } from "@gateway/wire/postgres/backend.ts";
import { putInt16, putInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { Format, RowField } from "@gateway/wire/postgres/message.ts";
import { binaryWriter } from "./binary.ts";
import { numericTextWriter } from "./numericText.ts";
import { announcedOf, columnShape } from "./types.ts";

/** How a result is to be written: one format per column, and where instants are shown in text. */
export interface RowShape {
  readonly formats: readonly Format[];
  readonly zone: Zone;
  /** The columns; absent where none of them is a numeric in text. */
  readonly columns?: readonly Column[] | undefined;
  /** Type byte of the messages; DataRow unless said otherwise. */
  readonly letter?: number;
}

/** The formats of a Bind message applied to the columns there are; undefined when their number does not fit. */
export function formatsFor(
  asked: readonly Format[],
  columns: readonly Column[],
): readonly Format[] | undefined {
  if (asked.length > 1 && asked.length !== columns.length) return undefined;
  return columns.map((_, index) => (asked.length === 1 ? asked[0] : asked[index]) ?? 0);
}

/** The row description of a result. */
export function rowFields(columns: readonly Column[], formats: readonly Format[]): RowField[] {
  return columns.map((column, index) => {
    const announced = announcedOf(column);
    const { oid, size, modifier } = announced;
    const { name } = column;
    const format = formats[index] ?? 0;
    const { table } = announced;
    // Written out twice: what follows a spread makes a hidden class anew for each column.
    return table === undefined
      ? { name, type: oid, size, modifier, format }
      : { name, type: oid, size, modifier, format, table, column: announced.column ?? 0 };
  });
}

/** Writes rows of one batch, some at a time. The batch's buffers must stay as they are meanwhile. */
export interface RowWriter {
  readonly rows: number;
  /** All of them as they are to be sent, where they are written already and worth a write of their own. */
  readonly asWritten?: Uint8Array | undefined;
  /** Appends the rows from `row` up to (not with) `end`, or until `out` exceeds `bytesMax`; answers the next row. */
  write(out: ByteWriter, row: number, limit: RowLimit): number;
}

export interface RowLimit {
  readonly end: number;
  /** One row is always written, however large it is. */
  readonly bytesMax: number;
}

/** Chooses the writers for a batch. */
export function rowWriter(batch: ColumnarBatch, shape: RowShape): RowWriter {
  const { letter = dataRow } = shape;
  const cells = batch.columns.map((vector, index) => cellOf(vector, index, shape));
  const growing = cells.filter(({ vector }) => !isFixedWidth(vector)).map(({ writer }) => writer);
  const fixedBytes = cells.reduce(
    (sum, { vector, writer }) =>
      sum + 4 + (isFixedWidth(vector) && batch.rows > 0 ? writer.bound(0) : 0),
    rowHeadBytes,
  );

  /** The hot loop: it uses local constants only and calls as little as it can. */
  function writeRow(out: ByteWriter, row: number): void {
    let most = fixedBytes;
    for (const writer of growing) most += writer.bound(row);
    out.room(most);
    const bytes = out.buffer;
    const start = out.length;
    bytes[start] = letter;
    let at = putInt16(bytes, start + 5, cells.length);
    for (const { writer, validity, offset, empty } of cells) {
      const index = offset + row;
      if (
        empty ||
        (validity !== undefined && ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0)
      ) {
        at = putInt32(bytes, at, -1);
        continue;
      }
      const end = writer.write(bytes, at + 4, row);
      putInt32(bytes, at, end - at - 4);
      at = end;
    }
    putInt32(bytes, start + 1, at - start - 1);
    out.length = at;
  }

  return {
    rows: batch.rows,
    write: (out, first, { end, bytesMax }) => {
      let row = first;
      while (row < end) {
        writeRow(out, row);
        row += 1;
        if (out.length >= bytesMax) break;
      }
      return row;
    },
  };
}

/** Letter, length and count of columns. */
export const rowHeadBytes = 7;

/** A column of the batch, with all that the loop needs of it. */
interface Cell {
  readonly vector: Vector;
  readonly writer: CellWriter;
  /** The bitmap that says which cells are there, and where the first row stands in it. */
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  /** Every cell is NULL. */
  readonly empty: boolean;
}

function cellOf(vector: Vector, index: number, shape: RowShape): Cell {
  const { validity, offset, type } = vector;
  const isNumeric = type.kind === "text" && shape.columns?.[index]?.numeric !== undefined;
  const writer =
    isNumeric && shape.formats[index] === 1
      ? numericTextWriter(vector)
      : writerOf(vector, shape.formats[index] ?? 0, shape);
  return { vector, writer, validity, offset, empty: type.kind === "null" };
}

/** Cells of these types have one bound for all rows. */
function isFixedWidth({ type }: Vector): boolean {
  switch (type.kind) {
    case "text":
    case "json":
    case "binary":
    case "list":
    case "struct":
    case "map":
      return false;
    default:
      return true;
  }
}

/** The writer of a column's cells in the format asked for. */
function writerOf(vector: Vector, format: Format, { zone }: RowShape): CellWriter {
  const binary = format === 1 ? binaryWriter(vector) : undefined;
  return binary ?? textWriterOf(vector, zone);
}

/** The writer of a column's cells as PostgreSQL's text. */
export function textWriterOf(vector: Vector, zone: Zone): CellWriter {
  return cellWriter(vector, styleOf(vector, zone));
}

/** Nested values travel as JSON, with bare numbers and instants in ISO form, as `to_json` writes them. */
function styleOf({ type }: Vector, zone: Zone): TextStyle {
  const plain = { ...postgresText, zone };
  if (type.kind !== "list" && type.kind !== "struct" && type.kind !== "map") return plain;
  if (columnShape(type).array) return plain;
  return { ...plain, json: true, nested: "json", separator: "T", zoneSuffix: "isoOffset" };
}
