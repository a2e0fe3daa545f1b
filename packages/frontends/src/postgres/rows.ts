/**
 * Batches to DataRow frames, straight into the outgoing buffer: no object per row or cell.
 *
 * A writer per column is chosen once per batch; how many bytes a row may take is known before it is
 * written, so the buffer is never outgrown in the middle of a frame.
 */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import { cellWriter, postgresText, type TextStyle } from "@gateway/core/type/text.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { isNull, type Batch, type Vector } from "@gateway/core/type/vector.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { dataRow } from "@gateway/wire/postgres/backend.ts";
import { putInt16, putInt32, type ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { Format, RowField } from "@gateway/wire/postgres/message.ts";
import { binaryWriter } from "./binary.ts";
import { columnShape } from "./types.ts";

/** How a result is to be written: one format per column, and where instants are shown in text. */
export interface RowShape {
  readonly formats: readonly Format[];
  readonly zone: Zone;
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
    const { oid, size, modifier } = columnShape(column.type);
    return { name: column.name, type: oid, size, modifier, format: formats[index] ?? 0 };
  });
}

/** Writes rows of one batch, some at a time. The batch's buffers must stay as they are meanwhile. */
export interface RowWriter {
  readonly rows: number;
  /** Appends rows from `row` up to but not including `end`, fewer when `out` grew over `bytesMax`; answers the next row. */
  write(out: ByteWriter, row: number, limit: RowLimit): number;
}

export interface RowLimit {
  readonly end: number;
  /** At least one row is written, however large it is. */
  readonly bytesMax: number;
}

/** Chooses the writers for a batch. */
export function rowWriter(batch: Batch, shape: RowShape): RowWriter {
  const columns = batch.columns;
  const cells = columns.map((vector, index) => cellsOf(vector, shape.formats[index] ?? 0, shape));
  // A column without a bitmap has no NULL, but for one of type null, which has nothing else.
  const mayBeNull = columns.map(({ type, validity }) => type.kind === "null" || validity !== undefined);
  const count = columns.length;
  const headBytes = 7 + count * 4;

  function writeRow(out: ByteWriter, row: number): void {
    let most = headBytes;
    for (let column = 0; column < count; column += 1) {
      if (!isMissing(column, row)) most += cells[column]?.bound(row) ?? 0;
    }
    out.room(most);
    const bytes = out.buffer;
    const start = out.length;
    bytes[start] = dataRow;
    let at = putInt16(bytes, start + 5, count);
    for (let column = 0; column < count; column += 1) {
      if (isMissing(column, row)) {
        at = putInt32(bytes, at, -1);
        continue;
      }
      const end = cells[column]?.write(bytes, at + 4, row) ?? at + 4;
      putInt32(bytes, at, end - at - 4);
      at = end;
    }
    putInt32(bytes, start + 1, at - start - 1);
    out.length = at;
  }

  function isMissing(column: number, row: number): boolean {
    const vector = columns[column];
    return mayBeNull[column] === true && (vector === undefined || isNull(vector, row));
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

/** The writer of a column's cells in the format asked for. */
function cellsOf(vector: Vector, format: Format, { zone }: RowShape): CellWriter {
  const binary = format === 1 ? binaryWriter(vector) : undefined;
  return binary ?? cellWriter(vector, styleOf(vector, zone));
}

/** Nested values travel as JSON and look as PostgreSQL's `to_json` makes them. */
function styleOf({ type }: Vector, zone: Zone): TextStyle {
  const plain = { ...postgresText, zone };
  if (type.kind !== "list" && type.kind !== "struct" && type.kind !== "map") return plain;
  if (columnShape(type).array) return plain;
  return { ...plain, json: true, nested: "json", separator: "T", zoneSuffix: "isoOffset" };
}
