/**
 * A small assembler of WebAssembly, for loops over bytes that want vectors of sixteen.
 *
 * An expression is the code that leaves its value on the stack, so programs read like the formulas
 * they are. It checks nothing: the engine validates a module before it runs.
 * Source: WebAssembly Core Specification 2.0 §5.
 */

/** Instructions, nested as they were put together. */
export type Code = readonly (number | Code)[];

export type ValueType = "i32" | "i64" | "v128";

/** A parameter or variable of a function. */
export interface Variable {
  readonly get: Code;
  readonly set: (value: Code) => Code;
}

export interface Routine {
  readonly name: string;
  /** Parameters, all of them `i32`; the result is one as well. */
  readonly parameters: number;
  /** Variables behind the parameters. */
  readonly variables: readonly ValueType[];
  readonly body: Code;
}

export interface Program {
  readonly memoryPages: number;
  /** Exported under the name; begins as zero. */
  readonly globals: readonly { readonly name: string; readonly type: "i32" | "i64" }[];
  readonly routines: readonly Routine[];
}

const typeBytes = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;
const noResult = 0x40;
const end = 0x0b;
const vector = 0xfd;

export function variable(index: number): Variable {
  return { get: [0x20, index], set: (value) => [value, 0x21, index] };
}

export function shared(index: number): Variable {
  return { get: [0x23, index], set: (value) => [value, 0x24, index] };
}

export const int = (value: number): Code => [0x41, signed(BigInt(value))];
export const long = (value: bigint): Code => [0x42, signed(value)];

type Binary = (a: Code, b: Code) => Code;
const binary =
  (...opcode: readonly number[]): Binary =>
  (a, b) => [a, b, opcode];
const unary =
  (...opcode: readonly number[]) =>
  (a: Code): Code => [a, opcode];

/** Numbers of 32 bits. */
export const i32 = {
  isZero: unary(0x45),
  equal: binary(0x46),
  differs: binary(0x47),
  below: binary(0x48),
  atMost: binary(0x4c),
  atLeast: binary(0x4e),
  add: binary(0x6a),
  minus: binary(0x6b),
  or: binary(0x72),
  timesFour: (a: Code): Code => [a, int(2), 0x74],
} as const;

/** Numbers of 64 bits; mostly a bit for each byte of a block. */
export const i64 = {
  isZero: unary(0x50),
  leadingZeros: unary(0x79),
  trailingZeros: unary(0x7a),
  minus: binary(0x7d),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  left: binary(0x86),
  rightSigned: binary(0x87),
  right: binary(0x88),
  ofInt: unary(0xad),
  toInt: unary(0xa7),
} as const;

/** Sixteen bytes. */
export const v128 = {
  all: (byte: number): Code => [int(byte), vector, 0x0f],
  of: (bytes: readonly number[]): Code => [vector, 0x0c, bytes],
  /** Byte `i` of the result is the byte of `a` at index `b[i]`. */
  pick: binary(vector, 0x0e),
  equal: binary(vector, 0x23),
  below: binary(vector, 0x26),
  and: binary(vector, 0x4e),
  or: binary(vector, 0x50),
  least: binary(vector, 0x77),
  upperHalves: (a: Code): Code => [a, int(4), vector, 0x6d],
  any: unary(vector, 0x53),
  /** A bit for the highest of each byte. */
  bits: unary(vector, 0x64),
} as const;

export const memory = {
  byte: (at: Code): Code => [at, 0x2d, 0, 0],
  int: (at: Code): Code => [at, 0x28, 0, 0],
  putInt: (at: Code, value: Code, offset: number): Code => [at, value, 0x36, 0, unsigned(offset)],
  vector: (at: Code, offset: number): Code => [at, vector, 0, 0, unsigned(offset)],
} as const;

export function when(condition: Code, then: Code, otherwise?: Code): Code {
  const rest = otherwise === undefined ? [] : [0x05, otherwise];
  return [condition, 0x04, noResult, then, rest, end];
}

/** Repeats while the condition holds. */
export function whilst(condition: Code, body: Code): Code {
  const leave: Code = [condition, 0x45, 0x0d, 1];
  return [0x02, noResult, 0x03, noResult, leave, body, 0x0c, 0, end, end];
}

export function answer(value: Code): Code {
  return [value, 0x0f];
}

/** The module's bytes. It exports its memory as `memory`. */
export function assembled({ memoryPages, globals, routines }: Program): Uint8Array {
  const shapes = routines.map(({ parameters }) => [
    0x60,
    listed(parameters, () => [0x7f]),
    1,
    0x7f,
  ]);
  const values = globals.map(({ type }) => [
    typeBytes[type],
    1,
    type === "i32" ? int(0) : long(0n),
    end,
  ]);
  const exported = [
    [name("memory"), 2, 0],
    ...globals.map((one, index) => [name(one.name), 3, index]),
    ...routines.map((one, index) => [name(one.name), 0, index]),
  ];
  const bodies = routines.map((one) => sized([...variablesOf(one), one.body, end]));
  const code: Code = [
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, shapes),
    section(
      3,
      routines.map((_, index) => [index]),
    ),
    section(5, [[1, memoryPages, memoryPages]]),
    section(6, values),
    section(7, exported),
    section(10, bodies),
  ];
  return Uint8Array.from(flat(code));
}

function variablesOf({ variables }: Routine): Code {
  return [unsigned(variables.length), ...variables.map((type) => [1, typeBytes[type]])];
}

function section(id: number, items: readonly Code[]): Code {
  return [id, sized([unsigned(items.length), ...items])];
}

function listed(count: number, item: () => Code): Code {
  return [unsigned(count), ...Array.from({ length: count }, item)];
}

function sized(code: Code): Code {
  const bytes = flat(code);
  return [unsigned(bytes.length), bytes];
}

function name(text: string): Code {
  return sized(Array.from(text, (letter) => letter.charCodeAt(0)));
}

/** Into one list: a list for each level took 60 ms of every start. */
function flat(code: Code, bytes: number[] = []): readonly number[] {
  for (const one of code) {
    if (typeof one === "number") bytes.push(one);
    else flat(one, bytes);
  }
  return bytes;
}

/** LEB128. */
function unsigned(value: number): number[] {
  const low = value & 0x7f;
  return value > 0x7f ? [low | 0x80, ...unsigned(value >>> 7)] : [low];
}

function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const whole = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
  return whole ? [low] : [low | 0x80, ...signed(rest)];
}
