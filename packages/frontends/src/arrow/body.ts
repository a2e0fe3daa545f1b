/**
 * Rows of columns as the nodes and buffers of one Arrow record batch.
 *
 * Our vectors have Arrow's layout, so a buffer is a view of the engine's own bytes wherever one piece of rows
 * begins where the engine's does; only bitmaps and offsets that begin elsewhere, and the few widths that differ,
 * are written anew. Nothing here looks at a cell otherwise.
 */
import type { DataType } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { BitList } from "./bits.ts";
import { scaled, widened } from "./widths.ts";

/** Rows of a vector, counted from its first. */
export interface Piece {
  readonly vector: Vector;
  readonly from: number;
  readonly count: number;
}

/** Some rows of a batch. */
export interface Slice {
  readonly batch: ColumnarBatch;
  readonly from: number;
  readonly count: number;
}

/** A record batch in parts; each buffer is the chunks one behind the other. */
export interface Body {
  readonly rows: number;
  readonly nodes: { readonly length: number; readonly nullCount: number }[];
  readonly buffers: { readonly length: number; readonly chunks: readonly Uint8Array[] }[];
}

/** The rows of all slices, in their order, as one record batch. The slices have the same columns. */
export function bodyOf(slices: readonly Slice[]): Body {
  const rows = slices.reduce((sum, { count }) => sum + count, 0);
  const body: Body = { rows, nodes: [], buffers: [] };
  const width = slices[0]?.batch.columns.length ?? 0;
  for (let index = 0; index < width; index += 1) {
    const pieces = slices.flatMap(({ batch, from, count }) => {
      const vector = batch.columns[index];
      return vector === undefined ? [] : [{ vector, from, count }];
    });
    const type = pieces[0]?.vector.type;
    if (type !== undefined) putColumn(body, type, pieces);
  }
  return body;
}

function putColumn(body: Body, type: DataType, pieces: readonly Piece[]): void {
  const length = pieces.reduce((sum, { count }) => sum + count, 0);
  if (type.kind === "null") {
    body.nodes.push({ length, nullCount: length });
    return;
  }
  const validity = validityOf(pieces, length);
  body.nodes.push({ length, nullCount: validity?.zeros ?? 0 });
  put(body, validity === undefined ? [] : [validity.bytes]);
  switch (type.kind) {
    case "boolean":
      return put(body, [valueBits(pieces, length)]);
    case "text":
    case "json":
    case "binary":
      return putBytes(body, pieces, length);
    case "list":
      put(body, [offsetBytes(pieces, length)]);
      return putColumn(
        body,
        type.item,
        pieces.map((piece) => childRange(piece, 0)),
      );
    case "map": {
      put(body, [offsetBytes(pieces, length)]);
      const keys = pieces.map((piece) => childRange(piece, 0));
      const entries = keys.reduce((sum, { count }) => sum + count, 0);
      body.nodes.push({ length: entries, nullCount: 0 });
      put(body, []);
      putColumn(body, type.key, keys);
      return putColumn(
        body,
        type.value,
        pieces.map((piece) => childRange(piece, 1)),
      );
    }
    case "struct":
      return type.fields.forEach((field, index) =>
        putColumn(
          body,
          field.type,
          pieces.map((piece) => childAt(piece, index)),
        ),
      );
    default:
      return put(body, fixedChunks(type, pieces));
  }
}

function put(body: Body, chunks: readonly Uint8Array[]): void {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  body.buffers.push({ length, chunks });
}

/** Undefined when no cell is NULL. */
function validityOf(pieces: readonly Piece[], length: number): BitList | undefined {
  if (pieces.every(({ vector }) => vector.validity === undefined)) return undefined;
  const bits = new BitList(length);
  for (const { vector, from, count } of pieces) {
    if (vector.validity === undefined) bits.ones(count);
    else bits.copy(vector.validity, vector.offset + from, count);
  }
  return bits;
}

function valueBits(pieces: readonly Piece[], length: number): Uint8Array {
  const bits = new BitList(length);
  for (const { vector, from, count } of pieces) {
    bits.copy(vector.values, vector.offset + from, count);
  }
  return bits.bytes;
}

function putBytes(body: Body, pieces: readonly Piece[], length: number): void {
  put(body, [offsetBytes(pieces, length)]);
  put(
    body,
    pieces.map((piece) => piece.vector.values.subarray(startOf(piece), endOf(piece))),
  );
}

/** Offsets that begin at 0. */
function offsetBytes(pieces: readonly Piece[], length: number): Uint8Array {
  const [only] = pieces;
  const offsets = only?.vector.offsets;
  if (pieces.length === 1 && only !== undefined && offsets !== undefined && startOf(only) === 0) {
    const first = only.vector.offset + only.from;
    return bytesOf(offsets.subarray(first, first + only.count + 1));
  }
  const made = new Int32Array(length + 1);
  let row = 0;
  let end = 0;
  for (const piece of pieces) {
    const { vector, from, count } = piece;
    const first = vector.offset + from;
    const shift = end - startOf(piece);
    for (let index = 1; index <= count; index += 1) {
      made[row + index] = (vector.offsets?.[first + index] ?? 0) + shift;
    }
    row += count;
    end = made[row] ?? 0;
  }
  return bytesOf(made);
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function startOf({ vector, from }: Piece): number {
  return vector.offsets?.[vector.offset + from] ?? 0;
}

function endOf({ vector, from, count }: Piece): number {
  return vector.offsets?.[vector.offset + from + count] ?? 0;
}

/** The rows of a child that the piece's offsets name. */
function childRange(piece: Piece, index: number): Piece {
  const from = startOf(piece);
  return { vector: childOf(piece.vector, index), from, count: endOf(piece) - from };
}

/** The rows of a struct's field. */
function childAt({ vector, from, count }: Piece, index: number): Piece {
  return { vector: childOf(vector, index), from: vector.offset + from, count };
}

function childOf({ children }: Vector, index: number): Vector {
  const child = children[index];
  if (child === undefined) throw new RangeError("a vector without its children");
  return child;
}

function fixedChunks(type: DataType, pieces: readonly Piece[]): readonly Uint8Array[] {
  const width = widthOf(type);
  return pieces.map(({ vector, from, count }) => {
    const start = (vector.offset + from) * width;
    const bytes = vector.values.subarray(start, start + count * width);
    if (type.kind === "integer" && type.bits === 128) return widened(bytes, type.signed);
    if (type.kind === "time" && type.unit === "s") return scaled(bytes, 1_000_000n);
    if (type.kind === "time" && type.unit === "ms") return scaled(bytes, 1_000n);
    return bytes;
  });
}

/** Bytes of a cell in our layout. */
function widthOf(type: DataType): number {
  switch (type.kind) {
    case "integer":
    case "float":
      return type.bits / 8;
    case "decimal":
    case "interval":
    case "uuid":
      return 16;
    case "date":
      return 4;
    case "time":
    case "timestamp":
      return 8;
    default:
      throw new TypeError(`a ${type.kind} has no width`);
  }
}
