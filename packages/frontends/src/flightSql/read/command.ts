/** The commands and actions that clients send, from bytes to messages. What can not be read is a value. */
import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { commandBytesMax, commandHeadBytes } from "../limits.ts";
import { commandTable, isCommand, type CommandName, type Way } from "../machine.ts";
import * as sql from "../proto/FlightSql_pb.js";

/** The messages of commands. */
const schemas = {
  CommandStatementQuery: sql.CommandStatementQuerySchema,
  CommandStatementUpdate: sql.CommandStatementUpdateSchema,
  CommandStatementSubstraitPlan: sql.CommandStatementSubstraitPlanSchema,
  CommandStatementIngest: sql.CommandStatementIngestSchema,
  CommandPreparedStatementQuery: sql.CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdate: sql.CommandPreparedStatementUpdateSchema,
  CommandGetCatalogs: sql.CommandGetCatalogsSchema,
  CommandGetDbSchemas: sql.CommandGetDbSchemasSchema,
  CommandGetTables: sql.CommandGetTablesSchema,
  CommandGetTableTypes: sql.CommandGetTableTypesSchema,
  CommandGetSqlInfo: sql.CommandGetSqlInfoSchema,
  CommandGetXdbcTypeInfo: sql.CommandGetXdbcTypeInfoSchema,
  CommandGetPrimaryKeys: sql.CommandGetPrimaryKeysSchema,
  CommandGetExportedKeys: sql.CommandGetExportedKeysSchema,
  CommandGetImportedKeys: sql.CommandGetImportedKeysSchema,
  CommandGetCrossReference: sql.CommandGetCrossReferenceSchema,
  TicketStatementQuery: sql.TicketStatementQuerySchema,
} as const satisfies Record<CommandName, DescMessage>;

/** A command: the name of its message, and the message. */
export type Command = {
  [Name in CommandName]: {
    readonly name: Name;
    readonly message: MessageShape<(typeof schemas)[Name]>;
  };
}[CommandName];

/** Commands that hold the text of a statement, which may be long. */
const withText: ReadonlySet<CommandName> = new Set([
  "CommandStatementQuery",
  "CommandStatementUpdate",
]);

/** The message in the bytes; `protocol.violation` when they are no such message. */
export function read<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
): Result<MessageShape<Desc>, GatewayError> {
  try {
    return ok(fromBinary(schema, bytes));
  } catch {
    return err(violation(`The message is no ${schema.name}.`));
  }
}

/** The packed message: its name and its bytes. */
export function readAny(
  bytes: Uint8Array,
): Result<{ readonly name: string; readonly value: Uint8Array }, GatewayError> {
  const any = read(AnySchema, bytes);
  if (!any.ok) return any;
  const { typeUrl, value } = any.value;
  return ok({ name: typeUrl.slice(typeUrl.lastIndexOf(".") + 1), value });
}

/** The command in a descriptor or ticket. `statementBytesMax` bounds the text of a statement before it is read. */
export function readCommand(
  bytes: Uint8Array,
  way: Way | "get",
  statementBytesMax: number,
): Result<Command, GatewayError> {
  const any = readAny(bytes);
  if (!any.ok) return any;
  const { name, value } = any.value;
  if (!isCommand(name)) return err(unsupported(`The command ${nameOf(name)} is not known.`));
  const standing = way === "get" ? ticketStanding(name) : commandTable[name][way];
  if (standing === "unbuilt") return err(unsupported(`${name} is not supported.`));
  if (standing === "wrong") return err(violation(`${name} can not be asked this way.`));
  const tooLong = tooLongFor(name, value.length, statementBytesMax);
  if (tooLong !== undefined) return err(tooLong);
  const message = read<DescMessage>(schemas[name], value);
  return message.ok ? ok({ name, message: message.value } as unknown as Command) : message;
}

function ticketStanding(name: CommandName): "serve" | "wrong" {
  return name === "TicketStatementQuery" ? "serve" : "wrong";
}

function tooLongFor(name: CommandName, length: number, max: number): GatewayError | undefined {
  if (!withText.has(name)) {
    return length > commandBytesMax ? gatewayError("protocol.tooLarge") : undefined;
  }
  return length > max + commandHeadBytes ? textTooLarge(max) : undefined;
}

/** The refusal of a text over its limit. */
export function textTooLarge(max: number): GatewayError {
  const message = `the text of the statement is larger than the limit of ${max} bytes`;
  return gatewayError("query.textTooLarge", { message });
}

/** A name as it may be repeated to its client. */
export function nameOf(name: string): string {
  return /^[\w.]{1,64}$/.test(name) ? name : "of this name";
}

export function unsupported(message: string): GatewayError {
  return gatewayError("query.unsupported", { message });
}

export function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
