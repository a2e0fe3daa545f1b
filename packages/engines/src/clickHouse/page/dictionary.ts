/** A column of indexes in a dictionary as the values themselves. */
import { isNull, type Vector } from "@gateway/core/type/vector.ts";

/** The indexes as they lie in a block: one for each row. */
export interface DictionaryIndexes {
  readonly view: DataView;
  /** Bytes of an index: 1, 2, 4 or 8. */
  readonly width: number;
  readonly rows: number;
  /** The first value stands for NULL. */
  readonly nullable: boolean;
}

/** Undefined when an index lies outside the dictionary. */
export function gathered(dictionary: Vector, indexes: DictionaryIndexes): Vector | undefined {
  const at = indexesOf(indexes);
  if (at.some((index) => index >= dictionary.length)) return undefined;
  const plain = {
    ...dictionary,
    length: indexes.rows,
    validity: validityOf(at, dictionary, indexes),
  };
  if (dictionary.offsets !== undefined)
    return { ...plain, ...gatheredBytes(dictionary, dictionary.offsets, at) };
  if (dictionary.type.kind === "boolean") return { ...plain, values: gatheredBits(dictionary, at) };
  const width = dictionary.length === 0 ? 0 : dictionary.values.length / dictionary.length;
  const values = new Uint8Array(indexes.rows * width);
  for (const [row, index] of at.entries()) {
    for (let byte = 0; byte < width; byte += 1) {
      values[row * width + byte] = dictionary.values[index * width + byte] ?? 0;
    }
  }
  return { ...plain, values };
}

function indexesOf({ view, width, rows }: DictionaryIndexes): Uint32Array {
  const at = new Uint32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    if (width === 1) at[row] = view.getUint8(row);
    else if (width === 2) at[row] = view.getUint16(row * 2, true);
    else at[row] = view.getUint32(row * width, true);
  }
  return at;
}

function validityOf(
  at: Uint32Array,
  dictionary: Vector,
  { nullable }: DictionaryIndexes,
): Uint8Array | undefined {
  if (!nullable && dictionary.validity === undefined) return undefined;
  const bits = new Uint8Array((at.length + 7) >> 3);
  for (const [row, index] of at.entries()) {
    if (nullable ? index !== 0 : !isNull(dictionary, index))
      bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

function gatheredBytes(
  dictionary: Vector,
  from: Int32Array,
  at: Uint32Array,
): Pick<Vector, "values" | "offsets"> {
  const offsets = new Int32Array(at.length + 1);
  let end = 0;
  for (const [row, index] of at.entries()) {
    end += (from[index + 1] ?? 0) - (from[index] ?? 0);
    if (end > 0x7fff_ffff) throw new RangeError("a vector holds at most 2 GiB");
    offsets[row + 1] = end;
  }
  const values = new Uint8Array(end);
  for (const [row, index] of at.entries()) {
    values.set(dictionary.values.subarray(from[index], from[index + 1]), offsets[row]);
  }
  return { values, offsets };
}

function gatheredBits(dictionary: Vector, at: Uint32Array): Uint8Array {
  const bits = new Uint8Array((at.length + 7) >> 3);
  for (const [row, index] of at.entries()) {
    const bit = (dictionary.values[index >> 3] ?? 0) & (1 << (index & 7));
    if (bit !== 0) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}
