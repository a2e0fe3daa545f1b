/**
 * Writes FlatBuffers, as far as Arrow's metadata needs them: tables, strings, vectors of tables and of structs.
 *
 * A buffer grows towards its beginning, as the format wants it: what a table refers to is written before the
 * table. Places are counted from the buffer's end, so that they stay true while it grows.
 */

/** Where something was written, in bytes from the end of the buffer. */
export type Place = number;

/** A field of a table, by its slot in the schema. A default value is left out by the caller. */
export type TableField =
  | {
      readonly slot: number;
      readonly kind: "bool" | "byte" | "short" | "int";
      readonly value: number;
    }
  | { readonly slot: number; readonly kind: "long"; readonly value: number }
  | { readonly slot: number; readonly kind: "place"; readonly value: Place };

const widths = { bool: 1, byte: 1, short: 2, int: 4, long: 8, place: 4 } as const;
const encoder = new TextEncoder();

export class FlatBuilder {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes that are not written yet, at the beginning. */
  #space = 1024;
  /** The strictest alignment that anything in it asked for. */
  #align = 4;

  /** A string, ended by a zero as the format wants it. */
  string(text: string): Place {
    const bytes = encoder.encode(text);
    this.#prepare(4, bytes.length + 1);
    this.#space -= 1;
    this.#view.setUint8(this.#space, 0);
    this.#space -= bytes.length;
    this.#bytes.set(bytes, this.#space);
    return this.#putLength(bytes.length);
  }

  /** A vector of references to what was written before. */
  places(places: readonly Place[]): Place {
    this.#prepare(4, places.length * 4);
    for (const place of places.toReversed()) this.#putReference(place);
    return this.#putLength(places.length);
  }

  /** A vector of 32-bit integers. */
  integers(values: readonly number[]): Place {
    this.#prepare(4, values.length * 4);
    for (const value of values.toReversed()) {
      this.#space -= 4;
      this.#view.setInt32(this.#space, value, true);
    }
    return this.#putLength(values.length);
  }

  /** A vector of structs of two 64-bit integers each, given one after the other. */
  pairs(values: readonly number[]): Place {
    return this.#structs(values, 2);
  }

  /** The same of three. One of 32 bits and its padding is a small one of 64. */
  triples(values: readonly number[]): Place {
    return this.#structs(values, 3);
  }

  #structs(values: readonly number[], each: number): Place {
    this.#prepare(4, values.length * 8);
    this.#prepare(8, values.length * 8);
    for (const value of values.toReversed()) {
      this.#space -= 8;
      this.#putLong(this.#space, value);
    }
    return this.#putLength(values.length / each);
  }

  /** A table. Its layout is written in front of it. */
  table(fields: readonly TableField[]): Place {
    const slots = fields.reduce((most, { slot }) => Math.max(most, slot + 1), 0);
    const at = Array.from({ length: slots }, () => 0);
    // The wide ones first, so that no room is lost between them.
    const ordered = fields.toSorted((a, b) => widths[b.kind] - widths[a.kind]);
    const end = this.#written;
    for (const field of ordered) {
      this.#prepare(widths[field.kind], 0);
      this.#putField(field);
      at[field.slot] = this.#written;
    }
    this.#prepare(4, 0);
    this.#space -= 4;
    const table = this.#written;
    this.#prepare(2, (slots + 2) * 2);
    for (const place of at.toReversed()) this.#putShort(place === 0 ? 0 : table - place);
    this.#putShort(table - end);
    this.#putShort((slots + 2) * 2);
    // Signed and from the table to its layout, which lies before it.
    this.#view.setInt32(this.#bytes.length - table, this.#written - table, true);
    return table;
  }

  /** The buffer whose root is that table. Its length is a multiple of 8. */
  finish(root: Place): Uint8Array {
    this.#prepare(Math.max(this.#align, 8), 4);
    this.#putReference(root);
    return this.#bytes.subarray(this.#space);
  }

  get #written(): number {
    return this.#bytes.length - this.#space;
  }

  #putField(field: TableField): void {
    if (field.kind === "place") return this.#putReference(field.value);
    this.#space -= widths[field.kind];
    switch (field.kind) {
      case "bool":
      case "byte":
        return this.#view.setUint8(this.#space, field.value);
      case "short":
        return this.#view.setInt16(this.#space, field.value, true);
      case "int":
        return this.#view.setInt32(this.#space, field.value, true);
      case "long":
        return this.#putLong(this.#space, field.value);
    }
  }

  #putShort(value: number): void {
    this.#space -= 2;
    this.#view.setUint16(this.#space, value, true);
  }

  #putLong(at: number, value: number): void {
    this.#view.setBigInt64(at, BigInt(value), true);
  }

  #putReference(place: Place): void {
    this.#space -= 4;
    this.#view.setUint32(this.#space, this.#written - place, true);
  }

  #putLength(length: number): Place {
    this.#space -= 4;
    this.#view.setUint32(this.#space, length, true);
    return this.#written;
  }

  /** Makes room, and pads so that what is `more` bytes long and begins there ends up aligned. */
  #prepare(align: number, more: number): void {
    this.#align = Math.max(this.#align, align);
    const padding = -(this.#written + more) & (align - 1);
    while (this.#space < padding + more + 16) this.#grow();
    this.#bytes.fill(0, this.#space - padding, this.#space);
    this.#space -= padding;
  }

  #grow(): void {
    const grown = new Uint8Array(this.#bytes.length * 2);
    grown.set(this.#bytes, this.#bytes.length);
    this.#space += this.#bytes.length;
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
