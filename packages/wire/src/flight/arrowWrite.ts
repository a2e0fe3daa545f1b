/**
 * Writes the metadata of Arrow's IPC messages: a schema, and where the buffers of a record batch lie in its body.
 *
 * The body itself is its owner's: whoever sends it copies buffers one after the other, each to the next multiple
 * of 8.
 */
import {
  headers,
  metadataVersion,
  typeIds,
  unitIds,
  type ArrowField,
  type ArrowType,
  type ArrowUnit,
} from "./arrowType.ts";
import { FlatBuilder, type Place, type TableField } from "./flatBuilder.ts";

const continuation = 0xffff_ffff;
const prefixBytes = 8;

/** Where the parts of a batch lie: a node for each column and its children in order, and the lengths of all buffers. */
export interface BatchShape {
  readonly rows: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  /** Bytes of each buffer in order; each begins at the next multiple of 8. */
  readonly bufferLengths: readonly number[];
}

/** The next multiple of 8. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** The metadata of a schema message, without prefix. */
export function schemaMetadata(fields: readonly ArrowField[]): Uint8Array {
  const builder = new FlatBuilder();
  return finishMessage(builder, headers.schema, putSchema(builder, fields), 0);
}

function putSchema(builder: FlatBuilder, fields: readonly ArrowField[]): Place {
  const places = builder.places(fields.map((field) => putField(builder, field)));
  return builder.table([{ slot: 1, kind: "place", value: places }]);
}

/** Metadata as it stands in a stream or a file, in front of its body: its length is a multiple of 8. */
export function encapsulated(metadata: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(prefixBytes + metadata.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, continuation, true);
  view.setInt32(4, metadata.length, true);
  bytes.set(metadata, prefixBytes);
  return bytes;
}

/** What stands behind the last message of a stream. */
export const streamEnd: Uint8Array = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** Where a record batch lies in a file: its encapsulated metadata, and the body behind that. */
export interface FileBlock {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/** What a reader of a file looks for at its end, without its length and the magic behind it. */
export function fileFooter(
  fields: readonly ArrowField[],
  blocks: readonly FileBlock[],
): Uint8Array {
  const builder = new FlatBuilder();
  const batches = builder.triples(
    blocks.flatMap(({ offset, metadataBytes, bodyBytes }) => [offset, metadataBytes, bodyBytes]),
  );
  const dictionaries = builder.triples([]);
  const schema = putSchema(builder, fields);
  const footer = builder.table([
    { slot: 0, kind: "short", value: metadataVersion },
    { slot: 1, kind: "place", value: schema },
    { slot: 2, kind: "place", value: dictionaries },
    { slot: 3, kind: "place", value: batches },
  ]);
  return builder.finish(footer);
}

/** A schema as an encapsulated message, as it stands in descriptions of a result. */
export function encapsulatedSchema(fields: readonly ArrowField[]): Uint8Array {
  return encapsulated(schemaMetadata(fields));
}

/** The metadata of a record batch, without prefix, and the length of its body in bytes. */
export function batchMetadata({ rows, nodes, bufferLengths }: BatchShape): {
  readonly metadata: Uint8Array;
  readonly bodyBytes: number;
} {
  const regions: number[] = [];
  let end = 0;
  for (const length of bufferLengths) {
    regions.push(end, length);
    end = aligned(end + length);
  }
  const builder = new FlatBuilder();
  const buffers = builder.pairs(regions);
  const nodePairs = builder.pairs(nodes.flatMap(({ length, nullCount }) => [length, nullCount]));
  const batch = builder.table([
    { slot: 0, kind: "long", value: rows },
    { slot: 1, kind: "place", value: nodePairs },
    { slot: 2, kind: "place", value: buffers },
  ]);
  const metadata = finishMessage(builder, headers.recordBatch, batch, end);
  return { metadata, bodyBytes: end };
}

function finishMessage(
  builder: FlatBuilder,
  header: number,
  place: Place,
  bodyBytes: number,
): Uint8Array {
  const message = builder.table([
    { slot: 0, kind: "short", value: metadataVersion },
    { slot: 1, kind: "byte", value: header },
    { slot: 2, kind: "place", value: place },
    { slot: 3, kind: "long", value: bodyBytes },
  ]);
  return builder.finish(message);
}

function putField(builder: FlatBuilder, field: ArrowField): Place {
  const { name, type, nullable, children, metadata } = field;
  const childPlaces = builder.places(children.map((child) => putField(builder, child)));
  const pairs = [...metadata].map(([key, value]) =>
    builder.table([
      { slot: 0, kind: "place", value: builder.string(key) },
      { slot: 1, kind: "place", value: builder.string(value) },
    ]),
  );
  const fields: TableField[] = [
    { slot: 0, kind: "place", value: builder.string(name) },
    { slot: 1, kind: "bool", value: nullable ? 1 : 0 },
    { slot: 2, kind: "byte", value: typeIds[type.kind] },
    { slot: 3, kind: "place", value: putType(builder, type, children.length) },
    { slot: 5, kind: "place", value: childPlaces },
  ];
  if (pairs.length > 0) fields.push({ slot: 6, kind: "place", value: builder.places(pairs) });
  return builder.table(fields);
}

const precisions = { 16: 0, 32: 1, 64: 2 } as const;
const monthDayNano = 2;
const denseMode = 1;

function putType(builder: FlatBuilder, type: ArrowType, children: number): Place {
  switch (type.kind) {
    case "null":
    case "bool":
    case "utf8":
    case "largeUtf8":
    case "binary":
    case "largeBinary":
    case "list":
    case "struct":
    case "map":
      return builder.table([]);
    case "int":
      return builder.table([
        { slot: 0, kind: "int", value: type.bits },
        { slot: 1, kind: "bool", value: type.signed ? 1 : 0 },
      ]);
    case "float":
      return builder.table([{ slot: 0, kind: "short", value: precisions[type.bits] }]);
    case "decimal":
      return builder.table([
        { slot: 0, kind: "int", value: type.precision },
        { slot: 1, kind: "int", value: type.scale },
        { slot: 2, kind: "int", value: type.bits },
      ]);
    case "date":
      return builder.table([{ slot: 0, kind: "short", value: type.unit === "day" ? 0 : 1 }]);
    case "time": {
      const bits = type.unit === "s" || type.unit === "ms" ? 32 : 64;
      return builder.table([unitOf(type.unit), { slot: 1, kind: "int", value: bits }]);
    }
    case "timestamp": {
      const unit = unitOf(type.unit);
      if (type.zone === undefined) return builder.table([unit]);
      const zone = builder.string(type.zone);
      return builder.table([unit, { slot: 1, kind: "place", value: zone }]);
    }
    case "interval":
      return builder.table([{ slot: 0, kind: "short", value: monthDayNano }]);
    case "fixedBinary":
      return builder.table([{ slot: 0, kind: "int", value: type.width }]);
    case "union": {
      const ids = builder.integers(Array.from({ length: children }, (_, index) => index));
      return builder.table([
        { slot: 0, kind: "short", value: denseMode },
        { slot: 1, kind: "place", value: ids },
      ]);
    }
  }
}

function unitOf(unit: ArrowUnit): TableField {
  return { slot: 0, kind: "short", value: unitIds.indexOf(unit) };
}
