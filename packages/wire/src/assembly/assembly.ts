/**
 * A small assembler of WebAssembly, for loops over bytes that want words of eight or vectors of sixteen.
 *
 * An expression is the code that leaves its value on the stack, so programs read like the formulas
 * they are. It checks nothing: the engine validates a module before it runs.
 * Source: WebAssembly Core Specification 2.0 §5.
 */

/** Instructions, nested as they were put together. */
export type Code = readonly (number | Code)[];

export type ValueType = "i32" | "i64" | "f64" | "v128";

/** A parameter or variable of a function. */
export interface Variable {
  readonly get: Code;
  readonly set: (value: Code) => Code;
}

export interface Routine {
  readonly name: string;
  /** How many there are, all of them `i32`; or the type of each. */
  readonly parameters: number | readonly ValueType[];
  /** `i32` unless said otherwise. */
  readonly result?: ValueType;
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

const typeBytes = { i32: 0x7f, i64: 0x7e, f64: 0x7c, v128: 0x7b } as const;
const noResult = 0x40;
const end = 0x0b;
const vector = 0xfd;

export function variable(index: number): Variable {
  return { get: [0x20, unsigned(index)], set: (value) => [value, 0x21, unsigned(index)] };
}

export function shared(index: number): Variable {
  return { get: [0x23, index], set: (value) => [value, 0x24, index] };
}

export const int = (value: number): Code => [0x41, signed(BigInt(value))];
export const long = (value: bigint): Code => [0x42, signed(value)];
export const float = (value: number): Code => [
  0x44,
  Array.from(new Uint8Array(Float64Array.of(value).buffer)),
];

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
  belowUnsigned: binary(0x49),
  atMost: binary(0x4c),
  atLeast: binary(0x4e),
  add: binary(0x6a),
  minus: binary(0x6b),
  times: binary(0x6c),
  /** Of numbers that are not negative. */
  over: binary(0x6e),
  and: binary(0x71),
  or: binary(0x72),
  left: binary(0x74),
  right: binary(0x76),
  timesFour: (a: Code): Code => [a, int(2), 0x74],
} as const;

/** Numbers of 64 bits, or a bit for each byte of a block. */
export const i64 = {
  isZero: unary(0x50),
  equal: binary(0x51),
  below: binary(0x53),
  belowUnsigned: binary(0x54),
  leadingZeros: unary(0x79),
  trailingZeros: unary(0x7a),
  add: binary(0x7c),
  minus: binary(0x7d),
  times: binary(0x7e),
  /** Towards zero. */
  overSigned: binary(0x7f),
  over: binary(0x80),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  left: binary(0x86),
  rightSigned: binary(0x87),
  right: binary(0x88),
  ofInt: unary(0xad),
  ofIntSigned: unary(0xac),
  toInt: unary(0xa7),
  /** Traps for what no such number is. */
  ofFloat: unary(0xb1),
} as const;

/** Doubles. */
export const f64 = {
  equal: binary(0x61),
  below: binary(0x63),
  magnitude: unary(0x99),
  rounded: unary(0x9e),
  times: binary(0xa2),
  over: binary(0xa3),
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

const read =
  (opcode: number) =>
  (at: Code, offset = 0): Code => [at, opcode, 0, unsigned(offset)];
const write =
  (opcode: number) =>
  (at: Code, value: Code, offset = 0): Code => [at, value, opcode, 0, unsigned(offset)];

/** Little-endian. `offset`: bytes behind the place. */
export const memory = {
  byte: read(0x2d),
  int: read(0x28),
  long: read(0x29),
  float: read(0x2b),
  /** As numbers of 64 bits. */
  long8: read(0x30),
  long8Unsigned: read(0x31),
  long16: read(0x32),
  long16Unsigned: read(0x33),
  long32: read(0x34),
  long32Unsigned: read(0x35),
  putByte: write(0x3a),
  putShort: write(0x3b),
  putInt: write(0x36),
  putLong: write(0x37),
  /** Copies `size` bytes. */
  copy: (to: Code, from: Code, size: Code): Code => [to, from, size, 0xfc, 0x0a, 0, 0],
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

/** The result of the routine of that number, in the order of the program. */
export function call(routine: number, ...values: readonly Code[]): Code {
  return [values, 0x10, unsigned(routine)];
}

export function answer(value: Code): Code {
  return [value, 0x0f];
}

/** The module's bytes. It exports its memory as `memory`. */
export function assembled({ memoryPages, globals, routines }: Program): Uint8Array {
  const shapes = routines.map(({ parameters, result = "i32" }) => [
    0x60,
    listed(typeof parameters === "number" ? ints(parameters) : parameters),
    1,
    typeBytes[result],
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

function ints(count: number): readonly ValueType[] {
  return Array.from({ length: count }, () => "i32");
}

function listed(types: readonly ValueType[]): Code {
  return [unsigned(types.length), types.map((type) => typeBytes[type])];
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
