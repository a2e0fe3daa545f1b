/** What the kernel does with a cell that is there, by the kind of its column. */
import {
  call,
  f64,
  float,
  i32,
  i64,
  int,
  long,
  memory,
  when,
  whilst,
  type Code,
  type Variable,
} from "@gateway/wire/assembly/assembly.ts";
import { putDay, dayBytes } from "./day.ts";
import { asciiEight, putNumber, putPadded, routines } from "./digits.ts";
import { entry, kinds, type Kind } from "./layout.ts";

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const space = 0x20;
/** `+00`. */
const utcOffset = 0x30_302b;
const letters = { t: 0x74, f: 0x66 };
const daySeconds = 86_400n;
/** Decimals of so many digits are found by arithmetic alone: no two of them share a double. */
const exactMax = 1e15;
/** Below it a double has an exponent. */
const plainMin = 1e-4;
/** Above this length one instruction that copies beats a loop. */
const copyByLoopMax = 256;

/** Variables of a cell. */
export interface CellVariables {
  readonly row: Variable;
  /** The column's entry. */
  readonly column: Variable;
  /** Where the text goes; afterwards the offset behind it. */
  readonly at: Variable;
  readonly count: Variable;
  readonly from: Variable;
  readonly value: Variable;
  readonly rest: Variable;
  /** Doubles: a number, and it times a power of ten. */
  readonly double: Variable;
  readonly scaled: Variable;
  /** Parts of a moment, of 64 bits. */
  readonly fraction: Variable;
  readonly end: Variable;
  /** Leaves the row to plain code. */
  readonly leave: Code;
}

type CellCode = (cell: CellVariables) => Code;

const told = (cell: CellVariables, what: "kind" | "values" | "digits" | "zoned" | "bit"): Code =>
  memory.int(cell.column.get, entry[what]);
const cellAt = (cell: CellVariables, shift: number): Code =>
  i32.add(told(cell, "values"), i32.left(cell.row.get, int(shift)));
const put = ({ at }: CellVariables, byte: number): Code => [
  memory.putByte(at.get, int(byte)),
  at.set(i32.add(at.get, int(1))),
];

/** The text of a cell of any kind but `null`, whose cells are never there. */
export function cellText(cell: CellVariables): Code {
  const is = (kind: Kind): Code => i32.equal(told(cell, "kind"), int(kinds[kind]));
  const below = (kind: Kind): Code => i32.below(told(cell, "kind"), int(kinds[kind]));
  const chosen = (pairs: readonly (readonly [Code, CellCode])[], last: CellCode): Code =>
    pairs.reduceRight((otherwise, [fits, code]) => when(fits, code(cell), otherwise), last(cell));
  return chosen(
    [
      [below("decimal"), integer],
      [is("text"), text],
      [is("decimal"), decimal],
      [is("date"), date],
      [is("timestamp"), timestamp],
      [is("double"), double],
    ],
    boolean,
  );
}

/** Numbers that are not negative and fit 31 bits need least, and are most. */
function integer(cell: CellVariables): Code {
  const { value, at } = cell;
  const reads: readonly (readonly [Kind, Code])[] = [
    ["long", memory.long(cellAt(cell, 3))],
    ["int", memory.long32(cellAt(cell, 2))],
    ["intUnsigned", memory.long32Unsigned(cellAt(cell, 2))],
    ["short", memory.long16(cellAt(cell, 1))],
    ["shortUnsigned", memory.long16Unsigned(cellAt(cell, 1))],
    ["byte", memory.long8(cellAt(cell, 0))],
    ["byteUnsigned", memory.long8Unsigned(cellAt(cell, 0))],
  ];
  const signed = reads.reduceRight<Code>(
    (otherwise, [kind, code]) =>
      when(i32.equal(told(cell, "kind"), int(kinds[kind])), value.set(code), otherwise),
    [],
  );
  return [
    when(
      i32.equal(told(cell, "kind"), int(kinds.longUnsigned)),
      value.set(memory.long(cellAt(cell, 3))),
      [signed, putSign(cell)],
    ),
    at.set(putNumber(at.get, value.get)),
  ];
}

/** Writes the sign of `value` and leaves its magnitude there; that of the least number is right without a sign. */
function putSign(cell: CellVariables): Code {
  const { value } = cell;
  return when(i64.below(value.get, long(0n)), [
    put(cell, minus),
    value.set(i64.minus(long(0n), value.get)),
  ]);
}

/** All but those beyond 64 bits, whose upper half is more than the sign. */
function decimal(cell: CellVariables): Code {
  const { value, rest, at, from } = cell;
  const power = memory.long(cell.column.get, entry.power);
  return [
    from.set(cellAt(cell, 4)),
    value.set(memory.long(from.get)),
    when(
      i32.isZero(i64.equal(memory.long(from.get, 8), i64.rightSigned(value.get, long(63n)))),
      cell.leave,
    ),
    putSign(cell),
    when(i32.isZero(told(cell, "digits")), at.set(putNumber(at.get, value.get)), [
      rest.set(i64.over(value.get, power)),
      at.set(putNumber(at.get, rest.get)),
      put(cell, point),
      at.set(
        putPadded(at.get, i64.minus(value.get, i64.times(rest.get, power)), told(cell, "digits")),
      ),
    ]),
  ];
}

function date(cell: CellVariables): Code {
  const { at } = cell;
  return [
    when(i32.isZero(call(routines.takeDay, memory.int(cellAt(cell, 2)))), cell.leave),
    putDay(at.get),
    at.set(i32.add(at.get, int(dayBytes))),
  ];
}

/** `value` becomes the quotient and `rest` the remainder, which is never negative. */
function floorBy({ value, rest }: CellVariables, by: Code): Code {
  return [
    rest.set(value.get),
    value.set(i64.overSigned(value.get, by)),
    rest.set(i64.minus(rest.get, i64.times(value.get, by))),
    when(i64.below(rest.get, long(0n)), [
      rest.set(i64.add(rest.get, by)),
      value.set(i64.minus(value.get, long(1n))),
    ]),
  ];
}

function timestamp(cell: CellVariables): Code {
  const { value, rest, at, from } = cell;
  return [
    value.set(memory.long(cellAt(cell, 3))),
    floorBy(cell, memory.long(cell.column.get, entry.power)),
    cell.fraction.set(rest.get),
    floorBy(cell, long(daySeconds)),
    // A count of seconds may name more days than there are numbers for.
    from.set(i64.toInt(value.get)),
    when(i32.isZero(i64.equal(value.get, i64.ofIntSigned(from.get))), cell.leave),
    when(i32.isZero(call(routines.takeDay, from.get)), cell.leave),
    putDay(at.get),
    memory.putByte(at.get, int(space), dayBytes),
    memory.putLong(at.get, clock(i64.toInt(rest.get), cell), dayBytes + 1),
    at.set(i32.add(at.get, int(dayBytes + 9))),
    when(i32.isZero(i64.isZero(cell.fraction.get)), [
      put(cell, point),
      at.set(putPadded(at.get, cell.fraction.get, told(cell, "digits"))),
      trim(cell),
    ]),
    when(told(cell, "zoned"), [
      memory.putInt(at.get, int(utcOffset)),
      at.set(i32.add(at.get, int(3))),
    ]),
  ];
}

/** `hh:mm:ss` of a second of the day in eight bytes. */
function clock(second: Code, { from, count, value }: CellVariables): Code {
  const minutes = i32.over(from.get, int(60));
  const hours = i32.over(from.get, int(3600));
  const pair = (shift: bigint, to: bigint): Code =>
    i64.left(i64.and(i64.right(value.get, long(shift)), long(0xffffn)), long(to));
  return [
    from.set(second),
    // hhmmss = second + 40 * minutes + 4000 * hours
    count.set(i32.add(i32.add(from.get, i32.times(minutes, int(40))), i32.times(hours, int(4000)))),
    value.set(asciiEight(i64.ofInt(count.get))),
    i64.or(
      i64.or(pair(16n, 0n), pair(32n, 24n)),
      i64.or(pair(48n, 48n), long((BigInt(colon) << 16n) | (BigInt(colon) << 40n))),
    ),
  ];
}

/** Takes the zeros away that end a fraction, which has another digit. */
function trim({ at }: CellVariables): Code {
  const before = i32.minus(at.get, int(1));
  return whilst(i32.equal(memory.byte(before), int(zero)), at.set(before));
}

/** A word at a time; the last may go beyond the text. */
function text(cell: CellVariables): Code {
  const { at, from, count, end } = cell;
  const offsetAt = i32.add(told(cell, "digits"), i32.left(cell.row.get, int(2)));
  return [
    from.set(memory.int(offsetAt)),
    count.set(i32.minus(memory.int(offsetAt, 4), from.get)),
    from.set(i32.add(from.get, told(cell, "values"))),
    when(
      i32.below(int(copyByLoopMax), count.get),
      [memory.copy(at.get, from.get, count.get), at.set(i32.add(at.get, count.get))],
      [
        end.set(i32.add(at.get, count.get)),
        whilst(i32.below(at.get, end.get), [
          memory.putLong(at.get, memory.long(from.get)),
          at.set(i32.add(at.get, int(8))),
          from.set(i32.add(from.get, int(8))),
        ]),
        at.set(end.get),
      ],
    ),
  ];
}

function boolean(cell: CellVariables): Code {
  const { at, from } = cell;
  return [
    from.set(i32.add(told(cell, "bit"), cell.row.get)),
    memory.putByte(
      at.get,
      i32.minus(
        int(letters.f),
        i32.times(bitOf(told(cell, "values"), from.get), int(letters.f - letters.t)),
      ),
    ),
    at.set(i32.add(at.get, int(1))),
  ];
}

/** Bit `index` of a bitmap. */
export function bitOf(bitmap: Code, index: Code): Code {
  const byte = memory.byte(i32.add(bitmap, i32.right(index, int(3))));
  return i32.and(i32.right(byte, i32.and(index, int(7))), int(1));
}

/** Those that are decimals of few digits; the shortest text of another is left to plain code. */
function double(cell: CellVariables): Code {
  const { value, double: number } = cell;
  return [
    value.set(memory.long(cellAt(cell, 3))),
    number.set(f64.magnitude(memory.float(cellAt(cell, 3)))),
    when(i64.below(value.get, long(0n)), put(cell, minus)),
    putScaled(cell, 4, putScaled(cell, 9, cell.leave)),
  ];
}

/** The number by its digits when it is a decimal of so many places. */
function putScaled(cell: CellVariables, places: 4 | 9, otherwise: Code): Code {
  const { at, value, rest, double: number, scaled } = cell;
  const power = 10 ** places;
  const exact = i32.and(
    i32.and(
      f64.below(scaled.get, float(exactMax)),
      f64.equal(f64.over(scaled.get, float(power)), number.get),
    ),
    // A zero is one of four places.
    places === 4 ? int(1) : i32.isZero(f64.below(number.get, float(plainMin))),
  );
  return [
    scaled.set(f64.rounded(f64.times(number.get, float(power)))),
    when(
      exact,
      [
        value.set(i64.ofFloat(scaled.get)),
        rest.set(i64.over(value.get, long(BigInt(power)))),
        at.set(putNumber(at.get, rest.get)),
        rest.set(i64.minus(value.get, i64.times(rest.get, long(BigInt(power))))),
        when(i32.isZero(i64.isZero(rest.get)), [
          put(cell, point),
          at.set(putPadded(at.get, rest.get, int(places))),
          trim(cell),
        ]),
      ],
      otherwise,
    ),
  ];
}
