/**
 * The loops that find the rows and cells of a page, 64 bytes at a time. The quotes before a byte are
 * counted: an odd number means that it lies in a string. Only the marks between cells are looked at one by
 * one.
 *
 * `countRows` and `readCells` of the wire package do the same in plain code, and the two must agree.
 */
import {
  answer,
  assembled,
  i32,
  i64,
  int,
  long,
  memory,
  shared,
  v128,
  variable,
  when,
  whilst,
  type Code,
  type Variable,
} from "@gateway/wire/assembly/assembly.ts";
import {
  any,
  bitsOf,
  blockBytes,
  blockFrom,
  blockVariables,
  eachMark,
  equals,
  escapeCarry,
  inString,
  quote,
  readBlock,
  unread,
  without,
  type PageBlock,
} from "./pageBlock.ts";

/** Bytes that one call reads; a multiple of a block. */
export const chunkBytes = 64 * 1024;
/** Where the results lie, behind the chunk and a block of room. A cell has two bytes at least. */
const cellsMax = chunkBytes / 2;
export const startsAt = chunkBytes + blockBytes;
export const lengthsAt = startsAt + cellsMax * 4;
export const escapedAt = lengthsAt + cellsMax * 4;
const memoryPages = Math.ceil((escapedAt + cellsMax * 4) / 65_536);

const comma = 0x2c;
/** With this bit a bracket becomes the brace of the same side: `[` is 0x5b, `{` is 0x7b. */
const letterBit = 0x20;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Kept from chunk to chunk, or answered beside a routine's own result. */
const depth = shared(2);
const rows = shared(3);
const cells = shared(4);
const escapes = shared(5);
const consumed = shared(6);
const done = shared(7);

const lowered = (bytes: Code): Code => v128.or(bytes, v128.all(letterBit));
const isBracket = (bytes: Code): Code =>
  v128.or(equals(openBrace)(lowered(bytes)), equals(closeBrace)(lowered(bytes)));

const isMark = (bytes: Code): Code => v128.or(isBracket(bytes), equals(comma)(bytes));

/**
 * `countRows(size)`: adds the rows that begin in the chunk to `rows`. Answers where the array ended, 0 when
 * it goes on, `unread` for what it can not read.
 */
function countRows(): Code {
  const block = blockFrom(1);
  const { at, size, marks, inside, valid, position, byte } = block;
  const opens = i32.equal(i32.or(byte.get, int(letterBit)), int(openBrace));
  return [
    at.set(int(0)),
    whilst(i32.below(at.get, size.get), [
      readBlock(block),
      marks.set(i64.and(without(bitsOf(block, isBracket), inside.get), valid.get)),
      eachMark(block, [
        when(
          opens,
          [
            when(i32.equal(depth.get, int(1)), rows.set(i32.add(rows.get, int(1)))),
            depth.set(i32.add(depth.get, int(1))),
          ],
          [
            depth.set(i32.minus(depth.get, int(1))),
            when(i32.isZero(depth.get), answer(i32.add(position.get, int(1)))),
            when(i32.below(depth.get, int(0)), answer(int(unread))),
          ],
        ),
      ]),
      at.set(i32.add(at.get, int(blockBytes))),
    ]),
    answer(int(0)),
  ];
}

/**
 * Bytes that may stand outside of strings: those of numbers and words, quotes and marks. A table by the
 * lower half of a byte, with a bit in each entry for every upper half.
 */
function outsideTables(): readonly [lower: number[], upper: number[]] {
  const lower = Array.from({ length: 16 }, () => 0);
  for (let byte = 0x20; byte < 0x80; byte += 1) {
    if (!/[\w.+\-,"[\]{}]/.test(String.fromCharCode(byte))) continue;
    lower[byte & 15] = (lower[byte & 15] ?? 0) | (1 << (byte >> 4));
  }
  return [lower, Array.from({ length: 16 }, (_, half) => (half < 8 ? 1 << half : 0))];
}

function isForeign(bytes: Code): Code {
  const [lower, upper] = outsideTables();
  const classes = v128.and(
    v128.pick(v128.of(lower), v128.and(bytes, v128.all(15))),
    v128.pick(v128.of(upper), v128.upperHalves(bytes)),
  );
  return v128.equal(classes, v128.all(0));
}

/**
 * `readCells(size, columns, base)`: notes the cells of the whole rows in the chunk, which begins with a row.
 * Where a cell starts is counted from `base`. Answers the number of rows, or `unread`. Afterwards `consumed`
 * is where the first row begins that is not whole, and `done` is 1 when the array ended in the chunk.
 */
function readCells(): Code {
  const block = blockFrom(3);
  const { at, size, marks, inside, valid, quotes, slashes } = block;
  const more = 3 + blockVariables.length;
  const cell: CellVariables = {
    ...block,
    columns: variable(1),
    base: variable(2),
    phase: variable(more),
    last: variable(more + 1),
    column: variable(more + 2),
    slot: variable(more + 3),
    length: variable(more + 4),
    slashAt: variable(more + 5),
    escapesHere: variable(more + 6),
    lastMark: variable(more + 7),
    lastQuote: variable(more + 8),
    bad: variable(more + 9),
  };
  const { lastMark, lastQuote, bad, slashAt } = cell;
  return [
    [rows, cells, escapes, consumed, done].map((one) => one.set(int(0))),
    [inString, escapeCarry].map((one) => one.set(long(0n))),
    slashAt.set(int(-1)),
    at.set(int(0)),
    whilst(i32.below(at.get, size.get), [
      readBlock(block),
      marks.set(i64.and(without(bitsOf(block, isMark), inside.get), valid.get)),
      strangeness(cell),
      when(any(bad.get), answer(int(unread))),
      lastMark.set(i64.right(marks.get, long(63n))),
      lastQuote.set(i64.right(without(quotes.get, inside.get), long(63n))),
      eachMark(block, oneMark(cell)),
      when(any(slashes.get), slashAt.set(lastSlash(at.get, slashes.get))),
      at.set(i32.add(at.get, int(blockBytes))),
    ]),
    answer(rows.get),
  ];
}

/**
 * Sets `bad` for what `readCells` does not read: a string that does not begin behind a mark or does not end
 * before one, and other bytes outside of strings than those of words and numbers.
 */
function strangeness(cell: CellVariables): Code {
  const { quotes, marks, inside, valid, lastMark, lastQuote, bad } = cell;
  const behindMark = i64.or(i64.left(marks.get, long(1n)), lastMark.get);
  const closing = without(quotes.get, inside.get);
  const behindString = i64.and(i64.or(i64.left(closing, long(1n)), lastQuote.get), valid.get);
  const foreign = i64.and(without(bitsOf(cell, isForeign), inside.get), valid.get);
  return [
    bad.set(without(i64.and(quotes.get, inside.get), behindMark)),
    bad.set(i64.or(bad.get, without(behindString, marks.get))),
    bad.set(i64.or(bad.get, foreign)),
  ];
}

interface CellVariables extends PageBlock {
  readonly columns: Variable;
  readonly base: Variable;
  /** 0 before a row, 1 in one, 2 behind one. */
  readonly phase: Variable;
  /** The byte behind the previous mark, where the cell begins. */
  readonly last: Variable;
  readonly column: Variable;
  /** Number of cells so far, with those of the row that is not whole yet. */
  readonly slot: Variable;
  readonly length: Variable;
  /** Where the last backslash before the block lies; -1 when there is none. */
  readonly slashAt: Variable;
  readonly escapesHere: Variable;
  /** 1 when the last byte of the previous block was a mark. */
  readonly lastMark: Variable;
  /** 1 when it closed a string. */
  readonly lastQuote: Variable;
  readonly bad: Variable;
}

const cellVariables = [
  ...blockVariables,
  ...(["i32", "i32", "i32", "i32", "i32", "i32", "i32", "i64", "i64", "i64"] as const),
];

function lastSlash(at: Code, slashes: Code): Code {
  return i32.minus(i32.add(at, int(63)), i64.toInt(i64.leadingZeros(slashes)));
}

function oneMark(cell: CellVariables): Code {
  const { phase, position, last, byte, column } = cell;
  const is = (letter: number): Code => i32.equal(byte.get, int(letter));
  const adjoins = i32.equal(position.get, last.get);
  return [
    when(
      i32.equal(phase.get, int(1)),
      [
        // Any other mark belongs to a nested value.
        when(i32.isZero(i32.or(is(comma), is(closeBracket))), answer(int(unread))),
        when(adjoins, answer(int(unread))),
        oneCell(cell),
        column.set(i32.add(column.get, int(1))),
        when(is(comma), when(i32.atLeast(column.get, cell.columns.get), answer(int(unread))), [
          when(i32.differs(column.get, cell.columns.get), answer(int(unread))),
          phase.set(int(2)),
        ]),
      ],
      [
        when(i32.differs(position.get, last.get), answer(int(unread))),
        when(i32.isZero(phase.get), beginRow(cell, is(openBracket)), endRow(cell, is)),
      ],
    ),
    last.set(i32.add(position.get, int(1))),
  ];
}

function beginRow({ phase, column }: CellVariables, opens: Code): Code {
  return [when(i32.isZero(opens), answer(int(unread))), phase.set(int(1)), column.set(int(0))];
}

/** Counts the row once a comma or the end of the array stands behind it: only then is it whole. */
function endRow(
  { phase, position, slot, escapesHere }: CellVariables,
  is: (letter: number) => Code,
): Code {
  return [
    when(i32.isZero(i32.or(is(comma), is(closeBracket))), answer(int(unread))),
    rows.set(i32.add(rows.get, int(1))),
    cells.set(slot.get),
    escapes.set(escapesHere.get),
    consumed.set(i32.add(position.get, int(1))),
    phase.set(int(0)),
    when(is(closeBracket), [done.set(int(1)), answer(rows.get)]),
  ];
}

const nullText = 0x6c6c_756e;

/** Notes the cell between the previous mark and this one. */
function oneCell(cell: CellVariables): Code {
  const { position, last, slot, length, base, at, slashes, slashAt, escapesHere, rest } = cell;
  const first = memory.byte(last.get);
  const put = (start: Code): Code => [
    memory.putInt(i32.timesFour(slot.get), start, startsAt),
    memory.putInt(i32.timesFour(slot.get), length.get, lengthsAt),
  ];
  const before = i64.and(
    slashes.get,
    i64.minus(i64.left(long(1n), i64.ofInt(i32.minus(position.get, at.get))), long(1n)),
  );
  const escaped: Code = [
    rest.set(before),
    when(any(rest.get), slashAt.set(lastSlash(at.get, rest.get))),
    when(i32.atLeast(slashAt.get, last.get), [
      memory.putInt(i32.timesFour(escapesHere.get), slot.get, escapedAt),
      escapesHere.set(i32.add(escapesHere.get, int(1))),
    ]),
  ];
  return [
    length.set(i32.minus(position.get, last.get)),
    when(
      i32.equal(first, int(quote)),
      [
        length.set(i32.minus(length.get, int(2))),
        put(i32.add(i32.add(base.get, last.get), int(1))),
        escaped,
      ],
      when(
        i32.equal(first, int(0x6e)),
        [
          when(i32.differs(length.get, int(4)), answer(int(unread))),
          when(i32.differs(memory.int(last.get), int(nullText)), answer(int(unread))),
          length.set(int(-1)),
          put(int(0)),
        ],
        put(i32.add(base.get, last.get)),
      ),
    ),
    slot.set(i32.add(slot.get, int(1))),
  ];
}

/** The module: both routines, their memory and what they keep. */
export function rowKernel(): Uint8Array {
  const kept = ["inString", "escapeCarry"].map((name) => ({ name, type: "i64" as const }));
  const counted = ["depth", "rows", "cells", "escapes", "consumed", "done"];
  return assembled({
    memoryPages,
    globals: [...kept, ...counted.map((name) => ({ name, type: "i32" as const }))],
    routines: [
      { name: "countRows", parameters: 1, variables: blockVariables, body: countRows() },
      { name: "readCells", parameters: 3, variables: cellVariables, body: readCells() },
    ],
  });
}
