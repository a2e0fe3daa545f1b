/** What a request is about, by the first of its messages: the ticket, the prepared statement or the transaction that it names. */
import { gatewayError } from "@gateway/core/error.ts";
import { err, type Result } from "@gateway/core/result.ts";
import type { MethodName, Way } from "../machine.ts";
import * as flight from "../proto/Flight_pb.js";
import * as sql from "../proto/FlightSql_pb.js";
import { read, readAny, readCommand, type Command } from "../read/command.ts";

const nothing = new Uint8Array(0);

/**
 * The handle; empty where there is none, and in a message that can not be read: who answers the request says so.
 * `statementBytesMax` bounds the text of a statement before it is read.
 */
export function handleIn(
  method: MethodName,
  message: Uint8Array,
  statementBytesMax: number,
): Uint8Array {
  const command = (bytes: Uint8Array | undefined, way: Way | "get"): Uint8Array => {
    const found = readCommand(bytes ?? nothing, way, statementBytesMax);
    return found.ok ? handleOf(found.value) : nothing;
  };
  switch (method) {
    case "DoGet":
      return command(valueOf(read(flight.TicketSchema, message))?.ticket, "get");
    case "GetFlightInfo":
      return command(valueOf(read(flight.FlightDescriptorSchema, message))?.cmd, "info");
    case "PollFlightInfo":
      return command(valueOf(read(flight.FlightDescriptorSchema, message))?.cmd, "poll");
    case "GetSchema":
      return command(valueOf(read(flight.FlightDescriptorSchema, message))?.cmd, "schema");
    case "DoPut":
      return command(valueOf(read(flight.FlightDataSchema, message))?.flightDescriptor?.cmd, "put");
    case "DoAction": {
      const action = read(flight.ActionSchema, message);
      return action.ok ? handleOfAction(action.value, statementBytesMax) : nothing;
    }
    case "Handshake":
    case "ListActions":
    case "ListFlights":
    case "DoExchange":
      return nothing;
  }
}

function handleOf({ name, message }: Command): Uint8Array {
  switch (name) {
    case "TicketStatementQuery":
      return message.statementHandle;
    case "CommandPreparedStatementQuery":
    case "CommandPreparedStatementUpdate":
      return message.preparedStatementHandle;
    case "CommandStatementQuery":
    case "CommandStatementUpdate":
    case "CommandStatementIngest":
      return message.transactionId ?? nothing;
    default:
      return nothing;
  }
}

function handleOfAction({ type, body }: flight.Action, statementBytesMax: number): Uint8Array {
  switch (type) {
    case "ClosePreparedStatement":
      return (
        valueOf(unpack(sql.ActionClosePreparedStatementRequestSchema, body))
          ?.preparedStatementHandle ?? nothing
      );
    case "CreatePreparedStatement": {
      if (body.length > statementBytesMax) return nothing;
      const request = unpack(sql.ActionCreatePreparedStatementRequestSchema, body);
      return valueOf(request)?.transactionId ?? nothing;
    }
    case "EndTransaction":
      return valueOf(unpack(sql.ActionEndTransactionRequestSchema, body))?.transactionId ?? nothing;
    case "CancelQuery": {
      const info = valueOf(unpack(sql.ActionCancelQueryRequestSchema, body))?.info ?? nothing;
      return handleOfInfo(valueOf(read(flight.FlightInfoSchema, info)));
    }
    case "CancelFlightInfo":
      return handleOfInfo(valueOf(read(flight.CancelFlightInfoRequestSchema, body))?.info);
    default:
      return nothing;
  }
}

/** Of the one endpoint that our answers have; where there is none yet, of the descriptor to poll again with. */
export function handleOfInfo(info: flight.FlightInfo | undefined): Uint8Array {
  const ticket = info?.endpoint[0]?.ticket?.ticket ?? info?.flightDescriptor?.cmd ?? nothing;
  const command = readCommand(ticket, "get", 0);
  return command.ok ? handleOf(command.value) : nothing;
}

/** The message in an `Any`, whatever that says it is. */
function unpack<Desc extends Parameters<typeof read>[0]>(schema: Desc, body: Uint8Array) {
  const any = readAny(body);
  return any.ok ? read(schema, any.value.value) : err(gatewayError("protocol.violation"));
}

function valueOf<Value>(result: Result<Value, unknown>): Value | undefined {
  return result.ok ? result.value : undefined;
}
