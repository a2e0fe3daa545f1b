/**
 * What ClickHouse's types are here, and how their columns lie in a Native block.
 *
 * Native blocks carry the types' own names, so a DateTime is no UInt32 and a UUID no 16 bytes, as it is
 * in Arrow. What has no neutral type of its own arrives as text, so that no digit is lost.
 */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { parseTypeName, unquoted, type TypeName } from "./page/typeName.ts";

/** How a column's bytes become a vector. */
export type Layout =
  /** Copied as they are. */
  | { readonly kind: "fixed"; readonly type: DataType; readonly width: number }
  /** Each value of `width` bytes made into another by a rule of values.ts. */
  | {
      readonly kind: "converted";
      readonly type: DataType;
      readonly width: number;
      readonly rule: Rule;
    }
  | { readonly kind: "text"; readonly type: DataType }
  | { readonly kind: "nullable"; readonly type: DataType; readonly inner: Layout }
  | {
      readonly kind: "dictionary";
      readonly type: DataType;
      readonly inner: Layout;
      readonly nullable: boolean;
    }
  | { readonly kind: "list"; readonly type: DataType; readonly inner: Layout }
  | { readonly kind: "struct"; readonly type: DataType; readonly members: readonly Layout[] }
  | { readonly kind: "map"; readonly type: DataType; readonly key: Layout; readonly value: Layout };

/** How one value is converted. */
export type Rule =
  | { readonly to: "boolean" }
  /** A smaller integer, widened to `width` bytes. */
  | { readonly to: "integer"; readonly width: 4 | 8 | 16; readonly signed: boolean }
  /** A count multiplied to a finer unit. */
  | { readonly to: "count"; readonly factor: bigint }
  | { readonly to: "uuid" }
  | { readonly to: "float32" }
  | { readonly to: "fixedBytes" }
  | {
      readonly to: "interval";
      readonly part: "months" | "days" | "nanoseconds";
      readonly factor: bigint;
    }
  | { readonly to: "text"; readonly show: (view: DataView, at: number) => string };

/** Nearly every result has the same few types; an enumeration or a tuple with a longer name is read anew. */
const rememberedTypes = { textsMax: 1_000, lengthMax: 200 } as const;

/** The layout of a type by its name; undefined for types that no reader here knows (`Variant`, `Dynamic`, states of aggregates). */
export const layoutOf = remembered((text): Layout | undefined => {
  const name = parseTypeName(text);
  return name === undefined ? undefined : layoutOfName(name);
}, rememberedTypes);

function layoutOfName({ name, args }: TypeName): Layout | undefined {
  const simple = simpleLayouts[name];
  if (simple !== undefined) return simple;
  const [first, second] = args;
  switch (name) {
    case "DateTime64":
    case "Time64":
      return momentLayout(name, Number(first?.name));
    case "Decimal":
      return decimalLayout(Number(first?.name), Number(second?.name));
    case "Enum8":
    case "Enum16":
      return enumLayout(name === "Enum8" ? 1 : 2, args);
    case "FixedString":
      return converted({ kind: "binary" }, Number(first?.name), { to: "fixedBytes" });
    default:
      return name.startsWith("Interval") ? intervalLayout(name) : nestedLayout(name, args);
  }
}

function fixed(type: DataType, width: number): Layout {
  return { kind: "fixed", type, width };
}

function converted(type: DataType, width: number, rule: Rule): Layout | undefined {
  const sized = Number.isSafeInteger(width) && width > 0;
  return sized ? { kind: "converted", type, width, rule } : undefined;
}

function integer(bits: 8 | 16 | 32 | 64 | 128, signed: boolean): Layout {
  return fixed({ kind: "integer", bits, signed }, bits / 8);
}

function shown(width: number, show: (view: DataView, at: number) => string): Layout {
  return { kind: "converted", type: { kind: "text" }, width, rule: { to: "text", show } };
}

const double = fixed({ kind: "float", bits: 64 }, 8);
const point = structOf([
  { label: undefined, layout: double },
  { label: undefined, layout: double },
]);
const ring = listOf(point);
const polygon = listOf(ring);

const simpleLayouts: Readonly<Record<string, Layout>> = {
  Int8: integer(8, true),
  Int16: integer(16, true),
  Int32: integer(32, true),
  Int64: integer(64, true),
  Int128: integer(128, true),
  UInt8: integer(8, false),
  UInt16: integer(16, false),
  UInt32: integer(32, false),
  UInt64: integer(64, false),
  UInt128: integer(128, false),
  Int256: shown(32, (view, at) => `${wideAt(view, at, true)}`),
  UInt256: shown(32, (view, at) => `${wideAt(view, at, false)}`),
  Float32: fixed({ kind: "float", bits: 32 }, 4),
  Float64: double,
  BFloat16: {
    kind: "converted",
    type: { kind: "float", bits: 32 },
    width: 2,
    rule: { to: "float32" },
  },
  Bool: { kind: "converted", type: { kind: "boolean" }, width: 1, rule: { to: "boolean" } },
  String: { kind: "text", type: { kind: "text" } },
  // Settings of every query ask for text in its place.
  JSON: { kind: "text", type: { kind: "json" } },
  UUID: { kind: "converted", type: { kind: "uuid" }, width: 16, rule: { to: "uuid" } },
  Date: {
    kind: "converted",
    type: { kind: "date" },
    width: 2,
    rule: { to: "integer", width: 4, signed: false },
  },
  Date32: fixed({ kind: "date" }, 4),
  // An instant; the zone of the type only says how the server would show it.
  DateTime: {
    kind: "converted",
    type: { kind: "timestamp", unit: "s", zoned: true },
    width: 4,
    rule: { to: "integer", width: 8, signed: false },
  },
  // A time of ClickHouse may be negative and longer than a day.
  Time: shown(4, (view, at) => clockText(BigInt(view.getInt32(at, true)), 0)),
  IPv4: shown(4, ipv4Text),
  IPv6: shown(16, ipv6Text),
  Nothing: { kind: "converted", type: { kind: "null" }, width: 1, rule: { to: "boolean" } },
  Point: point,
  Ring: ring,
  LineString: ring,
  Polygon: polygon,
  MultiLineString: polygon,
  MultiPolygon: listOf(polygon),
};

const units: readonly TimeUnit[] = ["s", "ms", "us", "ns"];

function momentLayout(name: "DateTime64" | "Time64", digits: number): Layout | undefined {
  if (!Number.isInteger(digits) || digits < 0 || digits > 9) return undefined;
  if (name === "Time64")
    return shown(8, (view, at) => clockText(view.getBigInt64(at, true), digits));
  const step = Math.ceil(digits / 3);
  const type: DataType = { kind: "timestamp", unit: units[step] ?? "ns", zoned: true };
  const factor = 10n ** BigInt(step * 3 - digits);
  return factor === 1n ? fixed(type, 8) : converted(type, 8, { to: "count", factor });
}

function decimalLayout(precision: number, scale: number): Layout | undefined {
  if (!Number.isInteger(precision) || !Number.isInteger(scale) || scale > precision)
    return undefined;
  if (precision > 38) return shown(32, (view, at) => decimalText(wideAt(view, at, true), scale));
  const type: DataType = { kind: "decimal", precision, scale };
  if (precision > 18) return fixed(type, 16);
  return converted(type, precision > 9 ? 8 : 4, { to: "integer", width: 16, signed: true });
}

function enumLayout(width: 1 | 2, args: readonly TypeName[]): Layout {
  const names = new Map<number, string>();
  for (const { name } of args) {
    const split = name.lastIndexOf("=");
    names.set(Number(name.slice(split + 1)), unquoted(name.slice(0, split)));
  }
  return shown(width, (view, at) => {
    const value = width === 1 ? view.getInt8(at) : view.getInt16(at, true);
    return names.get(value) ?? `${value}`;
  });
}

const intervals: Readonly<Record<string, readonly ["months" | "days" | "nanoseconds", bigint]>> = {
  IntervalNanosecond: ["nanoseconds", 1n],
  IntervalMicrosecond: ["nanoseconds", 1_000n],
  IntervalMillisecond: ["nanoseconds", 1_000_000n],
  IntervalSecond: ["nanoseconds", 1_000_000_000n],
  IntervalMinute: ["nanoseconds", 60_000_000_000n],
  IntervalHour: ["nanoseconds", 3_600_000_000_000n],
  IntervalDay: ["days", 1n],
  IntervalWeek: ["days", 7n],
  IntervalMonth: ["months", 1n],
  IntervalQuarter: ["months", 3n],
  IntervalYear: ["months", 12n],
};

function intervalLayout(name: string): Layout | undefined {
  const found = intervals[name];
  if (found === undefined) return undefined;
  const [part, factor] = found;
  return converted({ kind: "interval" }, 8, { to: "interval", part, factor });
}

function nestedLayout(name: string, args: readonly TypeName[]): Layout | undefined {
  if (name === "SimpleAggregateFunction")
    return args[1] === undefined ? undefined : layoutOfName(args[1]);
  const members = args.map((arg) => ({ label: arg.label, layout: layoutOfName(arg) }));
  const [first, second] = members;
  switch (name) {
    case "Nullable":
      return first?.layout === undefined ? undefined : nullableOf(first.layout);
    case "LowCardinality":
      return first?.layout === undefined ? undefined : dictionaryOf(first.layout);
    case "Array":
      return first?.layout === undefined ? undefined : listOf(first.layout);
    case "Map": {
      if (first?.layout === undefined || second?.layout === undefined) return undefined;
      const type: DataType = { kind: "map", key: first.layout.type, value: second.layout.type };
      return { kind: "map", type, key: first.layout, value: second.layout };
    }
    case "Tuple":
      // An empty one has bytes of its own, which no reader here knows.
      return allKnown(members) && members.length > 0 ? structOf(members) : undefined;
    case "Nested":
      return allKnown(members) ? listOf(structOf(members)) : undefined;
    default:
      return undefined;
  }
}

interface Member {
  readonly label: string | undefined;
  readonly layout: Layout;
}

function allKnown(
  members: readonly { readonly label: string | undefined; readonly layout: Layout | undefined }[],
): members is readonly Member[] {
  return members.every(({ layout }) => layout !== undefined);
}

function nullableOf(inner: Layout): Layout {
  return { kind: "nullable", type: inner.type, inner };
}

function dictionaryOf(inner: Layout): Layout {
  const nullable = inner.kind === "nullable";
  return { kind: "dictionary", type: inner.type, inner: nullable ? inner.inner : inner, nullable };
}

function listOf(inner: Layout): Layout {
  return { kind: "list", type: { kind: "list", item: inner.type }, inner };
}

function structOf(members: readonly Member[]): Layout {
  const fields = members.map(({ label, layout }, index) => ({
    name: label ?? `${index + 1}`,
    type: layout.type,
  }));
  return {
    kind: "struct",
    type: { kind: "struct", fields },
    members: members.map((one) => one.layout),
  };
}

function wideAt(view: DataView, at: number, signed: boolean): bigint {
  let value = 0n;
  for (let word = 3; word >= 0; word -= 1) {
    value = (value << 64n) | view.getBigUint64(at + word * 8, true);
  }
  return signed ? BigInt.asIntN(256, value) : value;
}

function decimalText(value: bigint, scale: number): string {
  if (scale === 0) return `${value}`;
  const digits = `${value < 0n ? -value : value}`.padStart(scale + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function clockText(count: bigint, digits: number): string {
  const per = 10n ** BigInt(digits);
  const size = count < 0n ? -count : count;
  const seconds = size / per;
  const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  const fraction = digits === 0 ? "" : `.${`${size % per}`.padStart(digits, "0")}`;
  return `${count < 0n ? "-" : ""}${clock}${fraction}`;
}

function two(part: bigint): string {
  return `${part}`.padStart(2, "0");
}

function ipv4Text(view: DataView, at: number): string {
  return [3, 2, 1, 0].map((byte) => view.getUint8(at + byte)).join(".");
}

/** The form of RFC 5952: the longest run of zero groups is left out, lower case. */
function ipv6Text(view: DataView, at: number): string {
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(at + index * 2));
  const head = groups.slice(0, 6);
  if (head.slice(0, 5).every((group) => group === 0) && head[5] === 0xffff) {
    return `::ffff:${[12, 13, 14, 15].map((byte) => view.getUint8(at + byte)).join(".")}`;
  }
  let best = { start: 0, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.length < 2) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}
