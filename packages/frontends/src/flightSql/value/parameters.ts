/**
 * Values of parameters from the record batches that a client sent. Every length and offset is checked against
 * the bytes that are there, and a value that does not fit is refused, never cut.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { readMessage, type ArrowMessage } from "@gateway/wire/flight/arrowRead.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { parameterReader, type CellBuffers, type ReadCell } from "./cells.ts";

/** One row of parameters for each run of the statement. */
export type ParameterRows = readonly (readonly Parameter[])[];

/** Most values of one message that is read at once. */
const valuesMax = 1_000_000;
/** And of one that is read piece by piece: a column without values takes no bytes, so a message could name any number of rows. */
const piecedValuesMax = 16 * 1024 * 1024;

/** What the client's schema message says. */
export function parameterFields(metadata: Uint8Array): Result<readonly ArrowField[], GatewayError> {
  const message = readMessage(metadata);
  if (message.kind === "schema") return ok(message.fields);
  return err(unreadable(message.kind === "bad" ? message.reason : "a message before its schema"));
}

/** The types of the values that come in these columns. */
export function parameterTypes(
  fields: readonly ArrowField[],
): Result<readonly DataType[], GatewayError> {
  const types = fields.map((field) => parameterReader(field)?.type);
  const known = types.filter((type) => type !== undefined);
  return known.length === types.length ? ok(known) : err(noType);
}

/** Rows of a message that are read piece by piece: as values they take many times the memory. */
export interface RowReader {
  readonly rows: number;
  /** `count` rows, which are there, from the one of that number on. */
  readonly read: (from: number, count: number) => Result<ParameterRows, GatewayError>;
}

/** The rows of one record batch, as far as they are asked for. */
export function rowReader(
  fields: readonly ArrowField[],
  metadata: Uint8Array,
  body: Uint8Array,
): Result<RowReader, GatewayError> {
  const message = readMessage(metadata);
  if (message.kind !== "batch") {
    return err(unreadable(message.kind === "bad" ? message.reason : "a second schema"));
  }
  if (message.rows * fields.length > piecedValuesMax) return err(tooManyValues);
  const columns = readColumns(fields, message, body);
  if (!columns.ok) return columns;
  const read = (from: number, count: number): Result<ParameterRows, GatewayError> => {
    const rows: (readonly Parameter[])[] = [];
    for (let row = from; row < from + count; row += 1) {
      const values: Parameter[] = [];
      for (const cell of columns.value) {
        const parameter = cell(row);
        if (parameter === undefined) return err(unreadable("a value that does not fit its type"));
        values.push(parameter);
      }
      rows.push(values);
    }
    return ok(rows);
  };
  return ok({ rows: message.rows, read });
}

/** All rows of one record batch. */
export function parameterRows(
  fields: readonly ArrowField[],
  metadata: Uint8Array,
  body: Uint8Array,
): Result<ParameterRows, GatewayError> {
  const reader = rowReader(fields, metadata, body);
  if (!reader.ok) return reader;
  const { rows, read } = reader.value;
  if (rows * Math.max(fields.length, 1) > valuesMax) {
    return err(tooManyValues);
  }
  return read(0, rows);
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
    if (reader === undefined) return err(noType);
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

const tooManyValues = unreadable("too many values in one message");
const noType = unreadable("a type that no parameter has");

function unreadable(reason: string): GatewayError {
  return gatewayError("query.parameters", {
    message: `The parameters can not be read: ${reason}.`,
  });
}
