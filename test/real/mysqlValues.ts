/** Values of prepared statements by chance, of every type that a client may bind. */
import { Buffer } from "node:buffer";
import type { Chance } from "@gateway/wire/http/rig/responses.ts";

export interface Value {
  readonly shown: string;
  /** As MySQL's protocol numbers types. */
  readonly type: number;
  readonly unsigned: boolean;
  /** In binary; absent: NULL. */
  readonly bytes: readonly number[] | undefined;
}

/** Mostly texts, which most drivers bind. */
export function valueOf(chance: Chance): Value {
  return chance.pick(chance.below(2) === 0 ? texts : others);
}

const text = 253;
const texts: readonly [Value, ...Value[]] = [
  textOf("1"),
  textOf("x"),
  textOf(""),
  { shown: "null", type: text, unsigned: false, bytes: undefined },
];

const others: readonly [Value, ...Value[]] = [
  textOf("it's"),
  textOf("\0"),
  textOf("\\"),
  textOf("ä😀"),
  textOf("y".repeat(300)),
  of("tiny -1", 1, [0xff]),
  of("unsigned tiny 255", 1, [0xff], true),
  of(
    "short",
    2,
    bytesOf(2, (buffer) => buffer.writeInt16LE(-300)),
  ),
  of(
    "long",
    3,
    bytesOf(4, (buffer) => buffer.writeInt32LE(-70_000)),
  ),
  of(
    "unsigned long",
    3,
    bytesOf(4, (buffer) => buffer.writeUInt32LE(4_294_967_295)),
    true,
  ),
  of(
    "longlong",
    8,
    bytesOf(8, (buffer) => buffer.writeBigInt64LE(-9_223_372_036_854_775_808n)),
  ),
  of(
    "unsigned longlong",
    8,
    bytesOf(8, (buffer) => buffer.writeBigUInt64LE(2n ** 64n - 1n)),
    true,
  ),
  of(
    "float",
    4,
    bytesOf(4, (buffer) => buffer.writeFloatLE(0.1)),
  ),
  of(
    "double",
    5,
    bytesOf(8, (buffer) => buffer.writeDoubleLE(1e21)),
  ),
  of(
    "double -0",
    5,
    bytesOf(8, (buffer) => buffer.writeDoubleLE(-0)),
  ),
  lengthened("decimal", 246, Buffer.from("-1.250")),
  lengthened("decimal of no number", 246, Buffer.from("abc")),
  lengthened("varchar", 15, Buffer.from("v")),
  lengthened("blob", 252, Buffer.from([0, 255, 39, 92])),
  lengthened("json", 245, Buffer.from('{"a": 1}')),
  lengthened("bit", 16, Buffer.from([5])),
  of("date", 10, [4, 0xe8, 0x07, 2, 29]),
  of("zero date", 10, [0]),
  of("datetime", 12, [7, 0xe8, 0x07, 2, 29, 23, 59, 58]),
  of("datetime with micros", 12, [11, 0xe8, 0x07, 2, 29, 23, 59, 58, 0x40, 0xe2, 0x01, 0]),
  of("timestamp", 7, [4, 0xd0, 0x07, 1, 1]),
  of("time", 11, [8, 1, 1, 0, 0, 0, 2, 3, 4]),
  of("zero time", 11, [0]),
  { shown: "null of no type", type: 6, unsigned: false, bytes: undefined },
  { shown: "null of a number", type: 8, unsigned: false, bytes: undefined },
];

function textOf(said: string): Value {
  return lengthened(JSON.stringify(said), text, Buffer.from(said));
}

function lengthened(shown: string, type: number, value: Buffer): Value {
  const length =
    value.length < 251 ? [value.length] : [0xfc, value.length & 255, value.length >> 8];
  return of(shown, type, [...length, ...value]);
}

function of(shown: string, type: number, bytes: readonly number[], unsigned = false): Value {
  return { shown, type, unsigned, bytes };
}

function bytesOf(length: number, write: (buffer: Buffer) => number): readonly number[] {
  const buffer = Buffer.alloc(length);
  write(buffer);
  return [...buffer];
}
