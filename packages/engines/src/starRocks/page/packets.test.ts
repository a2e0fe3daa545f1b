import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import { giveBack, lend } from "@gateway/core/tool/socket/lent.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { textBatch } from "./cells.ts";
import type { CellRule, TextColumn } from "./columns.ts";
import { commandPackets, Packets } from "./packets.ts";
import { isEnd } from "../client/reply.ts";

const textColumn = columnOf({ kind: "text" }, { kind: "none" });

describe("Packets", () => {
  it("answers the same rows however the bytes are cut", async () => {
    const cell = fc.option(fc.string({ unit: "grapheme", maxLength: 600 }));
    const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 300 });
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(rows, sizes, async (given, cuts) => {
        const end = packetOf(given.length + 1, Uint8Array.of(0xfe, 0, 0, 2, 0));
        const sent = given.map((cells, index) => rowPacket(cells, index + 1));
        const packets = new Packets(cut(Buffer.concat([...sent, end]), cuts));
        expect(await rowsOf(packets)).toEqual(given);
        expect([...((await packets.one())?.payload ?? [])]).toEqual([0xfe, 0, 0, 2, 0]);
      }),
    );
  });

  it("hands row packets on untouched and in order, however the bytes are cut", async () => {
    const rows = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 300 });
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(rows, sizes, async (payloads, cuts) => {
        const given = payloads.map((payload) => Uint8Array.of(1, ...payload));
        const sent = Buffer.concat(given.map((payload, index) => packetOf(index + 1, payload)));
        const end = packetOf(given.length + 1, Uint8Array.of(0xfe, 0, 0, 2, 0));
        const packets = new Packets(cut(Buffer.concat([sent, end]), cuts));
        const parts: Uint8Array[] = [];
        let count = 0;
        for (;;) {
          const some = await packets.rowBytes((first, length) => !isEnd(first, length, false));
          if (some === undefined) break;
          expect(some.rows).toBeGreaterThan(0);
          count += some.rows;
          parts.push(some.bytes);
        }
        expect(count).toBe(given.length);
        expect(Buffer.compare(Buffer.concat(parts), sent)).toBe(0);
        expect([...((await packets.one())?.payload ?? [])]).toEqual([0xfe, 0, 0, 2, 0]);
      }),
    );
  });

  it("hands on no row that is out of order, but all before it", async () => {
    const isRow = (first: number, length: number): boolean => !isEnd(first, length, false);
    const sent = [1, 2, 4].map((sequence) => packetOf(sequence, Uint8Array.of(1, 0x31)));
    const packets = new Packets(cut(Buffer.concat(sent), [100]));
    expect((await packets.rowBytes(isRow))?.rows).toBe(2);
    expect(await packets.rowBytes(isRow)).toBeUndefined();
    expect(await packets.one()).toBeUndefined();
    expect(packets.broken).toBe("packets out of order");
  });

  it("puts a packet of several parts together", async () => {
    const text = "x".repeat(0xff_ffff + 10);
    const sent = Buffer.from(commandPackets(3, text));
    // An answer begins with 1, where a command begins with 0.
    sent[3] = 1;
    sent[0xff_ffff + 4 + 3] = 2;
    const one = await new Packets(cut(sent, [1 << 20])).one();
    expect(one?.payload.length).toBe(text.length + 1);
    expect(one?.bytes.length).toBe(sent.length);
  });

  it("answers nothing for bytes that end early or come out of order, and says so", async () => {
    const short = new Packets(cut(Buffer.from([200, 0, 0, 1, 2, 3]), [2]));
    expect(await short.one()).toBeUndefined();
    expect(short.broken).toBe("the connection ended");
    const disordered = new Packets(cut(Buffer.from("HTTP/1.1 400"), [12]));
    expect(await disordered.one()).toBeUndefined();
    expect(disordered.broken).toBe("packets out of order");
  });
});

const decimal: DataType = { kind: "decimal", precision: 10, scale: 2 };
const moment: DataType = { kind: "timestamp", unit: "us", zoned: false };

describe("textBatch", () => {
  it.each<[CellRule, DataType, string, Value]>([
    [{ kind: "integer" }, { kind: "integer", bits: 32, signed: false }, "00042", 42n],
    [{ kind: "integer" }, { kind: "integer", bits: 32, signed: false }, "000", 0n],
    [{ kind: "decimal", scale: 2 }, decimal, "1.5", 150n],
    [{ kind: "decimal", scale: 2 }, decimal, "-.5", -50n],
    [{ kind: "decimal", scale: 2 }, decimal, "7", 700n],
    [{ kind: "float" }, { kind: "float", bits: 64 }, "1e20", 1e20],
    [{ kind: "date" }, { kind: "date" }, "0000-00-00", null],
    [{ kind: "moment" }, moment, "2024-02-29 12:34:56", 1_709_210_096_000_000n],
    [{ kind: "moment" }, moment, "2024-02-29 12:34:56.7", 1_709_210_096_700_000n],
    [{ kind: "moment" }, moment, "0000-00-00 00:00:00", null],
  ])("makes text canonical: %o of %o", (rule, type, text, value) => {
    const window = rowPacket([text, null], 1);
    const spans = { starts: Int32Array.of(4), ends: Int32Array.of(window.length), rows: 1 };
    const batch = textBatch(window, spans, [columnOf(type, rule), textColumn]);
    if (batch === undefined) throw new Error("a row that is none");
    const { columns } = columnarOf(batch);
    expect(columns.map((one) => valueAt(one, 0))).toEqual([value, null]);
  });

  it("hands large pieces on where they lie, and never reads them once they were given back", async () => {
    const row = fc.tuple(fc.constantFrom(3, 60, 9_000, 70_000), fc.nat(250));
    const sizes = fc.constantFrom(1, 7, 900, 32 * 1024, 64 * 1024, 256 * 1024);
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 60 }),
        fc.array(sizes, { minLength: 1, maxLength: 12 }),
        async (given, cuts) => {
          const sent = given.map(([length, fill], index) =>
            packetOf(index + 1, new Uint8Array(length).fill(fill)),
          );
          const end = packetOf(given.length + 1, Uint8Array.of(0xfe, 0, 0, 2, 0));
          const packets = new Packets(lending(cut(Buffer.concat([...sent, end]), cuts)));
          const seen: Buffer[] = [];
          let count = 0;
          for (;;) {
            const some = await packets.rowBytes((first, length) => !isEnd(first, length, false));
            if (some === undefined) break;
            count += some.rows;
            seen.push(Buffer.from(some.bytes));
            giveBack(some.bytes);
          }
          expect(count).toBe(given.length);
          expect(Buffer.concat(seen).equals(Buffer.concat(sent))).toBe(true);
          expect(packets.surplus).toBe(true);
          expect([...((await packets.one())?.payload ?? [])]).toEqual([0xfe, 0, 0, 2, 0]);
          expect(packets.surplus).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("refuses any row that does not hold exactly its cells, and reads nothing beyond it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (payload) => {
        const spans = { starts: Int32Array.of(0), ends: Int32Array.of(payload.length), rows: 1 };
        const batch = textBatch(payload, spans, [textColumn, textColumn]);
        const lengths = batch === undefined ? [] : [...batch.lengths];
        const held = lengths.reduce((sum, length) => sum + Math.max(length, 0), 0);
        expect(held).toBeLessThanOrEqual(payload.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

async function rowsOf(packets: Packets): Promise<readonly (readonly Value[])[]> {
  const found: (readonly Value[])[] = [];
  for (;;) {
    const some = await packets.rows((first, length) => !isEnd(first, length, false));
    if (some === undefined) return found;
    const batch = textBatch(some.window, some.spans, [textColumn, textColumn]);
    if (batch === undefined) throw new Error("a row that is none");
    const { columns, rows } = columnarOf(batch);
    for (let row = 0; row < rows; row += 1) found.push(columns.map((one) => valueAt(one, row)));
  }
}

function columnOf(type: DataType, rule: CellRule): TextColumn {
  return { column: { name: "c", type, nullable: true }, rule };
}

function packetOf(sequence: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const header = [length & 0xff, (length >> 8) & 0xff, length >> 16, sequence & 0xff];
  return Buffer.concat([Uint8Array.from(header), payload]);
}

function rowPacket(cells: readonly (string | null)[], sequence: number): Buffer {
  return packetOf(sequence, Buffer.concat(cells.map(cellOf)));
}

function cellOf(cell: string | null): Uint8Array {
  if (cell === null) return Uint8Array.of(0xfb);
  const bytes = Buffer.from(cell);
  const { length } = bytes;
  const prefix = length < 251 ? [length] : [0xfc, length & 0xff, length >> 8];
  return Buffer.concat([Uint8Array.from(prefix), bytes]);
}

/** The same in memory that is written over as soon as all of it was given back. */
function lending(
  next: () => Promise<Uint8Array | undefined>,
): () => Promise<Uint8Array | undefined> {
  return async () => {
    const bytes = await next();
    if (bytes === undefined) return undefined;
    const piece = Uint8Array.from(bytes);
    lend(piece, () => void piece.fill(0xee));
    return piece;
  };
}

function cut(bytes: Uint8Array, sizes: readonly number[]): () => Promise<Uint8Array | undefined> {
  let at = 0;
  let index = 0;
  return async () => {
    if (at >= bytes.length) return undefined;
    const size = sizes[index % sizes.length] ?? 1;
    index += 1;
    at += size;
    return bytes.subarray(at - size, at);
  };
}
