/**
 * Rows of a batch → packets, text or binary, straight from the vectors' buffers into one growing
 * buffer. No object, string or array is made per cell.
 *
 * The caller flushes: `write` returns as soon as the buffer holds enough, and is called again with
 * the row it stopped at.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import { cellWriter, mysqlText } from "@gateway/core/type/text.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { lenencBytes, type PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { binaryNullBytes, markNull, nullCell, prefixCell } from "@gateway/wire/mysql/row.ts";
import { binaryCells } from "./binary.ts";
import { mysqlTypeOf } from "./types.ts";

export interface RowFormat {
  readonly kind: "text" | "binary";
  /** The session's zone, in which instants are shown. */
  readonly zone: Zone;
  /** A longer row ends the result with an error. Config: `maxMessageBytes`. */
  readonly rowBytesMax: number;
  /** Bytes in the buffer after which `write` returns. */
  readonly flushBytes: number;
}

export interface RowEncoder {
  /**
   * Puts rows from `from` up to `end` and returns the row to go on with, `end` when all are put. On a
   * failure the rows before are complete in the buffer and the failed one is not in it.
   */
  write(from: number, end: number, out: PacketWriter): Result<number, GatewayError>;
}

/** One column: who writes its cells, and what NULL looks like in the vector. */
interface Cells {
  readonly writer: CellWriter;
  /** True: a length goes in front. False: the writer puts all there is. */
  readonly prefixed: boolean;
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  readonly alwaysNull: boolean;
}

/** A cell up to this bound has a length of one byte, so its prefix is known before it is written. */
const shortCell = 250;
/** Longest prefix of a cell. */
const prefixBytes = 9;

/** The encoder of one batch. */
export function rowEncoder(batch: ColumnarBatch, format: RowFormat): RowEncoder {
  const style = format.zone === mysqlText.zone ? mysqlText : { ...mysqlText, zone: format.zone };
  const columns = batch.columns.map((vector) => cellsOf(vector, format, style));
  const put = format.kind === "text" ? putTextRow : putBinaryRow;
  return {
    write: (from, end, out) => {
      let row = from;
      while (row < end && out.at < format.flushBytes) {
        out.begin();
        const failure = put(columns, row, out, format.rowBytesMax);
        if (failure !== undefined) {
          out.discard();
          return err(failure);
        }
        out.end();
        row += 1;
      }
      return ok(row);
    },
  };
}

function cellsOf(vector: Vector, format: RowFormat, style: TextStyle): Cells {
  const { form } = mysqlTypeOf(vector.type);
  const prefixed = format.kind === "text" || form.kind === "text";
  const alwaysNull = vector.type.kind === "null";
  const writer = prefixed ? cellWriter(vector, style) : binaryCells(vector, form, format.zone);
  return { writer, prefixed, validity: vector.validity, offset: vector.offset, alwaysNull };
}

function putTextRow(
  columns: readonly Cells[],
  row: number,
  out: PacketWriter,
  rowBytesMax: number,
): GatewayError | undefined {
  const start = out.at;
  for (const cells of columns) {
    if (isNullCell(cells, row)) {
      out.u8(nullCell);
      continue;
    }
    const failure = putCell(cells, row, out, start + rowBytesMax);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function putBinaryRow(
  columns: readonly Cells[],
  row: number,
  out: PacketWriter,
  rowBytesMax: number,
): GatewayError | undefined {
  const start = out.at;
  const nulls = 1 + binaryNullBytes(columns.length);
  out.zeros(nulls);
  for (let index = 0; index < columns.length; index += 1) {
    const cells = columns[index];
    if (cells === undefined) continue;
    if (isNullCell(cells, row)) {
      markNull(out.bytes, start + 1, index);
      continue;
    }
    const failure = putCell(cells, row, out, start + rowBytesMax);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function isNullCell(cells: Cells, row: number): boolean {
  const { validity } = cells;
  if (validity === undefined) return cells.alwaysNull;
  const index = cells.offset + row;
  return ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}

/** `endMax` is the offset no row may pass; asked before room is made. */
function putCell(
  cells: Cells,
  row: number,
  out: PacketWriter,
  endMax: number,
): GatewayError | undefined {
  const { writer } = cells;
  const bound = writer.bound(row);
  const needed = bound + prefixBytes + packetHeaderBytes;
  if (out.at + bound > endMax) return rowTooLong;
  if (out.at + needed > out.bytes.length) out.reserve(needed);
  const { bytes, at } = out;
  if (!cells.prefixed) {
    const end = writer.write(bytes, at, row);
    if (end < 0) return outOfRange;
    out.at = end;
    return undefined;
  }
  if (bound <= shortCell) {
    const end = writer.write(bytes, at + 1, row);
    bytes[at] = end - at - 1;
    out.at = end;
    return undefined;
  }
  const end = writer.write(bytes, at + lenencBytes(bound), row);
  out.at = prefixCell(bytes, at, bound, end);
  return undefined;
}

/** Why a row is refused that is longer than the limit. */
export const rowTooLong = gatewayError("protocol.tooLarge", {
  message: "A row is longer than the listener's maxMessageBytes allows.",
});

const outOfRange = gatewayError("query.data", {
  message:
    "A date or timestamp lies outside the years 0 to 9999, which a binary MySQL row can not hold; select it as text.",
});
