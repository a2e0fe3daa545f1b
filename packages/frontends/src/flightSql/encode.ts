/** The messages that go out, but for those that carry rows. */
import { Buffer } from "node:buffer";
import { create, toBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { AnySchema, anyPack, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { encapsulatedSchema } from "@gateway/wire/flight/arrowWrite.ts";
import * as flight from "./proto/Flight_pb.js";
import * as sql from "./proto/FlightSql_pb.js";

/** Neither is known before the rows were read. */
const unknown = -1n;

/** A message as bytes. */
export function bytesOf<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Buffer {
  return bufferOf(toBinary(schema, message));
}

/** The bytes of a message in an `Any`, as actions answer. */
export function packed<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Uint8Array {
  return toBinary(AnySchema, anyPack(schema, message));
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** What is told of a result that waits. */
export interface InfoParts {
  readonly descriptor: flight.FlightDescriptor;
  readonly fields: readonly ArrowField[];
  readonly ticket: Uint8Array;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
  /** Undefined for what is answered here. */
  readonly queryId: string | undefined;
}

/** A description of a result with the one ticket that leads to it. It is read where the description came from. */
export function flightInfo(parts: InfoParts): Buffer {
  return bytesOf(flight.FlightInfoSchema, infoOf(parts));
}

function infoOf({
  descriptor,
  fields,
  ticket,
  expiresAtMs,
  queryId,
}: InfoParts): flight.FlightInfo {
  const endpoint = create(flight.FlightEndpointSchema, {
    ticket: create(flight.TicketSchema, { ticket: statementTicket(ticket) }),
    expirationTime: timestampFromMs(expiresAtMs),
  });
  return create(flight.FlightInfoSchema, {
    schema: encapsulatedSchema(fields),
    flightDescriptor: descriptor,
    endpoint: [endpoint],
    totalRecords: unknown,
    totalBytes: unknown,
    ordered: true,
    appMetadata: queryId === undefined ? noBytes : Buffer.from(queryId),
  });
}

function statementTicket(statementHandle: Uint8Array): Uint8Array {
  const statement = create(sql.TicketStatementQuerySchema, { statementHandle });
  return packed(sql.TicketStatementQuerySchema, statement);
}

/** How far a query is, 0 to 100; undefined where its engine does not say so. */
type Percent = number | undefined;

/** The answer to a client that polls, once the query's rows can be read. */
export function readyInfo(parts: InfoParts, percent: Percent): Buffer {
  const { expiresAtMs } = parts;
  return polledInfo({ info: infoOf(parts), percent, expiresAtMs });
}

/** The same before: with what it polls again, or cancels. There is neither a schema nor an endpoint yet. */
export function pendingInfo(
  { ticket, expiresAtMs, queryId }: Omit<InfoParts, "descriptor" | "fields">,
  percent: Percent,
): Buffer {
  const again = create(flight.FlightDescriptorSchema, {
    type: flight.FlightDescriptor_DescriptorType.CMD,
    cmd: statementTicket(ticket),
  });
  const info = create(flight.FlightInfoSchema, {
    flightDescriptor: again,
    totalRecords: unknown,
    totalBytes: unknown,
    ordered: true,
    appMetadata: queryId === undefined ? noBytes : Buffer.from(queryId),
  });
  return polledInfo({ info, again, percent, expiresAtMs });
}

interface PolledParts {
  readonly info: flight.FlightInfo;
  readonly again?: flight.FlightDescriptor;
  readonly percent: Percent;
  readonly expiresAtMs: number;
}

function polledInfo({ info, again, percent, expiresAtMs }: PolledParts): Buffer {
  const answer = create(flight.PollInfoSchema, {
    info,
    expirationTime: timestampFromMs(expiresAtMs),
    ...(again === undefined ? {} : { flightDescriptor: again }),
    ...(percent === undefined ? {} : { progress: percent / 100 }),
  });
  return bytesOf(flight.PollInfoSchema, answer);
}

const noBytes = new Uint8Array(0);

/** The schema of a result. */
export function schemaResult(fields: readonly ArrowField[]): Buffer {
  const schema = encapsulatedSchema(fields);
  return bytesOf(flight.SchemaResultSchema, create(flight.SchemaResultSchema, { schema }));
}

/** One result of an action. */
export function actionResult(body: Uint8Array): Buffer {
  return bytesOf(flight.ResultSchema, create(flight.ResultSchema, { body }));
}

/** The answer to data that was put. */
export function putResult(appMetadata: Uint8Array): Buffer {
  return bytesOf(flight.PutResultSchema, create(flight.PutResultSchema, { appMetadata }));
}

/** How many rows a statement changed; -1 where the engine does not say. */
export function updateResult(count: number | undefined): Buffer {
  const recordCount = count === undefined ? unknown : BigInt(count);
  const result = create(sql.DoPutUpdateResultSchema, { recordCount });
  return putResult(toBinary(sql.DoPutUpdateResultSchema, result));
}
