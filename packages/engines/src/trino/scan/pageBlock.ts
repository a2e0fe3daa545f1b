/**
 * A block of 64 bytes of a page, as a bit for each byte: which are quotes, which lie inside of strings.
 *
 * Source of the method: Langdale and Lemire, "Parsing Gigabytes of JSON per Second", 2019, §3.1.
 */
import {
  answer,
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

export const blockBytes = 64;
/** A routine answers this instead of a count for a page that it can not read. */
export const unread = -1;

export const quote = 0x22;
const backslash = 0x5c;

/**
 * Kept from block to block: `inString` is all ones when the block ended in a string, `escapeCarry` is 1 when
 * it ended with a backslash.
 */
export const inString = shared(0);
export const escapeCarry = shared(1);

/** The variables of both routines, behind their parameters. */
export interface PageBlock {
  readonly at: Variable;
  readonly size: Variable;
  readonly vectors: readonly Variable[];
  readonly quotes: Variable;
  readonly slashes: Variable;
  readonly inside: Variable;
  readonly valid: Variable;
  readonly marks: Variable;
  readonly rest: Variable;
  readonly bit: Variable;
  readonly position: Variable;
  readonly byte: Variable;
}

export const blockVariables = [
  ...(["i32", "v128", "v128", "v128", "v128"] as const),
  ...(["i64", "i64", "i64", "i64", "i64", "i64", "i64", "i32", "i32"] as const),
];

export function blockFrom(first: number): PageBlock {
  const at = (offset: number): Variable => variable(first + offset);
  return {
    size: variable(0),
    at: at(0),
    vectors: [at(1), at(2), at(3), at(4)],
    quotes: at(5),
    slashes: at(6),
    inside: at(7),
    valid: at(8),
    marks: at(9),
    rest: at(10),
    bit: at(11),
    position: at(12),
    byte: at(13),
  };
}

/** A bit for each byte of the block for which `test` answers all ones. */
export function bitsOf({ vectors }: PageBlock, test: (bytes: Code) => Code): Code {
  const parts = vectors.map(({ get }, index) => {
    const bits = i64.ofInt(v128.bits(test(get)));
    return index === 0 ? bits : i64.left(bits, long(BigInt(index * 16)));
  });
  return parts.reduce((a, b) => i64.or(a, b));
}

export const equals =
  (byte: number) =>
  (bytes: Code): Code =>
    v128.equal(bytes, v128.all(byte));
const not = (bits: Code): Code => i64.xor(bits, long(-1n));
export const without = (bits: Code, others: Code): Code => i64.and(bits, not(others));
export const any = (bits: Code): Code => i32.isZero(i64.isZero(bits));

/** Reads the block at `at`, finds its quotes and what is inside of them, and refuses what no JSON holds there. */
export function readBlock(block: PageBlock): Code {
  const { at, size, vectors, quotes, slashes, inside, valid } = block;
  const left = i32.minus(size.get, at.get);
  const [a, b, c, d] = vectors.map(({ get }) => get) as [Code, Code, Code, Code];
  const hasSlash = v128.any(
    [a, b, c, d].map(equals(backslash)).reduce((one, other) => v128.or(one, other)),
  );
  const lowest = v128.least(v128.least(a, b), v128.least(c, d));
  const controls = bitsOf(block, (bytes) => v128.below(bytes, v128.all(0x20)));
  return [
    vectors.map((one, index) => one.set(memory.vector(at.get, index * 16))),
    valid.set(long(-1n)),
    when(
      i32.below(left, int(blockBytes)),
      valid.set(i64.minus(i64.left(long(1n), i64.ofInt(left)), long(1n))),
    ),
    quotes.set(i64.and(bitsOf(block, equals(quote)), valid.get)),
    slashes.set(long(0n)),
    when(i32.or(hasSlash, any(escapeCarry.get)), [
      slashes.set(i64.and(bitsOf(block, equals(backslash)), valid.get)),
      escapedQuotes(block),
    ]),
    inside.set(quotes.get),
    [1n, 2n, 4n, 8n, 16n, 32n].map((by) =>
      inside.set(i64.xor(inside.get, i64.left(inside.get, long(by)))),
    ),
    inside.set(i64.xor(inside.get, inString.get)),
    inString.set(i64.rightSigned(inside.get, long(63n))),
    when(any(without(slashes.get, inside.get)), answer(int(unread))),
    when(
      v128.any(v128.below(lowest, v128.all(0x20))),
      when(any(i64.and(i64.and(controls, inside.get), valid.get)), answer(int(unread))),
    ),
  ];
}

/** Removes escaped quotes from `quotes`: those behind a backslash that is not escaped itself. */
function escapedQuotes({ quotes, slashes, rest, bit, marks }: PageBlock): Code {
  const escaped = marks;
  return [
    escaped.set(escapeCarry.get),
    escapeCarry.set(long(0n)),
    rest.set(slashes.get),
    whilst(any(rest.get), [
      bit.set(i64.and(rest.get, i64.minus(long(0n), rest.get))),
      rest.set(i64.xor(rest.get, bit.get)),
      when(i64.isZero(i64.and(escaped.get, bit.get)), [
        escaped.set(i64.or(escaped.get, i64.left(bit.get, long(1n)))),
        escapeCarry.set(i64.or(escapeCarry.get, i64.right(bit.get, long(63n)))),
      ]),
    ]),
    quotes.set(without(quotes.get, escaped.get)),
  ];
}

/** Goes through the marks of the block that stand outside of strings. */
export function eachMark({ at, marks, position, byte }: PageBlock, body: Code): Code {
  return whilst(any(marks.get), [
    position.set(i32.add(at.get, i64.toInt(i64.trailingZeros(marks.get)))),
    marks.set(i64.and(marks.get, i64.minus(marks.get, long(1n)))),
    byte.set(memory.byte(position.get)),
    body,
  ]);
}
