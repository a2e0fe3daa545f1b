/** The kernel's memory: what it is told of each column, the cells of some rows, and the rows it writes. */

/** Most columns; a batch of more is written otherwise. */
export const columnsMax = 64;
/** Rows that are handed over at once. */
export const pieceRowsMax = 1024;
/** What a column is told by: bytes, and where they stand in it. */
export const entry = {
  bytes: 32,
  kind: 0,
  /** Where its values begin, in bytes. */
  values: 4,
  /** Where the bitmap begins that says which cells are there, 0 when all are; and the bit of the first row. */
  validity: 8,
  bit: 12,
  /** Digits behind the point or second; of text where its offsets begin. */
  digits: 16,
  /** 1: the offset of UTC follows. */
  zoned: 20,
  /** Ten to the power of `digits`, eight bytes. */
  power: 24,
} as const;

/** How a column's cells are written. */
export const kinds = {
  long: 0,
  longUnsigned: 1,
  int: 2,
  intUnsigned: 3,
  short: 4,
  shortUnsigned: 5,
  byte: 6,
  byteUnsigned: 7,
  decimal: 8,
  date: 9,
  timestamp: 10,
  text: 11,
  boolean: 12,
  double: 13,
  null: 14,
} as const;
export type Kind = keyof typeof kinds;

export const entriesAt = 64;
/** A bitmap without a bit, for a column of NULLs. */
export const nothingAt = entriesAt + columnsMax * entry.bytes;
export const cellsAt = nothingAt + pieceRowsMax / 8 + 8;
/** Values, bitmaps and offsets of a piece; each begins at a word. */
export const cellBytes = 128 * 1024;
export const textsAt = cellsAt + cellBytes;
export const textBytes = 128 * 1024;
/** A loop reads words, of which the last may go beyond the text. */
const wordRoom = 16;
export const rowsAt = textsAt + textBytes + wordRoom;
/** The kernel stops behind the row that goes over this. */
export const rowsBytes = 64 * 1024;
/** A cell without its text, a length of four and as much as any number or moment has. */
const cellBound = 64;
const rowsRoom = textBytes + columnsMax * cellBound + wordRoom;
export const memoryPages = Math.ceil((rowsAt + rowsBytes + rowsRoom) / 65_536);
