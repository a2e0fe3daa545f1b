/**
 * What every refusal and failure is on the MySQL wire: an error number and an SQLSTATE.
 *
 * Numbers are MySQL's own where a client acts on them: 1205 and 1213 are retried by frameworks, 1040
 * and 1053 by pools, 1064 and 1146 decide what a tool shows. Errors that only this protocol knows
 * (an unknown statement id) are in `ownErrors`.
 */
import { errorCatalogue, type ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Violation } from "@gateway/wire/mysql/protocol.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";

export interface MysqlError {
  readonly errno: number;
  readonly sqlState: string;
}

export const mysqlErrors = {
  "config.notReady": { errno: 1053, sqlState: "08S01" },
  "gateway.draining": { errno: 1053, sqlState: "08S01" },
  "internal.bug": { errno: 1815, sqlState: "HY000" },
  "auth.required": { errno: 1045, sqlState: "28000" },
  "auth.refused": { errno: 1045, sqlState: "28000" },
  "auth.cleartext": { errno: 1045, sqlState: "28000" },
  "auth.expired": { errno: 1862, sqlState: "HY000" },
  "auth.unavailable": { errno: 1053, sqlState: "08S01" },
  "auth.noBackendIdentity": { errno: 1045, sqlState: "28000" },
  "policy.denied": { errno: 1227, sqlState: "42000" },
  "policy.unavailable": { errno: 1429, sqlState: "HY000" },
  "script.failed": { errno: 1815, sqlState: "HY000" },
  "script.busy": { errno: 1041, sqlState: "HY000" },
  "translation.busy": { errno: 1041, sqlState: "HY000" },
  "route.denied": { errno: 1227, sqlState: "42000" },
  "route.forbidden": { errno: 1227, sqlState: "42000" },
  "route.noGroup": { errno: 1105, sqlState: "HY000" },
  "capacity.queueFull": { errno: 1040, sqlState: "08004" },
  "capacity.timeout": { errno: 1205, sqlState: "HY000" },
  "capacity.lost": { errno: 1317, sqlState: "70100" },
  "capacity.statementText": { errno: 1041, sqlState: "HY000" },
  "connection.limit": { errno: 1040, sqlState: "08004" },
  "cluster.unavailable": { errno: 1429, sqlState: "HY000" },
  "cluster.connectFailed": { errno: 1429, sqlState: "HY000" },
  "engine.failed": { errno: 1296, sqlState: "HY000" },
  "engine.resources": { errno: 1041, sqlState: "HY000" },
  "engine.crashed": { errno: 1296, sqlState: "HY000" },
  "engine.broken": { errno: 1296, sqlState: "HY000" },
  "query.syntax": { errno: 1064, sqlState: "42000" },
  "query.unknownObject": { errno: 1146, sqlState: "42S02" },
  "query.invalid": { errno: 1105, sqlState: "HY000" },
  "query.data": { errno: 1366, sqlState: "22007" },
  "query.constraint": { errno: 1062, sqlState: "23000" },
  "query.conflict": { errno: 1213, sqlState: "40001" },
  "query.permission": { errno: 1142, sqlState: "42000" },
  "query.unsupported": { errno: 1235, sqlState: "42000" },
  "query.parameters": { errno: 1210, sqlState: "HY000" },
  "query.transaction": { errno: 1568, sqlState: "25001" },
  "query.transactionAborted": { errno: 1399, sqlState: "XAE07" },
  "query.idleInTransaction": { errno: 1402, sqlState: "XA100" },
  "query.transactionTimeout": { errno: 1613, sqlState: "XA106" },
  "query.cancelled": { errno: 1317, sqlState: "70100" },
  "query.abandoned": { errno: 1317, sqlState: "70100" },
  "query.timeout": { errno: 3024, sqlState: "HY000" },
  "query.tooManyRows": { errno: 1104, sqlState: "42000" },
  "query.textTooLarge": { errno: 1153, sqlState: "42000" },
  "query.unknown": { errno: 1094, sqlState: "HY000" },
  "query.elsewhere": { errno: 1094, sqlState: "HY000" },
  "protocol.violation": { errno: 1835, sqlState: "HY000" },
  "protocol.tooLarge": { errno: 1153, sqlState: "08S01" },
  "protocol.timeout": { errno: 1159, sqlState: "08S01" },
} as const satisfies Record<ErrorCode, MysqlError>;

/** MySQL's number for an SQLSTATE of the engine that says more than our code. */
const byEngineState: Readonly<Record<string, MysqlError>> = {
  "42P01": { errno: 1146, sqlState: "42S02" },
  "42703": { errno: 1054, sqlState: "42S22" },
  "42883": { errno: 1305, sqlState: "42000" },
  "3D000": { errno: 1049, sqlState: "42000" },
  "3F000": { errno: 1049, sqlState: "42000" },
  "42P07": { errno: 1050, sqlState: "42S01" },
  "22003": { errno: 1264, sqlState: "22003" },
  "22012": { errno: 1365, sqlState: "22012" },
  "3B001": { errno: 1305, sqlState: "42000" },
  "23502": { errno: 1048, sqlState: "23000" },
  "23503": { errno: 1452, sqlState: "23000" },
  "23505": { errno: 1062, sqlState: "23000" },
  "23514": { errno: 3819, sqlState: "HY000" },
};

/**
 * The error packet of an error. The query's id stands behind the message, because an error packet
 * has no other place for it; so does a hint. Of what is wrong with the statement itself programs read the message,
 * and nobody has to look the query up: it comes without the id.
 */
export function errorReply(error: GatewayError, queryId?: string): ErrorReply {
  const { errno, sqlState } = numberOf(error);
  const hint = error.hint === undefined ? "" : ` ${error.hint}`;
  const named = queryId !== undefined && errorCatalogue[error.code].class !== "client";
  const id = named ? ` (query ${queryId})` : "";
  return { errno, sqlState, message: `${textOf(error)}${hint}${id}` };
}

/** In MySQL's own words where the gateway keeps what a server would look up. */
function textOf({ sqlState, message }: GatewayError): string {
  if (sqlState !== "3B001") return message;
  return message.replace(/^savepoint "(.*)" does/s, (_all, name) => `SAVEPOINT ${name} does`);
}

/** The engine's own number where the engine is of MySQL's family; otherwise MySQL's number for the same. */
function numberOf({
  vendor,
  sqlState,
  code,
}: GatewayError): Pick<ErrorReply, "errno" | "sqlState"> {
  if (vendor?.of === "mysql") return { errno: vendor.code, sqlState: vendor.sqlState };
  const refined = sqlState === undefined ? undefined : byEngineState[sqlState];
  return refined ?? mysqlErrors[code];
}

/** Errors of the protocol itself and of statements the frontend answers, by MySQL's own texts. */
export const ownErrors = {
  unknownCommand: () => reply(1047, "08S01", "Unknown command"),
  outOfOrder: () => reply(1156, "08S01", "Got packets out of order"),
  idleTooLong: () =>
    reply(
      4031,
      "HY000",
      "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.",
    ),
  clientTooOld: () =>
    reply(1251, "08004", "Client does not support authentication protocol requested by server"),
  badHandshake: () => reply(1043, "08S01", "Bad handshake"),
  unknownStatement: (id: number, command: string) =>
    reply(1243, "HY000", `Unknown prepared statement handler (${id}) given to ${command}`),
  noCursor: (id: number) => reply(1421, "HY000", `The statement (${id}) has no open cursor.`),
  tooManyStatements: (max: number) =>
    reply(
      1461,
      "42000",
      `Can't create more than max_prepared_stmt_count statements (current value: ${max})`,
    ),
  tooManyParameters: () =>
    reply(1390, "HY000", "Prepared statement contains too many placeholders"),
  longDataTooLarge: () =>
    reply(1153, "08S01", "The values sent ahead are larger than max_allowed_packet"),
  /** Tells of drivers, because mostly it was one that wrote the values of parameters into so long a text. */
  textTooLarge: (bytesMax: number) =>
    reply(
      mysqlErrors["query.textTooLarge"].errno,
      mysqlErrors["query.textTooLarge"].sqlState,
      `The text of the statement is larger than the limit of ${bytesMax} bytes, maxStatementBytes of the listener. Values ` +
        "of statements that the server prepares are no text: useServerPrepStmts=true of Connector/J, execute of mysql2",
    ),
  malformedParameters: () => reply(1835, "HY000", "Malformed communication packet."),
  fewerParameters: () => reply(1210, "HY000", "Incorrect arguments to COM_STMT_EXECUTE"),
  unknownThread: (id: number) => reply(1094, "HY000", `Unknown thread id: ${id}`),
  notOwner: (id: number) => reply(1095, "HY000", `You are not owner of thread ${id}`),
  unknownVariable: (name: string) => reply(1193, "HY000", `Unknown system variable '${name}'`),
  readOnlyVariable: (name: string) =>
    reply(1238, "HY000", `Variable '${name}' is a read only variable`),
  wrongValue: (name: string, value: string) =>
    reply(1231, "42000", `Variable '${name}' can't be set to the value of '${value}'`),
  wrongType: (name: string) =>
    reply(1232, "42000", `Incorrect argument type to variable '${name}'`),
  globalDenied: () =>
    reply(1227, "42000", "Access denied; variables can be set for the session only"),
  readOnlyTransaction: () =>
    reply(1792, "25006", "Cannot execute statement in a READ ONLY transaction."),
  characteristics: () =>
    reply(
      1568,
      "25001",
      "Transaction characteristics can't be changed while a transaction is in progress",
    ),
  unknownCharset: (name: string) => reply(1115, "42000", `Unknown character set: '${name}'`),
  unknownCollation: (name: string) => reply(1273, "HY000", `Unknown collation: '${name}'`),
  otherCollation: (name: string, charset: string) =>
    reply(1253, "42000", `COLLATION '${name}' is not valid for CHARACTER SET '${charset}'`),
  unknownZone: (name: string) => reply(1298, "HY000", `Unknown or incorrect time zone: '${name}'`),
  unknownDatabase: (name: string) => reply(1049, "42000", `Unknown database '${name}'`),
  unknownTable: (schema: string, name: string) =>
    reply(1146, "42S02", `Table '${schema === "" ? name : `${schema}.${name}`}' doesn't exist`),
  noDatabase: () => reply(1046, "3D000", "No database selected"),
  emptyQuery: () => reply(1065, "42000", "Query was empty"),
  /** Of a set by its name. */
  notText: (set: string) => reply(1300, "HY000", `Invalid ${set} character string`),
  localInfile: () =>
    reply(
      3948,
      "42000",
      "Loading local data is disabled; this must be enabled on both the client and server sides",
    ),
  syntax: (near: string) =>
    reply(1064, "42000", `You have an error in your SQL syntax; near '${near.slice(0, 80)}'`),
  notSupported: (what: string) => reply(1235, "42000", `The gateway does not support ${what}`),
} as const;

/** A server's messages have so many bytes at most. Names and values in them may be as long as a text. */
const ownMessageMax = 511;

function reply(errno: number, sqlState: string, message: string): ErrorReply {
  return {
    errno,
    sqlState,
    message: message.length > ownMessageMax ? message.slice(0, ownMessageMax) : message,
  };
}

/** The error for packets that can not be read; the connection ends behind it. */
export function violationReply(violation: Violation): ErrorReply {
  switch (violation.code) {
    case "tooLarge":
      return errorReply(gatewayError("protocol.tooLarge"));
    case "outOfOrder":
      return ownErrors.outOfOrder();
    case "malformed":
      return errorReply(gatewayError("protocol.violation"));
  }
}
