/** The sinks of the layouts: one class per way of reading, and the choice between them. */
import { unreachable } from "@gateway/core/result.ts";
import { copyBits } from "../memory/bits.ts";
import { childAt, readArray } from "./cdata.ts";
import { DictionarySink, TextualSink, UnionSink, WidenedSink } from "./converted.ts";
import { ByteBuffer, OffsetBuffer } from "../memory/grow.ts";
import type { Layout } from "./layout.ts";
import { bytesAt, type Address } from "../memory/native.ts";
import {
  planBytes,
  planNative,
  Validity,
  type BodyPlan,
  type NativePiece,
  type Sink,
} from "./sink.ts";

/** The sink for a layout and everything below it. */
export function sinkOf(layout: Layout): Sink {
  const { read, children } = layout;
  switch (read.kind) {
    case "null":
      return new NullSink();
    case "bits":
    case "bytesToBits":
      return new BooleanSink(read.kind === "bits");
    case "fixed":
      return new FixedSink(read.width);
    case "widened":
      return new WidenedSink(read.from, read.width);
    case "bytes":
      return new BytesSink(read.offsetBytes);
    case "fixedBytes":
      return new FixedBytesSink(read.width);
    case "textual":
      return new TextualSink(read.rule, read.width);
    case "list":
      return new ListSink(read.offsetBytes, onlyChild(children));
    case "fixedList":
      return new FixedListSink(read.size, onlyChild(children));
    case "struct":
      return new StructSink(children.map(sinkOf));
    case "map":
      return new ListSink(4, new StructSink(children.map(sinkOf)));
    case "union":
      return new UnionSink(read.tags, children.map(sinkOf));
    case "dictionary":
      return new DictionarySink(read.indexBytes, read.indexSigned, dictionaryWidth(children[0]));
    default:
      return unreachable(read);
  }
}

function onlyChild(children: readonly Layout[]): Sink {
  const [child] = children;
  if (child === undefined) throw new Error("a list without the layout of its items");
  return sinkOf(child);
}

function dictionaryWidth(values: Layout | undefined): number | undefined {
  return values?.read.kind === "fixed" ? values.read.width : undefined;
}

class NullSink implements Sink {
  #rows = 0;

  add(_array: Address, _start: number, count: number): void {
    this.#rows += count;
  }

  plan(body: BodyPlan): void {
    body.nodes.push({ length: this.#rows, nullCount: this.#rows });
  }

  reset(): void {
    this.#rows = 0;
  }
}

/** Values of one width, left where they are until the batch is laid out. */
class FixedSink implements Sink {
  readonly #width: number;
  readonly #validity = new Validity();
  readonly #pieces: NativePiece[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const values = (array.buffers[1] ?? 0) + (array.offset + start) * this.#width;
    this.#pieces.push({ kind: "native", address: values, length: count * this.#width });
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planNative(body, this.#pieces);
  }

  reset(): void {
    this.#validity.reset();
    this.#pieces.length = 0;
  }
}

/** Booleans, as bits whatever they arrived as. */
class BooleanSink implements Sink {
  readonly #packed: boolean;
  readonly #validity = new Validity();
  readonly #bits = new ByteBuffer();
  #rows = 0;

  constructor(packed: boolean) {
    this.#packed = packed;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const target = this.#bits.room(((count + 7) >> 3) + 1);
    const values = array.buffers[1] ?? 0;
    const from = array.offset + start;
    if (this.#packed) this.#takeBits(target, values, from, count);
    else this.#takeBytes(target, values + from, count);
    this.#rows += count;
    this.#bits.length = (this.#rows + 7) >> 3;
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#bits.view());
  }

  reset(): void {
    this.#validity.reset();
    this.#bits.reset();
    this.#rows = 0;
  }

  #takeBits(target: Uint8Array, values: Address, from: number, count: number): void {
    const firstByte = from >> 3;
    const source = bytesAt(values + firstByte, ((from + count + 7) >> 3) - firstByte);
    copyBits(target, this.#rows, source, { from: from & 7, count });
  }

  #takeBytes(target: Uint8Array, values: Address, count: number): void {
    const source = bytesAt(values, count);
    let row = this.#rows;
    for (let index = 0; index < count; index += 1, row += 1) {
      const mask = 1 << (row & 7);
      const byte = target[row >> 3] ?? 0;
      target[row >> 3] = source[index] === 0 ? byte & ~mask : byte | mask;
    }
  }
}

/** Text and binary: offsets rebased, bytes left where they are. */
class BytesSink implements Sink {
  readonly #offsetBytes: 4 | 8;
  readonly #validity = new Validity();
  readonly #offsets = new OffsetBuffer();
  readonly #pieces: NativePiece[] = [];

  constructor(offsetBytes: 4 | 8) {
    this.#offsetBytes = offsetBytes;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const offsets = (array.buffers[1] ?? 0) + (array.offset + start) * this.#offsetBytes;
    const [first, last] = this.#offsets.append(offsets, count, this.#offsetBytes);
    if (last === first) return;
    const values = (array.buffers[2] ?? 0) + first;
    this.#pieces.push({ kind: "native", address: values, length: last - first });
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#offsets.view());
    planNative(body, this.#pieces);
  }

  reset(): void {
    this.#validity.reset();
    this.#offsets.reset();
    this.#pieces.length = 0;
  }
}

/** Binary of one length, which gets the offsets that binary has here. */
class FixedBytesSink implements Sink {
  readonly #width: number;
  readonly #validity = new Validity();
  readonly #offsets = new OffsetBuffer();
  readonly #pieces: NativePiece[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const values = (array.buffers[1] ?? 0) + (array.offset + start) * this.#width;
    this.#pieces.push({ kind: "native", address: values, length: count * this.#width });
    for (let row = 0; row < count; row += 1) this.#offsets.push(this.#offsets.end + this.#width);
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#offsets.view());
    planNative(body, this.#pieces);
  }

  reset(): void {
    this.#validity.reset();
    this.#offsets.reset();
    this.#pieces.length = 0;
  }
}

/** Lists, and maps as lists of entries. */
class ListSink implements Sink {
  readonly #offsetBytes: 4 | 8;
  readonly #items: Sink;
  readonly #validity = new Validity();
  readonly #offsets = new OffsetBuffer();

  constructor(offsetBytes: 4 | 8, items: Sink) {
    this.#offsetBytes = offsetBytes;
    this.#items = items;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const offsets = (array.buffers[1] ?? 0) + (array.offset + start) * this.#offsetBytes;
    const [first, last] = this.#offsets.append(offsets, count, this.#offsetBytes);
    if (last > first) this.#items.add(childAt(array, 0), first, last - first);
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#offsets.view());
    this.#items.plan(body);
  }

  reset(): void {
    this.#validity.reset();
    this.#offsets.reset();
    this.#items.reset();
  }
}

/** Lists of one length for all rows. */
class FixedListSink implements Sink {
  readonly #size: number;
  readonly #items: Sink;
  readonly #validity = new Validity();
  readonly #offsets = new OffsetBuffer();

  constructor(size: number, items: Sink) {
    this.#size = size;
    this.#items = items;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    for (let row = 0; row < count; row += 1) this.#offsets.push(this.#offsets.end + this.#size);
    const from = (array.offset + start) * this.#size;
    if (count > 0) this.#items.add(childAt(array, 0), from, count * this.#size);
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#offsets.view());
    this.#items.plan(body);
  }

  reset(): void {
    this.#validity.reset();
    this.#offsets.reset();
    this.#items.reset();
  }
}

class StructSink implements Sink {
  readonly #fields: readonly Sink[];
  readonly #validity = new Validity();

  constructor(fields: readonly Sink[]) {
    this.#fields = fields;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    for (const [index, field] of this.#fields.entries()) {
      field.add(childAt(array, index), array.offset + start, count);
    }
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    for (const field of this.#fields) field.plan(body);
  }

  reset(): void {
    this.#validity.reset();
    for (const field of this.#fields) field.reset();
  }
}
