/**
 * Messages of the command phase: the first byte names the command, the rest is its body.
 *
 * Text stays undecoded, because the client's charset decides how it reads. execute.ts reads the body of an
 * execution, for which it needs the statement. An unknown code is a value of its own, so that the client gets
 * an error and the connection goes on.
 */
import { readAttributes, type Attributes } from "./attributes.ts";
import { ByteReader } from "./byteReader.ts";
import { parseChangeUser, type ChangeUser } from "./handshake.ts";
import { capability, commandCode, violation, type Violation } from "./protocol.ts";

export type Command =
  | { readonly kind: "quit" }
  | { readonly kind: "initDb"; readonly database: Uint8Array }
  | Query
  | { readonly kind: "fieldList"; readonly table: Uint8Array; readonly wildcard: Uint8Array }
  | { readonly kind: "statistics" }
  | { readonly kind: "processInfo" }
  | { readonly kind: "processKill"; readonly connectionId: number }
  | { readonly kind: "ping" }
  | ChangeUser
  | { readonly kind: "prepare"; readonly sql: Uint8Array }
  | Execute
  | {
      readonly kind: "sendLongData";
      readonly statementId: number;
      readonly parameter: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "closeStatement"; readonly statementId: number }
  | { readonly kind: "resetStatement"; readonly statementId: number }
  | { readonly kind: "fetch"; readonly statementId: number; readonly rows: number }
  | { readonly kind: "setOption"; readonly option: number }
  | { readonly kind: "resetConnection" }
  | { readonly kind: "unknown"; readonly code: number };

/** COM_QUERY. */
export interface Query {
  readonly kind: "query";
  readonly sql: Uint8Array;
  /** Absent where none came. */
  readonly attributes?: Attributes;
}

/** COM_STMT_EXECUTE before its parameters are read. */
export interface Execute {
  readonly kind: "execute";
  readonly statementId: number;
  /** 0: no cursor. Other values ask for one; a server may answer without. Beside them `countedFlag`. */
  readonly cursor: number;
  /** NULL bitmap, types and values; empty for a statement without parameters. With attributes: see attributes.ts. */
  readonly body: Uint8Array;
}

/** Reads one command. `capabilities` are those agreed in the handshake. */
export function parseCommand(payload: Uint8Array, capabilities: number): Command | Violation {
  // Nearly all of them are these, in which nothing is to be read.
  if (payload[0] === commandCode.query && (capabilities & capability.queryAttributes) === 0)
    return { kind: "query", sql: payload.subarray(1) };
  const reader = new ByteReader(payload);
  const code = reader.u8();
  if (reader.failed) return violation("malformed", "empty command packet");
  const command = commandOf(code, reader, capabilities);
  return reader.failed ? violation("malformed", "command cut short") : command;
}

function commandOf(code: number, reader: ByteReader, capabilities: number): Command | Violation {
  switch (code) {
    case commandCode.quit:
      return { kind: "quit" };
    case commandCode.initDb:
      return { kind: "initDb", database: reader.rest() };
    case commandCode.query:
      return queryOf(reader);
    case commandCode.fieldList:
      return { kind: "fieldList", table: reader.untilNulOrEnd(), wildcard: reader.rest() };
    case commandCode.statistics:
      return { kind: "statistics" };
    case commandCode.processInfo:
      return { kind: "processInfo" };
    case commandCode.processKill:
      return { kind: "processKill", connectionId: reader.u32() };
    case commandCode.ping:
      return { kind: "ping" };
    case commandCode.changeUser:
      return parseChangeUser(reader, capabilities);
    case commandCode.setOption:
      return { kind: "setOption", option: reader.u16() };
    case commandCode.resetConnection:
      return { kind: "resetConnection" };
    default:
      return statementCommandOf(code, reader);
  }
}

function queryOf(reader: ByteReader): Query | Violation {
  const attributes = readAttributes(reader);
  if (attributes === undefined) return { kind: "query", sql: reader.rest() };
  return "kind" in attributes ? attributes : { kind: "query", sql: reader.rest(), attributes };
}

function statementCommandOf(code: number, reader: ByteReader): Command {
  switch (code) {
    case commandCode.stmtPrepare:
      return { kind: "prepare", sql: reader.rest() };
    case commandCode.stmtExecute: {
      const statementId = reader.u32();
      const cursor = reader.u8();
      // The iteration count is always 1 and means nothing.
      reader.u32();
      return { kind: "execute", statementId, cursor, body: reader.rest() };
    }
    case commandCode.stmtSendLongData: {
      const statementId = reader.u32();
      const parameter = reader.u16();
      return { kind: "sendLongData", statementId, parameter, bytes: reader.rest() };
    }
    case commandCode.stmtClose:
      return { kind: "closeStatement", statementId: reader.u32() };
    case commandCode.stmtReset:
      return { kind: "resetStatement", statementId: reader.u32() };
    case commandCode.stmtFetch:
      return { kind: "fetch", statementId: reader.u32(), rows: reader.u32() };
    default:
      return { kind: "unknown", code };
  }
}
