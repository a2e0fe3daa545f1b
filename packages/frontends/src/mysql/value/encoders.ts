/** Which encoder writes the rows of a batch. */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { nativeBinaryEncoder } from "./nativeRows.ts";
import { relayEncoder } from "./relay.ts";
import { rowEncoder, type RowEncoder, type RowFormat } from "./rows.ts";
import { textRowEncoder } from "./textRows.ts";

/** Passes on the batch's own packets, the source's text, or values. Native rows are those of the text protocol. */
export function encoderOf(batch: Batch, types: readonly number[], format: RowFormat): RowEncoder {
  if (batch.form === "native") {
    return format.kind === "text" || batch.format === "mysqlBinaryRows"
      ? relayEncoder(batch, format.flushBytes)
      : nativeBinaryEncoder(batch, types, format);
  }
  const asText = batch.form === "text" ? textRowEncoder(batch, format) : undefined;
  return asText ?? rowEncoder(columnarOf(batch), format);
}
