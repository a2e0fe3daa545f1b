/** A driver's Arrow stream, read on the thread that calls the driver: its schema, its next array, its failure, its end. */
import { err, ok } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { streamStruct } from "../memory/abi.ts";
import {
  isPresent,
  readSchema,
  releaseArray,
  releaseSchema,
  type ArrowField,
} from "../arrow/cdata.ts";
import { failureOf, type AdbcFailure, type AdbcResult, type Driver } from "../driver.ts";
import { schemaMessage } from "../arrow/ipc.ts";
import { extensionOf, layoutOf, type Layout } from "../arrow/layout.ts";
import { functionAt, type MemoryBlock, type NativeFunction } from "../memory/native.ts";
import type { Structs } from "../memory/structs.ts";

const releaseSignature = { answer: "void", takes: ["pointer"] } as const;
const nextSignature = { answer: "int32", takes: ["pointer", "pointer"] } as const;

/** The columns of the stream in `structs.stream`. */
export function streamSchema(
  driver: Driver,
  { stream, schema, arrays }: Structs,
): AdbcResult<readonly ArrowField[]> {
  schema.clear();
  const getSchema = functionAt(stream.pointer(streamStruct.getSchema), nextSignature);
  if (Number(getSchema(stream.address, schema.address)) !== 0) {
    // DuckDB gives its reason only to whoever asks for rows.
    const broken = Number(nextOf(stream)(stream.address, arrays.address)) !== 0;
    const failure = streamFailure(driver, stream);
    if (!broken && isPresent(arrays.address)) releaseArray(arrays.address);
    arrays.clear();
    return err(failure);
  }
  const { children } = readSchema(schema.address);
  releaseSchema(schema.address);
  return ok(children);
}

/** Takes the stream and the place for an array, and answers 0 when that went well. */
export function nextOf(stream: MemoryBlock): NativeFunction {
  return functionAt(stream.pointer(streamStruct.getNext), nextSignature);
}

/** Why the last call of the stream failed. */
export function streamFailure(driver: Driver, stream: MemoryBlock): AdbcFailure {
  return driver.streamFailure(stream.address, stream.pointer(streamStruct.getLastError));
}

/** Gives the stream back to the driver, unless there is none. */
export function releaseStream(stream: MemoryBlock): void {
  const release = stream.pointer(streamStruct.release);
  if (release !== 0) functionAt(release, releaseSignature)(stream.address);
}

/** No client reads more columns, and each costs memory on the whole way. */
const columnsMax = 32_767;

/** How each column is read, or that one can not be. */
export function layoutsOf(fields: readonly ArrowField[]): AdbcResult<readonly Layout[]> {
  if (fields.length > columnsMax) {
    const text = `a result of ${fields.length} columns; at most ${columnsMax} can be passed on`;
    return err(failureOf("unreadable", text));
  }
  const found: Layout[] = [];
  for (const field of fields) {
    const layout = layoutOf(field);
    if (!layout.ok)
      return err(failureOf("unreadable", `a column of an unknown Arrow layout: ${layout.error}`));
    found.push(layout.value);
  }
  return ok(found);
}

/** The schema message of columns and how they are read. A column without a layout has no type. */
export function messageOf(
  fields: readonly ArrowField[],
  shape: readonly (Layout | undefined)[],
): ArrayBuffer {
  const columns = fields.map(({ name, nullable }, index): Column => ({
    name,
    nullable,
    type: shape[index]?.type ?? { kind: "null" },
  }));
  return schemaMessage(columns, fields.map(sourceOf));
}

/** What the driver called the column: the extension type if there is one, otherwise Arrow's format. */
function sourceOf(field: ArrowField): string {
  if (field.dictionary !== undefined) return "enum";
  return extensionOf(field.metadata) ?? field.format;
}
