/** Single cells in PostgreSQL's binary format as neutral values: what has no fixed width, and items of arrays. */
import type { Value } from "@gateway/core/type/type.ts";
import { decodeText } from "@gateway/wire/text.ts";
import type { ColumnRule } from "../types.ts";

/** A value, or why the cell has no neutral one. */
export type ReadValue = { readonly value: Value } | { readonly unfit: string };

const wrong: ReadValue = { unfit: "a cell is not as its type says" };
const infinite: ReadValue = {
  unfit: "an infinite date or timestamp has no form here; cast it to text",
};

/** Reads one cell. Never throws. */
export function readValue(rule: ColumnRule, cell: Uint8Array): ReadValue {
  const view = new DataView(cell.buffer, cell.byteOffset, cell.byteLength);
  const long = lengths[rule.form];
  if (long !== undefined && long !== cell.length) return wrong;
  switch (rule.form) {
    case "text": {
      const text = decodeText(cell);
      return text === undefined ? wrong : { value: text };
    }
    case "bytes":
      return { value: cell.slice() };
    case "bool":
      return { value: cell[0] !== 0 };
    case "int2":
      return { value: BigInt(view.getInt16(0)) };
    case "int4": {
      const signed = rule.type.kind !== "integer" || rule.type.signed;
      return { value: BigInt(signed ? view.getInt32(0) : view.getUint32(0)) };
    }
    case "int8":
    case "time":
      return { value: view.getBigInt64(0) };
    case "float4":
      return { value: view.getFloat32(0) };
    case "float8":
      return { value: view.getFloat64(0) };
    case "date": {
      const days = view.getInt32(0);
      const finite = days !== 0x7fff_ffff && days !== -0x8000_0000;
      return finite ? { value: BigInt(days + 10_957) } : infinite;
    }
    case "timestamp": {
      const micros = view.getBigInt64(0);
      const finite = micros !== 0x7fff_ffff_ffff_ffffn && micros !== -0x8000_0000_0000_0000n;
      return finite ? { value: micros + 946_684_800_000_000n } : infinite;
    }
    case "interval":
      return intervalOf(view);
    case "uuid":
      return { value: uuidOf(cell) };
    case "numeric":
      return numericOf(view, rule);
    case "array":
      return arrayOf(view, cell, rule);
  }
}

const lengths: Partial<Record<ColumnRule["form"], number>> = {
  bool: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  float4: 4,
  float8: 8,
  date: 4,
  time: 8,
  timestamp: 8,
  interval: 16,
  uuid: 16,
};

function intervalOf(view: DataView): ReadValue {
  const micros = view.getBigInt64(0);
  const days = view.getInt32(8);
  const months = view.getInt32(12);
  const nanoseconds = micros * 1_000n;
  // PostgreSQL 17 has infinite ones: every field at its end.
  if (BigInt.asIntN(64, nanoseconds) !== nanoseconds)
    return { unfit: "an interval this long has no form here; cast it to text" };
  return { value: { months, days, nanoseconds } };
}

function uuidOf(cell: Uint8Array): string {
  const digits = Buffer.from(cell).toString("hex");
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join("-");
}

const positive = 0x0000;
const negative = 0x4000;

/** Digits of base 10000 (`numeric_send` of PostgreSQL), as a count of the column's last digit. */
function numericOf(view: DataView, { type }: ColumnRule): ReadValue {
  if (type.kind !== "decimal" || view.byteLength < 8) return wrong;
  const count = view.getUint16(0);
  const weight = view.getInt16(2);
  const sign = view.getUint16(4);
  if (sign !== positive && sign !== negative)
    return { unfit: "a numeric that is no number has no form here; cast it to text" };
  if (view.byteLength !== 8 + count * 2 || count > 32) return wrong;
  let unscaled = 0n;
  for (let index = 0; index < count; index += 1) {
    const digits = view.getUint16(8 + index * 2);
    if (digits > 9_999) return wrong;
    unscaled = unscaled * 10_000n + BigInt(digits);
  }
  const exponent = (weight - count + 1) * 4 + type.scale;
  if (exponent > 80 || exponent < -80) return wrong;
  const power = 10n ** BigInt(Math.abs(exponent));
  const value = exponent >= 0 ? unscaled * power : unscaled / power;
  if (exponent < 0 && value * power !== unscaled) return wrong;
  if (value >= 10n ** BigInt(type.precision)) return wrong;
  return { value: sign === negative ? -value : value };
}

const dimensionsWanted = 1;

/** `array_send`: dimensions, flags, type of the items, then each dimension's length and first number. */
function arrayOf(view: DataView, cell: Uint8Array, { item }: ColumnRule): ReadValue {
  if (item === undefined || cell.length < 12) return wrong;
  const dimensions = view.getInt32(0);
  if (dimensions === 0) return cell.length === 12 ? { value: [] } : wrong;
  if (dimensions !== dimensionsWanted)
    return { unfit: "an array of several dimensions has no form here; cast it to text" };
  if (cell.length < 20) return wrong;
  const count = view.getInt32(12);
  // Each item has at least its length.
  if (count < 0 || count * 4 > cell.length - 20) return wrong;
  const items: Value[] = [];
  let at = 20;
  for (let index = 0; index < count; index += 1) {
    if (at + 4 > cell.length) return wrong;
    const length = view.getInt32(at);
    at += 4;
    if (length === -1) {
      items.push(null);
      continue;
    }
    if (length < 0 || length > cell.length - at) return wrong;
    const read = readValue(item, cell.subarray(at, at + length));
    if ("unfit" in read) return read;
    items.push(read.value);
    at += length;
  }
  return at === cell.length ? { value: items } : wrong;
}
