/** Which encoder writes a batch: its own packets passed on, the source's text, or values. */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { relayEncoder } from "./relay.ts";
import { rowEncoder, type RowEncoder, type RowFormat } from "./rows.ts";
import { textRowEncoder } from "./textRows.ts";

/** The encoder of one batch in any form. Native rows are those of the text protocol, whatever `format` says. */
export function batchEncoder(batch: Batch, format: RowFormat): RowEncoder {
  if (batch.form === "native") return relayEncoder(batch, format.flushBytes);
  const asText = batch.form === "text" ? textRowEncoder(batch, format) : undefined;
  return asText ?? rowEncoder(columnarOf(batch), format);
}
