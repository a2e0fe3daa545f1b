/** The two forms in which rows of a result are kept and sent: JSON, and Arrow's IPC streams. */
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { rowsJson } from "../encode.ts";
import { isArrow } from "../value/arrowColumns.ts";
import { streamBatch, streamEnd, streamHead } from "../value/arrowStream.ts";

/** Rows of one batch: JSON arrays joined by commas, or one message of a stream. */
export type Piece = string | Buffer;

/** Bytes of a piece that is a message. */
function messageOf(piece: Piece): Buffer {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
}

export interface RowFormat {
  /** As drivers know it (`queryResultFormat`). */
  readonly name: "json" | "arrow";
  encode(batch: Batch): Piece;
  /** A chunk, which a driver reads for itself. */
  chunk(pieces: readonly Piece[]): Buffer;
  /** Rows of the answer itself: a JSON array, or the stream in base64. */
  inline(pieces: readonly Piece[]): string;
}

export const jsonFormat: RowFormat = {
  name: "json",
  encode: rowsJson,
  chunk: (pieces) => Buffer.from(pieces.join()),
  inline: (pieces) => `[${pieces.join()}]`,
};

/** Arrow where the driver wants it and has a type for each column, JSON otherwise. */
export function formatOf(columns: readonly Column[], wantsArrow: boolean): RowFormat {
  if (!wantsArrow || columns.length === 0 || !columns.every(isArrow)) return jsonFormat;
  const head = streamHead(columns);
  const stream = (pieces: readonly Piece[]): Buffer =>
    Buffer.concat([head, ...pieces.map(messageOf), streamEnd]);
  return {
    name: "arrow",
    encode: streamBatch,
    chunk: stream,
    // Python's driver takes a stream without rows for a broken one.
    inline: (pieces) => (pieces.length === 0 ? "" : stream(pieces).toString("base64")),
  };
}
