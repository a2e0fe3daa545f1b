/**
 * Text batches as rows of MySQL's text protocol: lengths in front of the source's own bytes. No cell is
 * read as a value, so only columns whose canonical text is MySQL's are written here.
 */
import { err, ok } from "@gateway/core/result.ts";
import { floatsAreCommon, putCell } from "@gateway/core/type/textCells.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import { utc, type Zone } from "@gateway/core/type/zone.ts";
import { lenencBytes, putLenenc, type PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { nullCell } from "@gateway/wire/mysql/row.ts";
import { rowTooLong, type RowEncoder, type RowFormat } from "./rows.ts";

/** Longest prefix of a cell. */
const prefixBytes = 9;
/** MySQL takes an exponent from 10^15 on and below 10^-15; JavaScript's canonical text takes one below 10^-6 already. */
const plainFloats = { wholeDigitsMax: 15, zerosMax: 6 };
const one = 0x31;
const no = 0x30;
const trueSize = "true".length;

/** The encoder of a batch; undefined when a column's cells look different in MySQL, or the row is binary. */
export function textRowEncoder(batch: TextBatch, format: RowFormat): RowEncoder | undefined {
  if (format.kind !== "text") return undefined;
  const known = batch.types.every((type, index) => isOwn(batch, type, index, format.zone));
  if (!known) return undefined;
  const booleans = batch.types.map((type) => type.kind === "boolean");
  return {
    write: (from, end, out) => {
      let row = from;
      while (row < end && out.at < format.flushBytes) {
        out.begin();
        if (!putRow(batch, booleans, row, { out, bytesMax: format.rowBytesMax })) {
          out.discard();
          return err(rowTooLong);
        }
        out.end();
        row += 1;
      }
      return ok(row);
    },
  };
}

function isOwn(batch: TextBatch, type: DataType, column: number, zone: Zone): boolean {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "integer":
    case "decimal":
    case "text":
    case "json":
    case "binary":
    case "date":
    case "time":
    case "uuid":
      return true;
    case "float":
      return floatsAreCommon(batch, column, plainFloats);
    case "timestamp":
      return !type.zoned || zone === utc;
    case "interval":
    case "list":
    case "struct":
    case "map":
      return false;
  }
}

/** False when the row would be longer than the limit; no room is made for it then. */
function putRow(
  batch: TextBatch,
  booleans: readonly boolean[],
  row: number,
  { out, bytesMax }: { readonly out: PacketWriter; readonly bytesMax: number },
): boolean {
  const { lengths } = batch;
  const width = batch.types.length;
  const first = row * width;
  let size = 0;
  for (let cell = first; cell < first + width; cell += 1) {
    const length = lengths[cell] ?? -1;
    size += length < 0 ? 1 : length + lenencBytes(length);
  }
  if (size > bytesMax) return false;
  const needed = size + prefixBytes + packetHeaderBytes;
  if (out.at + needed > out.bytes.length) out.reserve(needed);
  const to = out.bytes;
  let { at } = out;
  for (let column = 0; column < width; column += 1) {
    const length = lengths[first + column] ?? -1;
    if (length < 0) {
      to[at] = nullCell;
      at += 1;
    } else if (booleans[column] === true) {
      to[at] = 1;
      // `true` and `false` differ in length.
      to[at + 1] = length === trueSize ? one : no;
      at += 2;
    } else {
      at = putLenenc(to, at, length);
      at = putCell(to, at, batch, first + column);
    }
  }
  out.at = at;
  return true;
}
