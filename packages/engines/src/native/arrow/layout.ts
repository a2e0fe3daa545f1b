/**
 * What a column of a driver becomes here: its neutral type, and how its buffers are read into the
 * one layout that the neutral type has. Decided once per result; gather.ts does the reading.
 *
 * Drivers may send the same meaning in several layouts (booleans as bits or bytes, offsets of 32 or
 * 64 bits, dictionaries). What has no neutral type of its own arrives as text or as a struct, so that
 * no digit is lost.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import type { ArrowField } from "./cdata.ts";

export interface Layout {
  readonly type: DataType;
  readonly read: Read;
  readonly children: readonly Layout[];
}

/** How the buffers of a column are read. */
export type Read =
  | { readonly kind: "null" }
  | { readonly kind: "bits" }
  /** One byte a boolean. */
  | { readonly kind: "bytesToBits" }
  /** Copied as they are. */
  | { readonly kind: "fixed"; readonly width: number }
  /** Each value made into one of `width` bytes by a rule of gather.ts. */
  | { readonly kind: "widened"; readonly from: Widening; readonly width: number }
  | { readonly kind: "bytes"; readonly offsetBytes: 4 | 8 }
  /** Binary of one length for all rows, which gets offsets. */
  | { readonly kind: "fixedBytes"; readonly width: number }
  /** Shown as text, by a rule of textual.ts. */
  | { readonly kind: "textual"; readonly rule: Textual; readonly width: number | undefined }
  | { readonly kind: "list"; readonly offsetBytes: 4 | 8 }
  | { readonly kind: "fixedList"; readonly size: number }
  | { readonly kind: "struct" }
  | { readonly kind: "map" }
  /** Sparse union: a struct of the member's name and all members. */
  | { readonly kind: "union"; readonly tags: ReadonlyMap<number, string> }
  | {
      readonly kind: "dictionary";
      readonly indexBytes: 1 | 2 | 4 | 8;
      readonly indexSigned: boolean;
    };

/** Named after what arrives: `time32s` is a count of seconds in 32 bits. */
export type Widening =
  | "float16"
  | "decimal32"
  | "decimal64"
  | "decimal256"
  | "date64"
  | "time32s"
  | "time32ms"
  | "durationS"
  | "durationMs"
  | "durationUs"
  | "durationNs"
  | "intervalMonths"
  | "intervalDayMs";

export type Textual =
  | "timeTz"
  | "bit"
  | "bignum"
  | { readonly decimalBytes: number; readonly scale: number };

/** Nested deeper than this no client type is shown; it bounds the recursion here and in every encoder. */
const depthMax = 64;

/** The layout of a field, or the name of what can not be read. */
export function layoutOf(field: ArrowField, depth = 0): Result<Layout, string> {
  if (depth > depthMax) return err("types nested deeper than 64");
  if (field.dictionary !== undefined) return dictionaryLayout(field, field.dictionary, depth);
  const simple = simpleLayouts[field.format];
  if (simple !== undefined) return ok(extended(field, leaf(simple.type, simple.read)));
  if (field.format.startsWith("+")) return nestedLayout(field, depth);
  if (field.format.startsWith("d:")) return decimalLayout(field.format);
  if (field.format.startsWith("w:")) return fixedBinaryLayout(field);
  if (field.format.startsWith("ts")) return timestampLayout(field.format);
  return unreadable(field.format);
}

/** The name of the extension type a driver gave a field: Arrow's own names, or the vendor's inside `arrow.opaque`. */
export function extensionOf(metadata: ReadonlyMap<string, string>): string | undefined {
  const name = metadata.get("ARROW:extension:name");
  if (name !== "arrow.opaque") return name;
  const found = /"type_name"\s*:\s*"([^"]*)"/.exec(metadata.get("ARROW:extension:metadata") ?? "");
  return found?.[1];
}

/**
 * The extension whose layout is known here: of the vendors' own only DuckDB's, because others use the
 * same names for bytes of another meaning (PostgreSQL's `bit`).
 */
function knownExtension({ metadata }: ArrowField): string | undefined {
  const opaque = metadata.get("ARROW:extension:name") === "arrow.opaque";
  const ours = /"vendor_name"\s*:\s*"DuckDB"/.test(metadata.get("ARROW:extension:metadata") ?? "");
  return opaque && !ours ? undefined : extensionOf(metadata);
}

type Simple = { readonly type: DataType; readonly read: Read };

const integer = (bits: 8 | 16 | 32 | 64, signed: boolean): Simple => ({
  type: { kind: "integer", bits, signed },
  read: { kind: "fixed", width: bits / 8 },
});
const time = (unit: TimeUnit, read: Read): Simple => ({ type: { kind: "time", unit }, read });
const widened = (from: Widening, width: number): Read => ({ kind: "widened", from, width });
const interval = (from: Widening): Simple => ({
  type: { kind: "interval" },
  read: widened(from, 16),
});
const bytes = (kind: "text" | "binary", offsetBytes: 4 | 8): Simple => ({
  type: { kind },
  read: { kind: "bytes", offsetBytes },
});

const simpleLayouts: Readonly<Record<string, Simple>> = {
  n: { type: { kind: "null" }, read: { kind: "null" } },
  b: { type: { kind: "boolean" }, read: { kind: "bits" } },
  c: integer(8, true),
  C: integer(8, false),
  s: integer(16, true),
  S: integer(16, false),
  i: integer(32, true),
  I: integer(32, false),
  l: integer(64, true),
  L: integer(64, false),
  e: { type: { kind: "float", bits: 32 }, read: widened("float16", 4) },
  f: { type: { kind: "float", bits: 32 }, read: { kind: "fixed", width: 4 } },
  g: { type: { kind: "float", bits: 64 }, read: { kind: "fixed", width: 8 } },
  z: bytes("binary", 4),
  Z: bytes("binary", 8),
  u: bytes("text", 4),
  U: bytes("text", 8),
  tdD: { type: { kind: "date" }, read: { kind: "fixed", width: 4 } },
  tdm: { type: { kind: "date" }, read: widened("date64", 4) },
  // Arrow has no 64-bit time in seconds or milliseconds, so both arrive in microseconds.
  tts: time("us", widened("time32s", 8)),
  ttm: time("us", widened("time32ms", 8)),
  ttu: time("us", { kind: "fixed", width: 8 }),
  ttn: time("ns", { kind: "fixed", width: 8 }),
  tDs: interval("durationS"),
  tDm: interval("durationMs"),
  tDu: interval("durationUs"),
  tDn: interval("durationNs"),
  tiM: interval("intervalMonths"),
  tiD: interval("intervalDayMs"),
  tin: { type: { kind: "interval" }, read: { kind: "fixed", width: 16 } },
};

function leaf(type: DataType, read: Read): Layout {
  return { type, read, children: [] };
}

/** Extension types that change the meaning of a plain one. An unknown extension is its storage. */
function extended(field: ArrowField, layout: Layout): Layout {
  switch (knownExtension(field)) {
    case "arrow.bool8":
      return field.format === "c" ? leaf({ kind: "boolean" }, { kind: "bytesToBits" }) : layout;
    case "arrow.json":
      return layout.type.kind === "text" ? leaf({ kind: "json" }, layout.read) : layout;
    case "bit":
      return layout.type.kind === "binary" ? textual("bit") : layout;
    case "bignum":
      return layout.type.kind === "binary" ? textual("bignum") : layout;
    default:
      return layout;
  }
}

function textual(rule: Textual, width?: number): Layout {
  return leaf({ kind: "text" }, { kind: "textual", rule, width });
}

function decimalLayout(format: string): Result<Layout, string> {
  const [precision = 0, scale = 0, bits = 128] = format.slice(2).split(",").map(Number);
  if (![32, 64, 128, 256].includes(bits)) return unreadable(format);
  if (precision > 38 || scale < 0 || scale > precision) {
    return ok(textual({ decimalBytes: bits / 8, scale }, bits / 8));
  }
  const type: DataType = { kind: "decimal", precision, scale };
  if (bits === 128) return ok(leaf(type, { kind: "fixed", width: 16 }));
  const from = bits === 32 ? "decimal32" : bits === 64 ? "decimal64" : "decimal256";
  return ok(leaf(type, widened(from, 16)));
}

function fixedBinaryLayout(field: ArrowField): Result<Layout, string> {
  const width = Number(field.format.slice(2));
  if (!Number.isInteger(width) || width < 0) return unreadable(field.format);
  const plain = leaf({ kind: "binary" }, { kind: "fixedBytes", width });
  const wide: Read = { kind: "fixed", width: 16 };
  switch (`${knownExtension(field) ?? ""}:${width}`) {
    case "arrow.uuid:16":
      return ok(leaf({ kind: "uuid" }, wide));
    case "hugeint:16":
      return ok(leaf({ kind: "integer", bits: 128, signed: true }, wide));
    case "uhugeint:16":
      return ok(leaf({ kind: "integer", bits: 128, signed: false }, wide));
    case "time_tz:8":
      return ok(textual("timeTz", 8));
    default:
      return ok(plain);
  }
}

const timestampUnits = new Map<string, TimeUnit>([
  ["s", "s"],
  ["m", "ms"],
  ["u", "us"],
  ["n", "ns"],
]);

function timestampLayout(format: string): Result<Layout, string> {
  const unit = timestampUnits.get(format.charAt(2));
  if (unit === undefined || format.charAt(3) !== ":") return unreadable(format);
  const type: DataType = { kind: "timestamp", unit, zoned: format.length > 4 };
  return ok(leaf(type, { kind: "fixed", width: 8 }));
}

function nestedLayout(field: ArrowField, depth: number): Result<Layout, string> {
  const children: Layout[] = [];
  for (const child of field.children) {
    const layout = layoutOf(child, depth + 1);
    if (!layout.ok) return layout;
    children.push(layout.value);
  }
  const [first] = children;
  const { format } = field;
  if (format === "+s")
    return ok({ type: structOf(field, children), read: { kind: "struct" }, children });
  if (format.startsWith("+us:")) return unionLayout(field, children);
  if (first === undefined) return unreadable(format);
  if (format === "+l" || format === "+L") {
    const read = { kind: "list", offsetBytes: format === "+l" ? 4 : 8 } as const;
    return ok({ type: { kind: "list", item: first.type }, read, children });
  }
  if (format.startsWith("+w:")) {
    const read = { kind: "fixedList", size: Number(format.slice(3)) } as const;
    return ok({ type: { kind: "list", item: first.type }, read, children });
  }
  const [key, value] = first.children;
  if (format === "+m" && key !== undefined && value !== undefined) {
    const type: DataType = { kind: "map", key: key.type, value: value.type };
    return ok({ type, read: { kind: "map" }, children: [key, value] });
  }
  return unreadable(format);
}

function structOf(field: ArrowField, children: readonly Layout[]): DataType {
  const fields = children.map(({ type }, index) => ({
    name: field.children[index]?.name ?? "",
    type,
  }));
  return { kind: "struct", fields };
}

function unionLayout(field: ArrowField, children: readonly Layout[]): Result<Layout, string> {
  const ids = field.format.slice(4).split(",").map(Number);
  const tags = new Map(ids.map((id, index) => [id, field.children[index]?.name ?? ""]));
  const members = structOf(field, children);
  const fields = [{ name: "tag", type: { kind: "text" } as const }];
  const type: DataType = {
    kind: "struct",
    fields: members.kind === "struct" ? [...fields, ...members.fields] : fields,
  };
  return ok({ type, read: { kind: "union", tags }, children });
}

const indexFormats = new Map<string, readonly [bytes: 1 | 2 | 4 | 8, signed: boolean]>([
  ["c", [1, true]],
  ["C", [1, false]],
  ["s", [2, true]],
  ["S", [2, false]],
  ["i", [4, true]],
  ["I", [4, false]],
  ["l", [8, true]],
  ["L", [8, false]],
]);

function dictionaryLayout(
  field: ArrowField,
  values: ArrowField,
  depth: number,
): Result<Layout, string> {
  const index = indexFormats.get(field.format);
  const layout = layoutOf(values, depth + 1);
  if (!layout.ok) return layout;
  const { read } = layout.value;
  const readable = read.kind === "fixed" || (read.kind === "bytes" && read.offsetBytes === 4);
  if (index === undefined || !readable) return unreadable(`dictionary of ${values.format}`);
  const [indexBytes, indexSigned] = index;
  return ok({
    type: layout.value.type,
    read: { kind: "dictionary", indexBytes, indexSigned },
    children: [layout.value],
  });
}

function unreadable(what: string): Result<Layout, string> {
  return err(what);
}
