/** A column of places in a dictionary as the values themselves. */
import { isNull, type Vector } from "@gateway/core/type/vector.ts";

export interface Places {
  readonly view: DataView;
  /** Bytes of a place: 1, 2, 4 or 8. */
  readonly width: number;
  readonly rows: number;
  /** The first key stands for NULL. */
  readonly nullable: boolean;
}

/** Undefined when a place lies outside the dictionary. */
export function gathered(keys: Vector, places: Places): Vector | undefined {
  const at = placesOf(places);
  if (at.some((place) => place >= keys.length)) return undefined;
  const plain = { ...keys, length: places.rows, validity: validityOf(at, keys, places) };
  if (keys.offsets !== undefined) return { ...plain, ...gatheredBytes(keys, keys.offsets, at) };
  if (keys.type.kind === "boolean") return { ...plain, values: gatheredBits(keys, at) };
  const width = keys.length === 0 ? 0 : keys.values.length / keys.length;
  const values = new Uint8Array(places.rows * width);
  for (const [row, place] of at.entries()) {
    for (let byte = 0; byte < width; byte += 1) {
      values[row * width + byte] = keys.values[place * width + byte] ?? 0;
    }
  }
  return { ...plain, values };
}

function placesOf({ view, width, rows }: Places): Uint32Array {
  const at = new Uint32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    if (width === 1) at[row] = view.getUint8(row);
    else if (width === 2) at[row] = view.getUint16(row * 2, true);
    else at[row] = view.getUint32(row * width, true);
  }
  return at;
}

function validityOf(at: Uint32Array, keys: Vector, { nullable }: Places): Uint8Array | undefined {
  if (!nullable && keys.validity === undefined) return undefined;
  const bits = new Uint8Array((at.length + 7) >> 3);
  for (const [row, place] of at.entries()) {
    if (nullable ? place !== 0 : !isNull(keys, place))
      bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

function gatheredBytes(
  keys: Vector,
  from: Int32Array,
  at: Uint32Array,
): Pick<Vector, "values" | "offsets"> {
  const offsets = new Int32Array(at.length + 1);
  let end = 0;
  for (const [row, place] of at.entries()) {
    end += (from[place + 1] ?? 0) - (from[place] ?? 0);
    if (end > 0x7fff_ffff) throw new RangeError("a vector holds at most 2 GiB");
    offsets[row + 1] = end;
  }
  const values = new Uint8Array(end);
  for (const [row, place] of at.entries()) {
    values.set(keys.values.subarray(from[place], from[place + 1]), offsets[row]);
  }
  return { values, offsets };
}

function gatheredBits(keys: Vector, at: Uint32Array): Uint8Array {
  const bits = new Uint8Array((at.length + 7) >> 3);
  for (const [row, place] of at.entries()) {
    const bit = (keys.values[place >> 3] ?? 0) & (1 << (place & 7));
    if (bit !== 0) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}
