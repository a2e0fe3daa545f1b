/** How a cell of each Arrow type that a parameter may have is read as a value. */
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import type { ArrowField, ArrowType } from "@gateway/wire/flight/arrowType.ts";

/** The buffers of one column. */
export interface CellBuffers {
  /** Empty when no cell is NULL. */
  readonly validity: Uint8Array;
  readonly buffers: readonly Uint8Array[];
  readonly rows: number;
  readonly nullCount: number;
}

/** Undefined for a value that does not fit. */
export type ReadCell = (row: number) => Parameter | undefined;

export interface ParameterReader {
  readonly type: DataType;
  /** Buffers of the column in the message, its validity among them. */
  readonly buffers: number;
  /** Undefined when the buffers are shorter than the rows. */
  open(cells: CellBuffers): ReadCell | undefined;
}

type ReadValue = (cells: View, row: number) => Value | undefined;

/** The reader of a column; undefined for a type that no parameter has. */
export function parameterReader({ type, metadata }: ArrowField): ParameterReader | undefined {
  if (type.kind === "null") {
    const none: Parameter = { type: { kind: "null" }, value: null };
    return { type: none.type, buffers: 0, open: () => () => none };
  }
  if (type.kind === "utf8" || type.kind === "largeUtf8") {
    const json = metadata.get("ARROW:extension:name") === "arrow.json";
    return variable({ kind: json ? "json" : "text" }, type.kind === "largeUtf8", textAt);
  }
  if (type.kind === "binary" || type.kind === "largeBinary") {
    return variable({ kind: "binary" }, type.kind === "largeBinary", copyOf);
  }
  if (type.kind === "bool") return fixed({ kind: "boolean" }, 1, boolAt);
  if (type.kind === "fixedBinary") {
    const uuid = metadata.get("ARROW:extension:name") === "arrow.uuid" && type.width === 16;
    const read: ReadValue = (view, row) => view.bytes(row, type.width);
    if (!uuid) return fixed({ kind: "binary" }, type.width * 8, read);
    return fixed({ kind: "uuid" }, 128, (view, row) => uuidText(view.bytes(row, 16)));
  }
  return numeric(type);
}

function numeric(type: ArrowType): ParameterReader | undefined {
  switch (type.kind) {
    case "int": {
      const { bits, signed } = type;
      return fixed({ kind: "integer", bits, signed }, bits, (view, row) =>
        signed ? view.integer(row, bits) : BigInt.asUintN(bits, view.integer(row, bits)),
      );
    }
    case "float":
      if (type.bits === 16) return undefined;
      return type.bits === 32
        ? fixed({ kind: "float", bits: 32 }, 32, (view, row) => view.float32(row))
        : fixed({ kind: "float", bits: 64 }, 64, (view, row) => view.float64(row));
    case "decimal":
      return decimal(type);
    case "date":
      if (type.unit === "day") return fixed({ kind: "date" }, 32, (v, row) => v.integer(row, 32));
      return fixed({ kind: "date" }, 64, (view, row) => wholeDays(view.integer(row, 64)));
    case "time": {
      const bits = type.unit === "s" || type.unit === "ms" ? 32 : 64;
      return fixed({ kind: "time", unit: type.unit }, bits, (v, row) => v.integer(row, bits));
    }
    case "timestamp": {
      const neutral = {
        kind: "timestamp",
        unit: type.unit,
        zoned: type.zone !== undefined,
      } as const;
      return fixed(neutral, 64, (view, row) => view.integer(row, 64));
    }
    case "interval":
      return fixed({ kind: "interval" }, 128, (view, row) => view.interval(row));
    default:
      return undefined;
  }
}

const digitsMax = 38;

function decimal({
  precision,
  scale,
  bits,
}: Extract<ArrowType, { kind: "decimal" }>): ParameterReader | undefined {
  // A wider one is taken where its value needs no more digits than ours have.
  const kept = Math.min(precision, digitsMax);
  if (scale < 0 || scale > kept) return undefined;
  const limit = 10n ** BigInt(kept);
  return fixed({ kind: "decimal", precision: kept, scale }, bits, (view, row) => {
    const value = view.integer(row, bits);
    return value < limit && value > -limit ? value : undefined;
  });
}

const dayMs = 86_400_000n;

function wholeDays(ms: bigint): bigint | undefined {
  return ms % dayMs === 0n ? ms / dayMs : undefined;
}

function fixed(type: DataType, bits: number, read: ReadValue): ParameterReader {
  return {
    type,
    buffers: 2,
    open: (cells) => {
      const [values = new Uint8Array(0)] = cells.buffers;
      if (values.length * 8 < cells.rows * bits || !validityFits(cells)) return undefined;
      const view = new View(values);
      return (row) => parameterOf(type, isNull(cells, row) ? null : read(view, row));
    },
  };
}

function variable(
  type: DataType,
  large: boolean,
  read: (bytes: Uint8Array) => Value | undefined,
): ParameterReader {
  const width = large ? 8 : 4;
  return {
    type,
    buffers: 3,
    open: (cells) => {
      const [offsets = new Uint8Array(0), values = new Uint8Array(0)] = cells.buffers;
      const needed = cells.rows === 0 ? 0 : (cells.rows + 1) * width;
      if (offsets.length < needed || !validityFits(cells)) return undefined;
      const view = new View(offsets);
      return (row) => {
        if (isNull(cells, row)) return { type, value: null };
        const start = Number(view.integer(row, large ? 64 : 32));
        const end = Number(view.integer(row + 1, large ? 64 : 32));
        if (start < 0 || end < start || end > values.length) return undefined;
        return parameterOf(type, read(values.subarray(start, end)));
      };
    },
  };
}

function parameterOf(type: DataType, value: Value | undefined): Parameter | undefined {
  return value === undefined ? undefined : { type, value };
}

/** Clients leave the bitmap out only when no cell is NULL. */
function validityFits({ validity, rows, nullCount }: CellBuffers): boolean {
  return nullCount === 0 || validity.length * 8 >= rows;
}

function isNull({ validity }: CellBuffers, row: number): boolean {
  return validity.length > 0 && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined for bytes that are no text. */
function textAt(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Not by `slice`, which of a `Buffer` is a view. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function boolAt(view: View, row: number): boolean {
  return view.bit(row);
}

function uuidText(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Fixed-width cells. Its maker has checked that all of them are there. */
class View {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  bit(row: number): boolean {
    return ((this.#bytes[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  bytes(row: number, width: number): Uint8Array {
    return copyOf(this.#bytes.subarray(row * width, (row + 1) * width));
  }

  float32(row: number): number {
    return this.#view.getFloat32(row * 4, true);
  }

  float64(row: number): number {
    return this.#view.getFloat64(row * 8, true);
  }

  interval(row: number): Value {
    const at = row * 16;
    return {
      months: this.#view.getInt32(at, true),
      days: this.#view.getInt32(at + 4, true),
      nanoseconds: this.#view.getBigInt64(at + 8, true),
    };
  }

  /** Two's complement, of 8 to 256 bits. */
  integer(row: number, bits: number): bigint {
    const at = row * (bits / 8);
    if (bits === 8) return BigInt(this.#view.getInt8(at));
    if (bits === 16) return BigInt(this.#view.getInt16(at, true));
    if (bits === 32) return BigInt(this.#view.getInt32(at, true));
    let value = this.#view.getBigInt64(at + bits / 8 - 8, true);
    for (let part = bits / 8 - 16; part >= 0; part -= 8) {
      value = (value << 64n) | this.#view.getBigUint64(at + part, true);
    }
    return value;
  }
}
