/**
 * Where every engine of a session is a server of MySQL's: what goes to it with a statement, and in which words.
 */
import type { MysqlCall, MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import { allSpeakMysql } from "@gateway/core/query/reached.ts";
import type { Statement } from "@gateway/core/sql/statement.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import {
  countedFlag,
  recodedAttributes,
  splitExecution,
  type Attributes,
} from "@gateway/wire/mysql/attributes.ts";
import { isCharacterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import type { Execute } from "@gateway/wire/mysql/command.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { ownErrors } from "../errors.ts";
import { hasPlainBackslashes, resultsOf } from "../session/clientSession.ts";
import type { PreparedStatement, PreparedStatements } from "./prepared.ts";
import type { Responder } from "./responder.ts";

/** The client's own words, for a server that reads them as they are. */
export interface Relayed {
  readonly statement: Statement;
  /** Of a prepared statement. */
  readonly execution: MysqlExecution | undefined;
}

/** True where statements may reach nothing else than servers that speak MySQL. */
export function relays({ door, client }: Pick<Responder, "door" | "client">): boolean {
  return allSpeakMysql(door.engines(client.session));
}

/** True where texts go on to servers of MySQL's in the client's own words, and nothing here decides by them. */
export function passesTexts(responder: Pick<Responder, "door" | "client">): boolean {
  const { door, client } = responder;
  // Under this mode each text is written anew.
  return relays(responder) && !hasPlainBackslashes(client) && door.judgesTexts?.() === false;
}

/** True for a text with a comment that is code to some servers: it is written anew. */
export function hasCode(sql: string): boolean {
  return sql.includes("/*!") || sql.includes("/*M!");
}

/**
 * The statement as it is, undefined where the engine is to get it in the lexis of the standard. A comment that is
 * code to some servers is read here as the MySQL of this version reads it, and goes to no server of another one.
 */
export function relayedOf(
  responder: Pick<Responder, "door" | "client">,
  statement: Statement,
): Relayed | undefined {
  return hasCode(statement.sql) || !relays(responder)
    ? undefined
    : { statement, execution: undefined };
}

/** What a server of MySQL's may answer with where its packets are taken at all. */
export const relayedRows: readonly NativeFormat[] = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"];

export function callOf(
  { home, client, files }: Pick<Responder, "home" | "client" | "files">,
  { execution, next, attributes }: Pick<MysqlCall, "execution" | "next" | "attributes">,
): MysqlCall {
  const foundRows = (client.capabilities & capability.foundRows) !== 0;
  const ignoreSpace = (client.capabilities & capability.ignoreSpace) !== 0;
  const results = resultsOf(client);
  const { extendedMetadata } = client;
  // One literal: what follows a spread makes a hidden class anew for each query.
  return {
    home,
    foundRows,
    ignoreSpace,
    extendedMetadata,
    results,
    next,
    attributes,
    execution,
    files,
  };
}

/**
 * Keeps what came with a command for its statements, texts as UTF-8. The error where some engine of the session could
 * not take it: it was offered by what was reached when the client came, and a configuration changes.
 */
export function takeAttributes(
  responder: Pick<Responder, "door" | "client" | "attributes">,
  attributes: Attributes | undefined,
): ErrorReply | undefined {
  responder.attributes = attributes;
  if (attributes === undefined) return undefined;
  if (!relays(responder)) return ownErrors.notSupported("query attributes before these engines");
  const { name, decode } = responder.client.charset;
  if (!isCharacterSet(name)) return undefined;
  responder.attributes = recodedAttributes(attributes, decode);
  return responder.attributes === undefined ? ownErrors.notText(name) : undefined;
}

/** The same of an execution, which is answered as one without attributes. */
export function takeExecution(
  responder: Pick<Responder, "door" | "client" | "attributes">,
  prepared: Pick<PreparedStatements, "isAhead">,
  { id, parameters }: Pick<PreparedStatement, "id" | "parameters">,
  command: Execute,
): Execute | { readonly refused: ErrorReply } {
  const split = splitExecution(command.body, {
    parameters: parameters.length,
    isAhead: (parameter) => prepared.isAhead(id, parameter),
    counted: (command.cursor & countedFlag) !== 0,
  });
  if (split === "fewer") return { refused: ownErrors.fewerParameters() };
  if ("kind" in split) return { refused: ownErrors.malformedParameters() };
  const refused = takeAttributes(responder, split.attributes);
  return refused === undefined ? { ...command, body: split.body } : { refused };
}
