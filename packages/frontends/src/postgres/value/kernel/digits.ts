/**
 * Routines of the kernel that write numbers as digits, eight at a time: what follows a text may be written over, because
 * the next cell is written later.
 */
import {
  answer,
  call,
  i32,
  i64,
  int,
  long,
  memory,
  variable,
  when,
  type Code,
  type Routine,
} from "@gateway/wire/assembly/assembly.ts";

/** Numbers of the routines in the kernel's program. */
export const routines = { eight: 0, putNumber: 1, putPadded: 2, takeDay: 3, writeRows: 4 } as const;

/** `0` in each of eight bytes. */
const ascii = 0x3030_3030_3030_3030n;
const eightDigits = 100_000_000n;

/** Eight digits of a number below 10^8, the first in the lowest byte. */
export const asciiEight = (value: Code): Code => i64.or(call(routines.eight, value), long(ascii));

/** Writes a number of 64 bits without a sign; the offset behind it. */
export const putNumber = (at: Code, value: Code): Code => call(routines.putNumber, at, value);

/** Writes exactly `count` digits; the offset behind them. */
export const putPadded = (at: Code, value: Code, count: Code): Code =>
  call(routines.putPadded, at, value, count);

const modulo = (value: Code, by: bigint): Code =>
  i64.minus(value, i64.times(i64.over(value, long(by)), long(by)));

/**
 * Halves the number, then both halves, then all four: each lane holds the quotient low, for it is written first. The
 * multiplications are divisions that are exact below 10^8, 10^4 and 100.
 */
const eight = (): Code => {
  const value = variable(0);
  const upper = variable(1);
  const split = (quotients: Code, by: bigint, bits: bigint): Code => [
    upper.set(quotients),
    value.set(
      i64.or(upper.get, i64.left(i64.minus(value.get, i64.times(upper.get, long(by))), long(bits))),
    ),
  ];
  const product = (by: bigint, bits: bigint): Code =>
    i64.right(i64.times(value.get, long(by)), long(bits));
  return [
    split(product(109_951_163n, 40n), 10_000n, 32n),
    split(i64.and(product(10_486n, 20n), long(0x0000_007f_0000_007fn)), 100n, 16n),
    split(i64.and(product(103n, 10n), long(0x000f_000f_000f_000fn)), 10n, 8n),
    value.get,
  ];
};

const number = (): Code => {
  const at = variable(0);
  const value = variable(1);
  const digits = variable(2);
  const zeroBits = variable(3);
  return [
    when(i64.belowUnsigned(value.get, long(eightDigits)), [
      digits.set(call(routines.eight, value.get)),
      // The zeros before the first digit, as bits; of a zero the last one stays.
      zeroBits.set(
        i64.and(i64.trailingZeros(i64.or(digits.get, long(1n << 56n))), long(0b111000n)),
      ),
      memory.putLong(at.get, i64.right(i64.or(digits.get, long(ascii)), zeroBits.get)),
      answer(i32.minus(i32.add(at.get, int(8)), i64.toInt(i64.right(zeroBits.get, long(3n))))),
    ]),
    at.set(putNumber(at.get, i64.over(value.get, long(eightDigits)))),
    memory.putLong(at.get, asciiEight(modulo(value.get, eightDigits))),
    i32.add(at.get, int(8)),
  ];
};

const padded = (): Code => {
  const at = variable(0);
  const value = variable(1);
  const count = variable(2);
  const missing = i64.ofInt(i32.left(i32.minus(int(8), count.get), int(3)));
  return [
    when(i32.below(int(8), count.get), [
      at.set(
        putPadded(at.get, i64.over(value.get, long(eightDigits)), i32.minus(count.get, int(8))),
      ),
      value.set(modulo(value.get, eightDigits)),
      count.set(int(8)),
    ]),
    memory.putLong(at.get, i64.right(asciiEight(value.get), missing)),
    i32.add(at.get, count.get),
  ];
};

/** In the order of `routines`. */
export const digitRoutines: readonly Routine[] = [
  { name: "eight", parameters: ["i64"], result: "i64", variables: ["i64"], body: eight() },
  {
    name: "putNumber",
    parameters: ["i32", "i64"],
    variables: ["i64", "i64"],
    body: number(),
  },
  { name: "putPadded", parameters: ["i32", "i64", "i32"], variables: [], body: padded() },
];
