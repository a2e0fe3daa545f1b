import {
  countRows as countPlainly,
  readCells as readPlainly,
} from "@gateway/wire/trino/clientRows.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkBytes } from "./rowKernel.ts";
import { countRows, readCells } from "./scan.ts";
import { casesOf } from "../../../../../test/cases.ts";

const encoder = new TextEncoder();

const scalar = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.stringMatching(/^["\\[\],{}]*$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

interface Table {
  readonly columns: number;
  readonly bytes: Uint8Array;
}

/** Rows that fill several chunks, so that every cell lies across an end of one now and then. */
const table: fc.Arbitrary<Table> = fc.integer({ min: 1, max: 5 }).chain((columns) =>
  fc
    .tuple(
      fc.array(fc.array(scalar, { minLength: columns, maxLength: columns }), { minLength: 1 }),
      fc.nat(chunkBytes * 2),
    )
    .map(([rows, size]) => {
      const text = JSON.stringify(rows).slice(1, -1);
      const times = 1 + Math.floor(size / text.length);
      const bytes = encoder.encode(`[${Array.from({ length: times }, () => text).join()}]`);
      return { columns, bytes };
    }),
);

/** Of properties that compare all cells of pages of some hundred kilobytes. */
const largeRuns = casesOf(15, 150);

const spanOf = (bytes: Uint8Array) => ({ start: 0, end: bytes.length });

/** Bytes that mean something between cells, and two that stand in no JSON. */
const wrong = fc.constantFrom(...encoder.encode('[]{},"n1a t'), 0x01, 0xff);

/** A page written by somebody else: the same values with white space wherever JSON has room for it. */
const spaced = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }).chain((columns) =>
      fc.array(fc.array(scalar, { minLength: columns, maxLength: columns }), {
        minLength: 1,
        maxLength: 30,
      }),
    ),
    fc.array(fc.constantFrom("", " ", "\n", "\t\r\n  "), { minLength: 1, maxLength: 7 }),
  )
  .map(([rows, blanks]) => {
    let turn = 0;
    const blank = (): string => blanks[turn++ % blanks.length] ?? "";
    const list = (items: readonly string[]): string =>
      `[${items.map((item) => `${blank()}${item}${blank()}`).join(",")}]`;
    const text = list(rows.map((row) => list(row.map((cell) => JSON.stringify(cell)))));
    return { rows, columns: rows[0]?.length ?? 1, bytes: encoder.encode(text) };
  });

describe("readCells", () => {
  it("finds the same cells in whatever layout a page is written", () => {
    fc.assert(
      fc.property(spaced, ({ rows, columns, bytes }) => {
        const compact = encoder.encode(JSON.stringify(rows));
        expect(cellTexts(bytes, columns)).toEqual(cellTexts(compact, columns));
        expect(countRows(bytes, spanOf(bytes))).toBe(rows.length);
      }),
    );
    expect(readCells(encoder.encode("[ \n]"), { start: 0, end: 4 }, 1)).toMatchObject({ rows: 0 });
  });

  it("finds the cells that the plain reader finds, in pages of any length", () => {
    fc.assert(
      fc.property(table, ({ columns, bytes }) => {
        const plain = readPlainly(bytes, spanOf(bytes), columns);
        expect(typeof plain).toBe("object");
        expect(readCells(bytes, spanOf(bytes), columns)).toEqual(plain);
      }),
      { numRuns: largeRuns },
    );
  });

  it("finds nothing else in damaged pages than the plain reader", () => {
    fc.assert(
      fc.property(table, fc.array(fc.tuple(fc.nat(), wrong), { maxLength: 3 }), (page, changes) => {
        const { columns, bytes } = page;
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        const plain = readPlainly(bytes, spanOf(bytes), columns);
        const found = readCells(bytes, spanOf(bytes), columns);
        expect(found).toEqual(plain);
      }),
      { numRuns: largeRuns },
    );
  });

  it("refuses what begins or ends like no array", () => {
    for (const text of ["x[1]]", "[[1]}", "[[1]]]", "[[1],]", "[,[1]]", "[1]", "[]]", ""]) {
      const bytes = encoder.encode(text);
      expect(readCells(bytes, spanOf(bytes), 1)).toBeUndefined();
    }
  });

  it("refuses every cut, and rows of another width", () => {
    fc.assert(
      fc.property(table, fc.nat(), ({ columns, bytes }, cut) => {
        const end = cut % bytes.length;
        expect(readCells(bytes, { start: 0, end }, columns)).toBeUndefined();
        expect(readCells(bytes, spanOf(bytes), columns + 1)).toBeUndefined();
      }),
    );
  });

  it("reads a row that is longer than what is looked at together", () => {
    const bytes = encoder.encode(JSON.stringify([["short"], ["x\\".repeat(chunkBytes)], [null]]));
    expect(readCells(bytes, spanOf(bytes), 1)).toEqual(readPlainly(bytes, spanOf(bytes), 1));
  });

  it("says that a cell nests, in any chunk", () => {
    const rows = Array.from({ length: chunkBytes }, () => [1, "a"]);
    const bytes = encoder.encode(JSON.stringify([...rows, [1, ["a"]]]));
    expect(readCells(bytes, spanOf(bytes), 2)).toBe("nested");
  });
});

describe("countRows", () => {
  it("counts what the plain reader counts, also where cells nest", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.jsonValue())), fc.nat(chunkBytes * 2), (rows, size) => {
        const padded = [['\\"'.repeat(size % 200)], ...rows, ["x".repeat(size)], ...rows];
        const bytes = encoder.encode(JSON.stringify(padded));
        expect(countRows(bytes, spanOf(bytes))).toBe(padded.length);
      }),
    );
  });

  it("counts no damaged and no cut page otherwise than the plain reader", () => {
    fc.assert(
      fc.property(table, fc.tuple(fc.nat(), wrong), fc.nat(), ({ bytes }, [at, byte], cut) => {
        bytes[at % bytes.length] = byte;
        const plain = countPlainly(bytes, spanOf(bytes));
        const found = countRows(bytes, spanOf(bytes));
        expect(found).toBe(plain);
        const end = cut % bytes.length;
        expect(countRows(bytes, { start: 0, end })).toBe(countPlainly(bytes, { start: 0, end }));
      }),
    );
  });
});

function cellTexts(bytes: Uint8Array, columns: number): readonly (string | null)[] {
  const cells = readCells(bytes, spanOf(bytes), columns);
  if (typeof cells !== "object") throw new Error("a page that is not read");
  const { starts, lengths } = cells;
  return Array.from(lengths, (length, cell) => {
    const start = starts[cell] ?? 0;
    return length < 0 ? null : new TextDecoder().decode(bytes.subarray(start, start + length));
  });
}
