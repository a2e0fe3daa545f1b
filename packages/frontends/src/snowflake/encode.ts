/** Rows of a batch as the JSON that drivers read: arrays of texts and nulls, one behind the other. */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { cellWriter } from "@gateway/core/type/text.ts";
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { isNull, type Batch, type Vector } from "@gateway/core/type/vector.ts";
import { nestedStyle, plainStyle } from "./value/cellStyles.ts";
import { digitsOfUnit } from "./value/rowType.ts";

/** The text of a cell, which is not NULL. */
type ReadCell = (row: number) => string;

/**
 * The rows of a batch, each as JSON, joined by commas; empty for a batch without rows. `reader` of a column is made once
 * per batch.
 */
export function rowsJson(batch: Batch): string {
  const { columns, rows } = columnarOf(batch);
  const readers = columns.map((vector) => ({ vector, read: readerOf(vector) }));
  const texts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cells = readers.map(({ vector, read }) => (isNull(vector, row) ? "null" : read(row)));
    texts.push(`[${cells.join()}]`);
  }
  return texts.join();
}

/** Answers the cell as JSON: a string in quotes. */
function readerOf(vector: Vector): ReadCell {
  const { type } = vector;
  switch (type.kind) {
    case "null":
      return () => "null";
    case "boolean":
      return (row) => (valueAt(vector, row) === true ? '"1"' : '"0"');
    case "date":
      return (row) => `"${valueAt(vector, row) as bigint}"`;
    case "time":
    case "timestamp":
      return seconds(vector, digitsOfUnit[type.unit]);
    case "binary":
      return (row) =>
        `"${Buffer.from(valueAt(vector, row) as Uint8Array)
          .toString("hex")
          .toUpperCase()}"`;
    case "integer":
    case "decimal":
    case "float":
    case "uuid":
    case "interval":
      return bare(cellWriter(vector, plainStyle));
    case "text":
      return (row) => JSON.stringify(valueAt(vector, row));
    case "json":
      return (row) => JSON.stringify(valueAt(vector, row));
    case "list":
    case "struct":
    case "map":
      return quoted(cellWriter(vector, nestedStyle));
  }
}

/** Texts that hold nothing to escape. */
function bare(writer: CellWriter): ReadCell {
  return (row) => `"${textOf(writer, row)}"`;
}

function quoted(writer: CellWriter): ReadCell {
  return (row) => JSON.stringify(textOf(writer, row));
}

/** A count of the unit as seconds with a point. */
function seconds(vector: Vector, digits: number): ReadCell {
  return (row) => {
    const count = valueAt(vector, row) as bigint;
    if (digits === 0) return `"${count}"`;
    const sign = count < 0n ? "-" : "";
    const text = String(count < 0n ? -count : count).padStart(digits + 1, "0");
    return `"${sign}${text.slice(0, -digits)}.${text.slice(-digits)}"`;
  };
}

function textOf(writer: CellWriter, row: number): string {
  const scratch = Buffer.allocUnsafe(writer.bound(row));
  return scratch.toString("utf8", 0, writer.write(scratch, 0, row));
}
