/** Arrow's IPC stream of a result: its schema, record batches, the end. Source: Arrow columnar format, "IPC Streaming Format". */
import type { Column } from "@gateway/core/type/type.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { aligned, batchMetadata, encapsulatedSchema } from "@gateway/wire/flight/arrowWrite.ts";
import { arrowColumn, arrowField } from "./arrowColumns.ts";

const prefixBytes = 8;
const continuation = 0xffff_ffff;

/** What a stream begins with. */
export function streamHead(columns: readonly Column[]): Buffer {
  return Buffer.from(encapsulatedSchema(columns.map(arrowField)));
}

/** What it ends with. */
export const streamEnd = Buffer.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** The rows of a batch as one message. Nothing in it points to the engine's memory. */
export function streamBatch(batch: Batch): Buffer {
  const { columns, rows } = columnarOf(batch);
  const made = columns.map(arrowColumn);
  const nodes = made.flatMap((column) => column.nodes);
  const buffers = made.flatMap((column) => column.buffers);
  const bufferLengths = buffers.map(({ length }) => length);
  const { metadata, bodyBytes } = batchMetadata({ rows, nodes, bufferLengths });
  const message = Buffer.allocUnsafe(prefixBytes + metadata.length + bodyBytes);
  message.writeUInt32LE(continuation, 0);
  message.writeInt32LE(metadata.length, 4);
  message.set(metadata, prefixBytes);
  let at = prefixBytes + metadata.length;
  for (const bytes of buffers) {
    message.set(bytes, at);
    const end = at + bytes.length;
    at += aligned(bytes.length);
    message.fill(0, end, at);
  }
  return message;
}
