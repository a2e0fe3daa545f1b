/**
 * Arrow IPC: messages written on the driver's thread and read on the main thread.
 *
 * A message lies at the start of one buffer, which is handed over or written where it goes: 8 bytes of prefix, the metadata, then the
 * body. Reading makes views of the body, a few objects per column and none per cell. The messages of
 * one result in order, behind the schema message, are an Arrow IPC stream.
 */
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type { ArrowMessage, ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { MetadataVersion } from "apache-arrow/enum";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { BufferRegion, FieldNode, Message, RecordBatch } from "apache-arrow/ipc/metadata/message";
import { Schema } from "apache-arrow/schema";
import { newBytes } from "../memory/messageMemory.ts";
import { arrowFieldOf, columnOf } from "./arrowType.ts";

const prefixBytes = 8;
const continuation = 0xffff_ffff;
const alignment = 8;

/** A message from the start of its buffer, which may be longer. */
export type MessageBytes = Uint8Array<ArrayBuffer>;

/** Where a message is written: memory of that many bytes, from the start of its buffer. */
export type TakeMemory = (bytes: number) => MessageBytes;

/** Where the buffers of a batch lie in its body. */
export interface BatchShape {
  readonly rows: number;
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  /** Lengths in order; each buffer begins at the next multiple of 8. */
  readonly bufferLengths: readonly number[];
}

/** An empty message of the right size, with its prefix and metadata written. */
export interface BatchDraft {
  readonly message: MessageBytes;
  /** Where each buffer begins, counted from the start of the message. */
  readonly offsets: readonly number[];
}

/** Writes the schema message; `formats` are what the driver called the columns. */
export function schemaMessage(columns: readonly Column[], formats: readonly string[]): ArrayBuffer {
  const fields = columns.map((column, index) => arrowFieldOf(column, formats[index]));
  const schema = new Schema(fields, undefined, undefined, MetadataVersion.V5);
  return framed(Message.encode(Message.from(schema)), 0, newBytes).message.buffer;
}

/** Reads what `schemaMessage` wrote; `engineType` holds the driver's format. */
export function readSchemaMessage(message: ArrayBuffer): readonly Column[] {
  const header = metadataOf(new Uint8Array(message)).header();
  if (!(header instanceof Schema)) throw new Error("a message that is no schema");
  return header.fields.map(columnOf);
}

/** Lays out a record batch and answers the message with its body still empty. */
export function draftBatch(
  { rows, nodes, bufferLengths }: BatchShape,
  take: TakeMemory = newBytes,
): BatchDraft {
  const regions: BufferRegion[] = [];
  let end = 0;
  for (const length of bufferLengths) {
    regions.push(new BufferRegion(end, length));
    end = aligned(end + length);
  }
  const header = new RecordBatch(
    rows,
    nodes.map(({ length, nullCount }) => new FieldNode(length, nullCount)),
    regions,
    null,
  );
  const metadata = Message.encode(
    new Message(end, MetadataVersion.V5, MessageHeader.RecordBatch, header),
  );
  const { message, bodyStart } = framed(metadata, end, take);
  const offsets: number[] = [];
  for (const { offset, length } of regions) {
    offsets.push(bodyStart + offset);
    clearPadding(message, bodyStart + offset + length);
  }
  return { message, offsets };
}

/** Reads a record batch as views of the message, which must not be written to or handed on while they are used. */
export function readBatchMessage(message: MessageBytes, types: readonly DataType[]): ColumnarBatch {
  const { rows, columns } = readLater(message, types);
  return { form: "columnar", rows, columns: columns() };
}

/** The same for who may not want the columns: they are made when they are asked for. */
export function readWholeMessage(
  message: MessageBytes,
  types: readonly DataType[],
  release?: () => void,
): ColumnarBatch {
  const { rows, columns } = readLater(message, types);
  let made: readonly Vector[] | undefined;
  const parts = messageParts(message);
  return {
    form: "columnar",
    rows,
    get columns() {
      made ??= columns();
      return made;
    },
    arrow: release === undefined ? parts : { ...parts, release },
  };
}

function readLater(message: MessageBytes, types: readonly DataType[]) {
  const header = metadataOf(message).header();
  if (!(header instanceof RecordBatch)) throw new Error("a message that is no record batch");
  const start = prefixBytes + lengthOf(message);
  return {
    rows: header.length,
    columns: (): readonly Vector[] => {
      const reader: BodyReader = { message: message.buffer, start, header, node: 0, buffer: 0 };
      return types.map((type) => readVector(reader, type));
    },
  };
}

/** The parts of a record batch's message, as views of it. */
function messageParts(message: MessageBytes): ArrowMessage {
  const bodyStart = prefixBytes + lengthOf(message);
  return {
    metadata: message.subarray(prefixBytes, bodyStart),
    body: message.subarray(bodyStart),
  };
}

/** Of the metadata. */
function lengthOf({ buffer }: MessageBytes): number {
  return new DataView(buffer).getInt32(4, true);
}

/** True when cells of the type lie in a message as Arrow has them, and not in a layout of ours. */
export function isArrowLayout(type: DataType): boolean {
  switch (type.kind) {
    case "integer":
      return type.bits !== 128;
    case "time":
      return type.unit === "us" || type.unit === "ns";
    case "list":
      return isArrowLayout(type.item);
    case "struct":
      return type.fields.every((field) => isArrowLayout(field.type));
    case "map":
      return isArrowLayout(type.key) && isArrowLayout(type.value);
    default:
      return true;
  }
}

interface BodyReader {
  readonly message: ArrayBuffer;
  readonly start: number;
  readonly header: RecordBatch;
  node: number;
  buffer: number;
}

const noBytes = new Uint8Array(0);

function readVector(reader: BodyReader, type: DataType): Vector {
  const node = reader.header.nodes[reader.node++];
  if (node === undefined) throw new Error("a record batch with fewer columns than its schema");
  const { length, nullCount } = node;
  const plain = {
    type,
    length,
    offset: 0,
    validity: undefined,
    values: noBytes,
    offsets: undefined,
    children: [],
  };
  if (type.kind === "null") return plain;
  const bitmap = nextBuffer(reader);
  const validity = nullCount === 0 ? undefined : bitmap;
  switch (type.kind) {
    case "struct":
      return {
        ...plain,
        validity,
        children: type.fields.map((field) => readVector(reader, field.type)),
      };
    case "list":
      return {
        ...plain,
        validity,
        offsets: nextOffsets(reader),
        children: [readVector(reader, type.item)],
      };
    case "map": {
      const offsets = nextOffsets(reader);
      // The entries are a struct in between, which the neutral layout leaves out.
      reader.node += 1;
      nextBuffer(reader);
      return {
        ...plain,
        validity,
        offsets,
        children: [readVector(reader, type.key), readVector(reader, type.value)],
      };
    }
    case "text":
    case "json":
    case "binary":
      return { ...plain, validity, offsets: nextOffsets(reader), values: nextBuffer(reader) };
    default:
      return { ...plain, validity, values: nextBuffer(reader) };
  }
}

function nextBuffer(reader: BodyReader): Uint8Array {
  const { offset, length } = nextRegion(reader);
  return new Uint8Array(reader.message, reader.start + offset, length);
}

function nextOffsets(reader: BodyReader): Int32Array {
  const { offset, length } = nextRegion(reader);
  return new Int32Array(reader.message, reader.start + offset, length / 4);
}

function nextRegion(reader: BodyReader): BufferRegion {
  const region = reader.header.buffers[reader.buffer++];
  if (region === undefined) throw new Error("a record batch with fewer buffers than its schema");
  return region;
}

function metadataOf(message: MessageBytes): Message {
  return Message.decode(message.subarray(prefixBytes, prefixBytes + lengthOf(message)));
}

function framed(
  metadata: Uint8Array,
  bodyBytes: number,
  take: TakeMemory,
): { readonly message: MessageBytes; readonly bodyStart: number } {
  const bodyStart = aligned(prefixBytes + metadata.length);
  const message = take(bodyStart + bodyBytes);
  const view = new DataView(message.buffer);
  view.setUint32(0, continuation, true);
  view.setInt32(4, bodyStart - prefixBytes, true);
  message.set(metadata, prefixBytes);
  clearPadding(message, prefixBytes + metadata.length);
  return { message, bodyStart };
}

/** Zeroes what lies between an end and the next multiple of 8. */
function clearPadding(message: MessageBytes, end: number): void {
  message.fill(0, end, aligned(end));
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
