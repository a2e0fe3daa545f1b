/**
 * Reads the metadata of Arrow's IPC messages that a client sent: its schema, and where the buffers of its batches
 * lie. Nothing is believed; what can not be read is a value that says why.
 */
import {
  headers,
  typeIds,
  unitIds,
  type ArrowField,
  type ArrowType,
  type ArrowUnit,
} from "./arrowType.ts";
import { FlatError, FlatTable } from "./flatReader.ts";

/** Most fields of a schema, and of one field; most levels of fields in fields. */
const fieldsMax = 65_536;
const depthMax = 16;

export type ArrowMessage =
  | { readonly kind: "schema"; readonly fields: readonly ArrowField[] }
  | {
      readonly kind: "batch";
      readonly rows: number;
      readonly nodes: readonly (readonly [length: number, nullCount: number])[];
      readonly buffers: readonly (readonly [offset: number, length: number])[];
    }
  /** `reason` names the part that can not be read, and nothing of its content. */
  | { readonly kind: "bad"; readonly reason: string };

/** Reads the metadata of one message, without prefix. Never throws. */
export function readMessage(metadata: Uint8Array): ArrowMessage {
  try {
    return messageOf(FlatTable.root(metadata));
  } catch (error) {
    if (error instanceof FlatError) return { kind: "bad", reason: error.message };
    throw error;
  }
}

function messageOf(message: FlatTable): ArrowMessage {
  const header = message.table(2);
  if (header === undefined) return { kind: "bad", reason: "a message without a header" };
  switch (message.byte(1, 0)) {
    case headers.schema: {
      if (header.short(0, 0) !== 0) return { kind: "bad", reason: "a schema in big-endian order" };
      const left = { fields: fieldsMax };
      const fields = header.tables(1, fieldsMax).map((field) => fieldOf(field, depthMax, left));
      return { kind: "schema", fields };
    }
    case headers.recordBatch: {
      if (header.table(3) !== undefined) return { kind: "bad", reason: "a compressed batch" };
      const rows = header.long(0, 0);
      if (rows < 0) return { kind: "bad", reason: "a batch with less than no rows" };
      const buffers = header.pairs(2, fieldsMax * 3);
      return { kind: "batch", rows, nodes: header.pairs(1, fieldsMax), buffers };
    }
    case headers.dictionary:
      return { kind: "bad", reason: "a dictionary" };
    default:
      return { kind: "bad", reason: "a message of an unknown kind" };
  }
}

function fieldOf(field: FlatTable, depth: number, left: { fields: number }): ArrowField {
  left.fields -= 1;
  if (depth === 0 || left.fields < 0) throw new FlatError("a schema with too many fields");
  if (field.table(4) !== undefined) throw new FlatError("a dictionary");
  const children = field.tables(5, left.fields).map((child) => fieldOf(child, depth - 1, left));
  const metadata = new Map(
    field.tables(6, 64).map((pair) => [pair.string(0) ?? "", pair.string(1) ?? ""] as const),
  );
  return {
    name: field.string(0) ?? "",
    type: typeOf(field.byte(2, 0), field.table(3)),
    nullable: field.byte(1, 0) !== 0,
    children,
    metadata,
  };
}

const plainTypes: ReadonlyMap<number, ArrowType> = new Map([
  [typeIds.null, { kind: "null" }],
  [typeIds.bool, { kind: "bool" }],
  [typeIds.utf8, { kind: "utf8" }],
  [typeIds.largeUtf8, { kind: "largeUtf8" }],
  [typeIds.binary, { kind: "binary" }],
  [typeIds.largeBinary, { kind: "largeBinary" }],
]);

const floatBits = [16, 32, 64] as const;

function typeOf(id: number, type: FlatTable | undefined): ArrowType {
  const plain = plainTypes.get(id);
  if (plain !== undefined) return plain;
  if (type === undefined) throw new FlatError("a field without a type");
  switch (id) {
    case typeIds.int:
      return { kind: "int", bits: intBits(type.int(0, 0)), signed: type.byte(1, 0) !== 0 };
    case typeIds.float: {
      const bits = floatBits[type.short(0, 0)];
      if (bits === undefined) throw new FlatError("a float of an unknown width");
      return { kind: "float", bits };
    }
    case typeIds.decimal:
      return decimalOf(type);
    case typeIds.date:
      return { kind: "date", unit: type.short(0, 1) === 0 ? "day" : "ms" };
    case typeIds.time:
      return { kind: "time", unit: unitOf(type.short(0, 1)) };
    case typeIds.timestamp: {
      const zone = type.string(1);
      return {
        kind: "timestamp",
        unit: unitOf(type.short(0, 0)),
        zone: zone === "" ? undefined : zone,
      };
    }
    case typeIds.interval:
      if (type.short(0, 0) !== 2) throw new FlatError("an interval of another unit");
      return { kind: "interval" };
    case typeIds.fixedBinary: {
      const width = type.int(0, 0);
      if (width < 0) throw new FlatError("a negative width");
      return { kind: "fixedBinary", width };
    }
    default:
      throw new FlatError("a type that no parameter has");
  }
}

function decimalOf(type: FlatTable): ArrowType {
  const [precision, scale, bits] = [type.int(0, 0), type.int(1, 0), type.int(2, 128)];
  if (bits !== 128 && bits !== 256) throw new FlatError("a decimal of another width");
  if (precision < 1 || precision > 76) throw new FlatError("a decimal of a wrong precision");
  return { kind: "decimal", precision, scale, bits };
}

function intBits(bits: number): 8 | 16 | 32 | 64 {
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) {
    throw new FlatError("an integer of an unknown width");
  }
  return bits;
}

function unitOf(id: number): ArrowUnit {
  const unit = unitIds[id];
  if (unit === undefined) throw new FlatError("an unknown unit of time");
  return unit;
}
