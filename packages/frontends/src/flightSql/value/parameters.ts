/**
 * Values of parameters from the record batches that a client sent. Every length and offset is checked against
 * the bytes that are there, and a value that does not fit is refused, never cut.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { readMessage, type ArrowMessage } from "@gateway/wire/flight/arrowRead.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { parameterReader, type CellBuffers, type ReadCell } from "./cells.ts";

/** One row of parameters for each run of the statement. */
export type ParameterRows = readonly (readonly Parameter[])[];

/** Most values of one message. */
const valuesMax = 1_000_000;

/** What the client's schema message says. */
export function parameterFields(metadata: Uint8Array): Result<readonly ArrowField[], GatewayError> {
  const message = readMessage(metadata);
  if (message.kind === "schema") return ok(message.fields);
  return err(unreadable(message.kind === "bad" ? message.reason : "a message before its schema"));
}

/** The rows of one record batch. */
export function parameterRows(
  fields: readonly ArrowField[],
  metadata: Uint8Array,
  body: Uint8Array,
): Result<ParameterRows, GatewayError> {
  const message = readMessage(metadata);
  if (message.kind !== "batch") {
    return err(unreadable(message.kind === "bad" ? message.reason : "a second schema"));
  }
  if (message.rows * Math.max(fields.length, 1) > valuesMax) {
    return err(unreadable("too many values in one message"));
  }
  const columns = readColumns(fields, message, body);
  if (!columns.ok) return columns;
  const rows: (readonly Parameter[])[] = [];
  for (let row = 0; row < message.rows; row += 1) {
    const values: Parameter[] = [];
    for (const read of columns.value) {
      const parameter = read(row);
      if (parameter === undefined) return err(unreadable("a value that does not fit its type"));
      values.push(parameter);
    }
    rows.push(values);
  }
  return ok(rows);
}

function readColumns(
  fields: readonly ArrowField[],
  message: Extract<ArrowMessage, { kind: "batch" }>,
  body: Uint8Array,
): Result<readonly ReadCell[], GatewayError> {
  const columns: ReadCell[] = [];
  let next = 0;
  for (const [index, field] of fields.entries()) {
    const reader = parameterReader(field);
    if (reader === undefined) return err(unreadable("a type that no parameter has"));
    if (message.nodes[index]?.[0] !== message.rows)
      return err(unreadable("a column of another length"));
    const buffers: Uint8Array[] = [];
    for (let count = 0; count < reader.buffers; count += 1) {
      const found = bufferOf(message.buffers[next], body);
      if (found === undefined) return err(unreadable("a buffer outside of its message"));
      buffers.push(found);
      next += 1;
    }
    const read = reader.open(cellsOf(buffers, message.nodes[index]?.[1] ?? 0, message.rows));
    if (read === undefined) return err(unreadable("a column that is shorter than its rows"));
    columns.push(read);
  }
  return ok(columns);
}

function cellsOf(buffers: readonly Uint8Array[], nullCount: number, rows: number): CellBuffers {
  const [validity = noBytes, ...rest] = buffers;
  return { validity: nullCount === 0 ? noBytes : validity, buffers: rest, rows, nullCount };
}

const noBytes = new Uint8Array(0);

function bufferOf(
  region: readonly [offset: number, length: number] | undefined,
  body: Uint8Array,
): Uint8Array | undefined {
  if (region === undefined) return undefined;
  const [offset, length] = region;
  if (offset < 0 || length < 0 || offset + length > body.length) return undefined;
  return body.subarray(offset, offset + length);
}

function unreadable(reason: string): GatewayError {
  return gatewayError("query.parameters", {
    message: `The parameters can not be read: ${reason}.`,
  });
}
