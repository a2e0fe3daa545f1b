/** How many bytes of values a batch holds, for statistics and limits. Cost: constant per column. */
import type { Batch, Vector } from "./vector.ts";

export function batchBytes(batch: Batch): number {
  if (batch.form !== "columnar") return batch.bytes.length;
  let bytes = 0;
  for (const column of batch.columns) bytes += vectorBytes(column);
  return bytes;
}

function vectorBytes(vector: Vector): number {
  const { type, length, offset, offsets } = vector;
  switch (type.kind) {
    case "null":
      return 0;
    case "boolean":
      return (length + 7) >> 3;
    case "integer":
    case "float":
      return (length * type.bits) >> 3;
    case "date":
      return length * 4;
    case "time":
    case "timestamp":
      return length * 8;
    case "decimal":
    case "interval":
    case "uuid":
      return length * 16;
    case "text":
    case "binary":
    case "json":
      return (offsets?.[offset + length] ?? 0) - (offsets?.[offset] ?? 0);
    case "list":
    case "struct":
    case "map":
      return length * 4 + vector.children.reduce((sum, child) => sum + vectorBytes(child), 0);
  }
}
