/** Layouts that DuckDB does not send but other drivers may, from arrays laid out by hand in native memory. */
import type { DataType, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { arrayStruct } from "../memory/abi.ts";
import type { ArrowField } from "./cdata.ts";
import { Gatherer } from "./gather.ts";
import { readBatchMessage } from "./ipc.ts";
import { layoutOf } from "./layout.ts";
import { addressOf, MemoryBlock } from "../memory/native.ts";
import { arraysHeldMax } from "../memory/structs.ts";
import { textOf } from "./textual.ts";
import { casesOf } from "../../../../../test/cases.ts";

const blocks: MemoryBlock[] = [];
/** Buffers that native memory points into. */
const kept: Uint8Array[] = [];
afterEach(() => {
  for (const block of blocks.splice(0)) block[Symbol.dispose]();
  kept.length = 0;
});

/** An array as a driver would lay it out. Buffers may be absent. */
interface HandMade {
  readonly length: number;
  readonly offset?: number;
  readonly nullCount?: number;
  readonly buffers: readonly (Uint8Array | undefined)[];
  readonly children?: readonly HandMade[];
  readonly dictionary?: HandMade;
}

/** Format, what arrives, and what it is here. */
const arrivals: readonly (readonly [
  format: string,
  array: HandMade,
  kind: DataType["kind"],
  values: readonly Value[],
])[] = [
  [
    "e",
    { length: 3, buffers: [undefined, words16(0x3c00, 0xc500, 0x7c00)] },
    "float",
    [1, -5, Infinity],
  ],
  ["d:9,2,32", { length: 2, buffers: [undefined, words32(-12345, 7)] }, "decimal", [-12345n, 7n]],
  [
    "d:18,4,64",
    { length: 2, buffers: [undefined, words64(-1n, 10n ** 17n)] },
    "decimal",
    [-1n, 10n ** 17n],
  ],
  [
    "d:38,0,256",
    { length: 1, buffers: [undefined, words64(-5n, -1n, -1n, -1n)] },
    "decimal",
    [-5n],
  ],
  [
    "d:50,2,256",
    { length: 1, buffers: [undefined, words64(-12345n, -1n, -1n, -1n)] },
    "text",
    ["-123.45"],
  ],
  ["d:5,-2", { length: 1, buffers: [undefined, words64(7n, 0n)] }, "text", ["700"]],
  [
    "tdm",
    { length: 2, buffers: [undefined, words64(86_400_000n * 3n, -86_400_000n)] },
    "date",
    [3n, -1n],
  ],
  ["tts", { length: 1, buffers: [undefined, words32(61)] }, "time", [61_000_000n]],
  ["ttm", { length: 1, buffers: [undefined, words32(61)] }, "time", [61_000n]],
  [
    "tDm",
    { length: 1, buffers: [undefined, words64(5n)] },
    "interval",
    [interval(0, 0, 5_000_000n)],
  ],
  ["tiM", { length: 1, buffers: [undefined, words32(14)] }, "interval", [interval(14, 0, 0n)]],
  [
    "tiD",
    { length: 1, buffers: [undefined, words32(3, 250)] },
    "interval",
    [interval(0, 3, 250_000_000n)],
  ],
  [
    "U",
    { length: 2, buffers: [undefined, words64(0n, 1n, 3n), ascii("abc")] },
    "text",
    ["a", "bc"],
  ],
  ["w:2", { length: 2, buffers: [undefined, ascii("abcd")] }, "binary", [ascii("ab"), ascii("cd")]],
  [
    "b",
    {
      length: 3,
      offset: 5,
      nullCount: -1,
      buffers: [Uint8Array.of(0b0110_0000, 0), Uint8Array.of(0b0010_0000, 1)],
    },
    "boolean",
    [true, false, null],
  ],
];

const nested: readonly (readonly [string, ArrowField, HandMade, readonly Value[]])[] = [
  [
    "a slice of lists with 64-bit offsets",
    field("+L", [field("i")]),
    {
      length: 2,
      offset: 1,
      buffers: [undefined, words64(0n, 1n, 3n, 3n)],
      children: [{ length: 3, buffers: [undefined, words32(7, 8, 9)] }],
    },
    [[8n, 9n], []],
  ],
  [
    "a struct whose child has an offset of its own",
    field("+s", [field("s")]),
    {
      length: 2,
      offset: 1,
      buffers: [undefined],
      children: [{ length: 3, offset: 2, buffers: [undefined, words16(0, 0, 1, 2, 3)] }],
    },
    [[2n], [3n]],
  ],
  [
    "a dictionary of text with a NULL among its values",
    { ...field("l"), dictionary: field("u") },
    {
      length: 4,
      nullCount: -1,
      buffers: [Uint8Array.of(0b1011), words64(1n, 0n, 0n, 2n)],
      dictionary: {
        length: 3,
        nullCount: 1,
        buffers: [Uint8Array.of(0b011), words32(0, 1, 4, 4), ascii("abcd")],
      },
    },
    ["bcd", "a", null, null],
  ],
  [
    "a dictionary of numbers",
    { ...field("C"), dictionary: field("i") },
    {
      length: 3,
      nullCount: 1,
      buffers: [Uint8Array.of(0b101), Uint8Array.of(1, 9, 0)],
      dictionary: { length: 2, buffers: [undefined, words32(10, 20)] },
    },
    [20n, null, 10n],
  ],
  [
    "a sparse union",
    field("+us:5,6", [
      { ...field("u"), name: "word" },
      { ...field("i"), name: "count" },
    ]),
    {
      length: 4,
      buffers: [Uint8Array.of(6, 5, 5, 6)],
      children: [
        {
          length: 4,
          nullCount: 3,
          buffers: [Uint8Array.of(0b0010), words32(0, 0, 2, 2, 2), ascii("hi")],
        },
        { length: 4, nullCount: 3, buffers: [Uint8Array.of(0b0001), words32(4, 0, 0, 0)] },
      ],
    },
    // A NULL comes as its first member with nothing in it.
    [["count", null, 4n], ["word", "hi", null], null, ["count", null, null]],
  ],
];

describe("layoutOf and Gatherer", () => {
  for (const [format, array, kind, values] of arrivals) {
    it(`read the format ${format}`, () => {
      const read = gathered(field(format), [array]);
      expect(read.type.kind).toBe(kind);
      expect(read.values).toEqual(values);
    });
  }

  for (const [what, type, array, values] of nested) {
    it(`read ${what}`, () => {
      expect(gathered(type, [array]).values).toEqual(values);
    });
  }

  it("join many arrays of any length and offset, with and without NULLs", () => {
    const piece = fc.record({
      cells: fc.array(fc.option(fc.string({ maxLength: 5 })), { maxLength: 30 }),
      offset: fc.nat(12),
    });
    const check = fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const arrays = pieces.map(({ cells, offset }) => textArrayOf(cells, offset));
      expect(gathered(field("u"), arrays).values).toEqual(pieces.flatMap(({ cells }) => cells));
    });
    fc.assert(check, { numRuns: casesOf(60, 600) });
  });

  it("split an array that is too large for one message, without losing a row", () => {
    const cells = Array.from({ length: 40 }, (_, row) => String(row).repeat(150_000));
    const read = gathered(field("u"), [textArrayOf(cells, 3)]);
    expect(read.messages).toBeGreaterThan(1);
    expect(read.values).toEqual(cells);
  });

  it("name what they can not read", () => {
    const unreadable = ["vu", "+r", "+ud:0", "x", "d:5,2,17", "w:-1", "tsx:"];
    for (const format of unreadable) {
      expect(layoutOf(field(format, [field("i")]))).toEqual({ ok: false, error: format });
    }
    expect(layoutOf({ ...field("i"), dictionary: field("+l", [field("i")]) }).ok).toBe(false);
  });

  it("refuse types nested without end", () => {
    let type = field("i");
    for (let depth = 0; depth < 100; depth += 1) type = field("+l", [type]);
    expect(layoutOf(type).ok).toBe(false);
  });
});

describe("Gatherer", () => {
  it("has no place behind its last one", () => {
    const layout = layoutOf(field("i"));
    if (!layout.ok) throw new Error(layout.error);
    const room = new MemoryBlock(arrayStruct.bytes * arraysHeldMax);
    blocks.push(room);
    using gatherer = new Gatherer([layout.value], room);
    const one = { length: 1, buffers: [undefined], children: [] };
    const ints = { length: 1, buffers: [undefined, words32(7)] };
    for (let held = 0; held < arraysHeldMax; held += 1) {
      expect(gatherer.crowded).toBe(false);
      fill(room, gatherer.next - room.address, { ...one, children: [ints] });
      gatherer.take();
    }
    expect([gatherer.crowded, gatherer.full, gatherer.rows]).toEqual([true, true, arraysHeldMax]);
    expect(() => gatherer.next).toThrow(RangeError);
    expect([...gatherer.messages()]).toHaveLength(1);
    expect(gatherer.next).toBe(room.address);
  });
});

describe("textOf", () => {
  it("writes decimals of any width with their scale", () => {
    const check = fc.property(
      fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
      fc.integer({ min: 1, max: 80 }),
      (value, scale) => {
        const cell = new Uint8Array(32);
        const view = new DataView(cell.buffer);
        for (let word = 0; word < 4; word += 1)
          view.setBigUint64(word * 8, BigInt.asUintN(64, value >> BigInt(word * 64)), true);
        const [whole = "", fraction = ""] = textOf({ decimalBytes: 32, scale }, cell).split(".");
        expect(fraction.length).toBe(scale);
        expect(BigInt(whole + fraction)).toBe(value);
      },
    );
    fc.assert(check);
  });
});

/** Puts arrays through a gatherer and reads every message back. */
function gathered(type: ArrowField, arrays: readonly HandMade[]) {
  const layout = layoutOf(type);
  if (!layout.ok) throw new Error(layout.error);
  const room = new MemoryBlock(arrayStruct.bytes * 64);
  blocks.push(room);
  using gatherer = new Gatherer([layout.value], room);
  const values: Value[] = [];
  let messages = 0;
  for (const array of arrays) {
    fill(room, gatherer.next - room.address, {
      length: array.length,
      buffers: [undefined],
      children: [array],
    });
    gatherer.take();
  }
  for (const message of gatherer.messages()) {
    messages += 1;
    const [vector] = readBatchMessage(message, [layout.value.type]).columns;
    if (vector === undefined) continue;
    for (let row = 0; row < vector.length; row += 1) values.push(valueAt(vector, row));
  }
  return { type: layout.value.type, values, messages };
}

function fill(block: MemoryBlock, at: number, array: HandMade): void {
  const { length, offset = 0, nullCount = 0, buffers, children = [], dictionary } = array;
  block.put(at + arrayStruct.length, length);
  block.put(at + arrayStruct.nullCount, nullCount);
  block.put(at + arrayStruct.offset, offset);
  block.put(at + arrayStruct.bufferCount, buffers.length);
  block.put(at + arrayStruct.childCount, children.length);
  block.put(
    at + arrayStruct.buffers,
    listOf(buffers.map((bytes) => (bytes === undefined ? 0 : keep(bytes)))),
  );
  block.put(at + arrayStruct.children, listOf(children.map(nativeOf)));
  block.put(at + arrayStruct.dictionary, dictionary === undefined ? 0 : nativeOf(dictionary));
}

function nativeOf(array: HandMade): number {
  const block = new MemoryBlock(arrayStruct.bytes);
  blocks.push(block);
  fill(block, 0, array);
  return block.address;
}

function keep(bytes: Uint8Array): number {
  // Not on V8's own heap, where small arrays move.
  const copy = new Uint8Array(Math.max(bytes.length, 256));
  copy.set(bytes);
  kept.push(copy);
  return addressOf(copy.buffer);
}

function listOf(addresses: readonly number[]): number {
  return addresses.length === 0
    ? 0
    : keep(new Uint8Array(BigUint64Array.from(addresses, BigInt).buffer));
}

/** Text with `offset` rows before the first one that counts. */
function textArrayOf(cells: readonly (string | null)[], offset: number): HandMade {
  const all = [...Array.from({ length: offset }, () => "skipped"), ...cells];
  const encoded = all.map((cell) => new TextEncoder().encode(cell ?? ""));
  const offsets = new Int32Array(all.length + 1);
  for (const [row, bytes] of encoded.entries())
    offsets[row + 1] = (offsets[row] ?? 0) + bytes.length;
  const validity = new Uint8Array((all.length + 7) >> 3);
  for (const [row, cell] of all.entries()) {
    if (cell !== null) validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7));
  }
  const values = new Uint8Array(Buffer.concat(encoded));
  return {
    length: cells.length,
    offset,
    nullCount: -1,
    buffers: [validity, new Uint8Array(offsets.buffer), values],
  };
}

function field(format: string, children: readonly ArrowField[] = []): ArrowField {
  return { name: "", format, nullable: true, metadata: new Map(), children, dictionary: undefined };
}

function words16(...values: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(values).buffer);
}

function words32(...values: number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}

function words64(...values: bigint[]): Uint8Array {
  return new Uint8Array(BigInt64Array.from(values).buffer);
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function interval(months: number, days: number, nanoseconds: bigint): Value {
  return { months, days, nanoseconds };
}
