/**
 * Calls of Arrow Flight SQL that nobody should make, made from those that clients make by chance from a seed. `flight.mjs`
 * bundles it.
 */
import { Buffer } from "node:buffer";
import { create, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import * as flight from "@gateway/frontends/flightSql/proto/Flight_pb.js";
import * as sql from "@gateway/frontends/flightSql/proto/FlightSql_pb.js";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { damagedBytes, some } from "./damage.ts";

export interface Call {
  readonly method: string;
  /** What is sent on the stream, framed as gRPC does. */
  readonly bytes: Buffer;
}

function packed<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array {
  return toBinary(AnySchema, anyPack(schema, create(schema, init)));
}

const query = "SELECT 40 + 2 AS a, 'x' AS b";
const handle = Uint8Array.from(Buffer.from("0123456789abcdef"));
const commands: readonly Uint8Array[] = [
  packed(sql.CommandStatementQuerySchema, { query }),
  packed(sql.CommandStatementUpdateSchema, { query: "CREATE TABLE IF NOT EXISTS t (a INT)" }),
  packed(sql.CommandPreparedStatementQuerySchema, { preparedStatementHandle: handle }),
  packed(sql.CommandPreparedStatementUpdateSchema, { preparedStatementHandle: handle }),
  packed(sql.CommandStatementIngestSchema, { table: "t", schema: "main", temporary: false }),
  packed(sql.CommandStatementSubstraitPlanSchema, {}),
  packed(sql.CommandGetCatalogsSchema, {}),
  packed(sql.CommandGetDbSchemasSchema, { dbSchemaFilterPattern: "m%" }),
  packed(sql.CommandGetTablesSchema, { tableNameFilterPattern: "%", includeSchema: true }),
  packed(sql.CommandGetPrimaryKeysSchema, { table: "t" }),
  packed(sql.CommandGetSqlInfoSchema, { info: [0, 500, 4_000_000] }),
  packed(sql.CommandGetXdbcTypeInfoSchema, { dataType: 4 }),
];
const actions: readonly Uint8Array[] = [
  action("CreatePreparedStatement", sql.ActionCreatePreparedStatementRequestSchema, { query }),
  action("ClosePreparedStatement", sql.ActionClosePreparedStatementRequestSchema, {
    preparedStatementHandle: handle,
  }),
  action("BeginTransaction", sql.ActionBeginTransactionRequestSchema, {}),
  action("EndTransaction", sql.ActionEndTransactionRequestSchema, { transactionId: handle }),
  action("CancelQuery", sql.ActionCancelQueryRequestSchema, { info: handle }),
];

function action<D extends DescMessage>(
  type: string,
  schema: D,
  init: MessageInitShape<D>,
): Uint8Array {
  const body = packed(schema, init);
  return toBinary(flight.ActionSchema, create(flight.ActionSchema, { type, body }));
}

function descriptor(cmd: Uint8Array): flight.FlightDescriptor {
  return create(flight.FlightDescriptorSchema, {
    type: flight.FlightDescriptor_DescriptorType.CMD,
    cmd,
  });
}

/** By method, one message of its kind around a command or an action that may be damaged. */
const messages: Readonly<Record<string, (command: Uint8Array, chance: Chance) => Uint8Array>> = {
  GetFlightInfo: (cmd) => toBinary(flight.FlightDescriptorSchema, descriptor(cmd)),
  GetSchema: (cmd) => toBinary(flight.FlightDescriptorSchema, descriptor(cmd)),
  PollFlightInfo: (cmd) => toBinary(flight.FlightDescriptorSchema, descriptor(cmd)),
  DoGet: (ticket) => toBinary(flight.TicketSchema, create(flight.TicketSchema, { ticket })),
  DoPut: (cmd, chance) =>
    toBinary(
      flight.FlightDataSchema,
      create(flight.FlightDataSchema, {
        flightDescriptor: descriptor(cmd),
        dataHeader: damagedBytes([handle], chance),
        dataBody: damagedBytes([handle], chance),
      }),
    ),
  DoAction: (_cmd, chance) => damagedBytes(actions, chance),
  DoExchange: (cmd) => cmd,
  ListActions: () => new Uint8Array(),
  ListFlights: (expression) =>
    toBinary(flight.CriteriaSchema, create(flight.CriteriaSchema, { expression })),
  Handshake: (payload) =>
    toBinary(
      flight.HandshakeRequestSchema,
      create(flight.HandshakeRequestSchema, { protocolVersion: 1n, payload }),
    ),
};

export function callOf(seed: number): Call {
  const chance = new Chance(seed);
  const method = some(Object.keys(messages), chance);
  const made = messages[method];
  const parts = Array.from({ length: 1 + chance.below(3) }, () => {
    const whole = made?.(damagedBytes(commands, chance), chance) ?? handle;
    return framed(chance.below(4) === 0 ? damagedBytes([whole], chance) : whole);
  });
  const all = Buffer.concat(parts);
  return { method, bytes: chance.below(6) === 0 ? Buffer.from(damagedBytes([all], chance)) : all };
}

/** The query that has to be answered right between two bursts. */
export const goodCall: Call = {
  method: "GetFlightInfo",
  bytes: framed(toBinary(flight.FlightDescriptorSchema, descriptor(commands[0] ?? handle))),
};

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
