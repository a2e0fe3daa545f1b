/**
 * Reads FlatBuffers that a stranger sent. Every place is checked before it is used: a wrong one throws
 * `FlatError`, which the reader of the message turns into a value.
 */

/** The bytes are no such buffer. */
export class FlatError extends Error {}

const decoder = new TextDecoder();

/** A table in a buffer. Fields are asked for by their slot. */
export class FlatTable {
  readonly #view: DataView;
  readonly #at: number;
  readonly #layout: number;
  readonly #layoutBytes: number;

  private constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = within(view, at, 4);
    this.#layout = within(view, at - view.getInt32(at, true), 4);
    this.#layoutBytes = view.getUint16(this.#layout, true);
    within(view, this.#layout, this.#layoutBytes);
  }

  /** The root table. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(view, view.getUint32(within(view, 0, 4), true));
  }

  byte(slot: number, otherwise: number): number {
    const at = this.#field(slot, 1);
    return at === undefined ? otherwise : this.#view.getUint8(at);
  }

  short(slot: number, otherwise: number): number {
    const at = this.#field(slot, 2);
    return at === undefined ? otherwise : this.#view.getInt16(at, true);
  }

  int(slot: number, otherwise: number): number {
    const at = this.#field(slot, 4);
    return at === undefined ? otherwise : this.#view.getInt32(at, true);
  }

  /** A 64-bit integer that must be an exact number. */
  long(slot: number, otherwise: number): number {
    const at = this.#field(slot, 8);
    return at === undefined ? otherwise : longAt(this.#view, at);
  }

  string(slot: number): string | undefined {
    const at = this.#reference(slot);
    if (at === undefined) return undefined;
    const length = this.#view.getUint32(within(this.#view, at, 4), true);
    within(this.#view, at + 4, length);
    return decoder.decode(
      new Uint8Array(this.#view.buffer, this.#view.byteOffset + at + 4, length),
    );
  }

  table(slot: number): FlatTable | undefined {
    const at = this.#reference(slot);
    return at === undefined ? undefined : new FlatTable(this.#view, at);
  }

  /** The tables of a vector; more than `countMax` are refused. */
  tables(slot: number, countMax: number): readonly FlatTable[] {
    const vector = this.#vector(slot, 4, countMax);
    return Array.from({ length: vector.count }, (_, index) => {
      const at = vector.at + index * 4;
      return new FlatTable(this.#view, at + this.#view.getUint32(at, true));
    });
  }

  /** The numbers of a vector of structs of two 64-bit integers each. */
  pairs(slot: number, countMax: number): readonly (readonly [number, number])[] {
    const vector = this.#vector(slot, 16, countMax);
    return Array.from({ length: vector.count }, (_, index) => {
      const at = vector.at + index * 16;
      return [longAt(this.#view, at), longAt(this.#view, at + 8)] as const;
    });
  }

  #vector(slot: number, width: number, countMax: number) {
    const at = this.#reference(slot);
    if (at === undefined) return { at: 0, count: 0 };
    const count = this.#view.getUint32(within(this.#view, at, 4), true);
    if (count > countMax) throw new FlatError("a vector with too many members");
    within(this.#view, at + 4, count * width);
    return { at: at + 4, count };
  }

  #reference(slot: number): number | undefined {
    const at = this.#field(slot, 4);
    return at === undefined ? undefined : at + this.#view.getUint32(at, true);
  }

  #field(slot: number, width: number): number | undefined {
    const entry = 4 + slot * 2;
    if (entry + 2 > this.#layoutBytes) return undefined;
    const offset = this.#view.getUint16(this.#layout + entry, true);
    return offset === 0 ? undefined : within(this.#view, this.#at + offset, width);
  }
}

/** The place, after it was checked that so many bytes follow there. */
function within(view: DataView, at: number, bytes: number): number {
  if (!(at >= 0 && at + bytes <= view.byteLength))
    throw new FlatError("a place outside of the buffer");
  return at;
}

function longAt(view: DataView, at: number): number {
  const value = Number(view.getBigInt64(at, true));
  if (!Number.isSafeInteger(value)) throw new FlatError("a number that is too large");
  return value;
}
