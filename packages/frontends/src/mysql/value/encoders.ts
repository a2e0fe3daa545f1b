/** Which encoder writes the rows of a batch. */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Batch, NativeBatch } from "@gateway/core/type/vector.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { nativeBinaryEncoder } from "./nativeRows.ts";
import { relayEncoder, relayInPlace } from "./relay.ts";
import { rowEncoder, type RowEncoder, type RowFormat } from "./rows.ts";
import { textRowEncoder } from "./textRows.ts";

/** Passes on the batch's own packets, the source's text, or values. Native rows are those of the text protocol. */
export function encoderOf(batch: Batch, types: readonly number[], format: RowFormat): RowEncoder {
  if (batch.form === "native") {
    return isRelayed(batch, format.kind)
      ? relayEncoder(batch, format.flushBytes)
      : nativeBinaryEncoder(batch, types, format);
  }
  const asText = batch.form === "text" ? textRowEncoder(batch, format) : undefined;
  return asText ?? rowEncoder(columnarOf(batch), format);
}

/** All rows of a batch as they are to be sent next, which `out` counts; undefined where they have to be written first. */
export function rowsAsWritten(
  batch: Batch,
  kind: RowFormat["kind"],
  out: PacketWriter,
): Uint8Array | undefined {
  if (batch.form !== "native" || !isRelayed(batch, kind)) return undefined;
  return relayInPlace(out, batch.rows, batch.bytes);
}

/** Whether the rows are in the form in which the client gets them. */
function isRelayed({ format }: Pick<NativeBatch, "format">, kind: RowFormat["kind"]): boolean {
  return kind === "text" || format === "mysqlBinaryRows";
}
