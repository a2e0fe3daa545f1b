/**
 * Where every engine of a session is a server of MySQL's: what goes to it with a statement, and in which words.
 */
import type { MysqlCall, MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import { allSpeakMysql } from "@gateway/core/query/reached.ts";
import type { StatementClass } from "@gateway/core/sql/classify/classify.ts";
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
import { limitsOf } from "../../listener/statementLimits.ts";
import { ownErrors } from "../errors.ts";
import type { LocalAnswer } from "../commands/answer.ts";
import { readOne, type ReadStatement } from "../read/reading.ts";
import { setStatementOf, type SetStatement } from "../read/setStatement.ts";
import { hasPlainBackslashes, resultsOf } from "../session/clientSession.ts";
import type { PreparedStatement, PreparedStatements } from "./prepared.ts";
import type { Responder } from "./responder.ts";

/** The client's own words, for a server that reads them as they are. */
export interface Relayed {
  readonly statement: Statement;
  /** Of a prepared statement. */
  readonly execution: MysqlExecution | undefined;
  /** Variables of the statement alone; undefined for most. */
  readonly settings: string | undefined;
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

/**
 * Bytes of the longest packet that is taken here. Before servers of MySQL's it is the longest text, because drivers write
 * texts of that length; their long values go ahead in pieces. Texts that are read here may be no longer than a
 * sixteenth of that: drivers would refuse to send values that are taken, so there texts find their limit alone.
 */
export function packetBytesMax(
  responder: Pick<Responder, "door" | "client" | "connection">,
): number {
  const { config } = responder.connection;
  if (!passesTexts(responder)) return config.maxMessageBytes;
  return Math.min(config.maxMessageBytes, limitsOf(config, true).maxStatementBytes);
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
    : { statement, execution: undefined, settings: undefined };
}

/** The same with the values of one execution. One literal: a spread makes a hidden class anew for each query. */
export function executing({ statement, settings }: Relayed, execution: MysqlExecution): Relayed {
  return { statement, execution, settings };
}

/** A statement under variables of its own. */
export interface UnderSettings {
  readonly read: ReadStatement;
  readonly relayed: Relayed;
  /** What the frontend answers itself, whatever the variables are. */
  readonly local: LocalAnswer | undefined;
}

/** Statements that a server runs, as opposed to what the session itself does. */
const run: ReadonlySet<string> = new Set(
  "select insert update delete call copy ddl explain describe show".split(" "),
);

function runs({ kind, firstWord }: Statement): boolean {
  return run.has(kind) || (kind === "unknown" && firstWord !== "SET");
}

/**
 * MariaDB's `SET STATEMENT … FOR` taken apart: the statement behind it is the one that is judged, routed and recorded.
 * What a SET of the session may not do here is refused in the same words. A server that has no such statement gets it
 * as well, and answers in its own. Undefined for every other statement.
 */
export function underSettings(
  responder: Pick<Responder, "door" | "client">,
  { source, statement }: { readonly source: string; readonly statement: StatementClass },
  answerLocally: (sql: string) => LocalAnswer | undefined,
): UnderSettings | { readonly refused: ErrorReply } | undefined {
  if (statement.firstWord !== "SET" || !relays(responder)) return undefined;
  const apart = setStatementOf(source);
  if (apart === undefined) return undefined;
  const read = readOne(apart.source);
  const relayed = relayedOf(responder, read.statement);
  const knows = mayBeMariadb(responder);
  const refused = refusalOf(read.statement, apart, relayed, answerLocally);
  // Where no engine knows such a statement it is a mistake of its text, whatever else it is.
  if (refused !== undefined) return { refused: knows ? refused : ownErrors.syntax(source) };
  if (relayed === undefined) return undefined;
  const asksVariables = apart.source.includes("@@");
  const local = knows && !asksVariables ? answerLocally(apart.source) : undefined;
  return { read, relayed: under(apart.assignments, relayed), local };
}

function under(settings: string, { statement, execution }: Relayed): Relayed {
  return { statement, execution, settings };
}

function refusalOf(
  statement: Statement,
  { assignments }: SetStatement,
  relayed: Relayed | undefined,
  answerLocally: (sql: string) => LocalAnswer | undefined,
): ErrorReply | undefined {
  if (relayed === undefined || !runs(statement))
    return ownErrors.notSupported("SET STATEMENT before this statement");
  const judged = answerLocally(`SET ${assignments}`);
  return judged?.kind === "error" ? judged.reply : undefined;
}

/** False where every engine is known to be another server. */
function mayBeMariadb({ door, client }: Pick<Responder, "door" | "client">): boolean {
  return door.engines(client.session).some(({ statuses }) => {
    const version = statuses?.get("version");
    return version === undefined || /mariadb/i.test(version);
  });
}

/** What a server of MySQL's may answer with where its packets are taken at all. */
export const relayedRows: readonly NativeFormat[] = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"];

export function callOf(
  { home, client, files }: Pick<Responder, "home" | "client" | "files">,
  asked: Pick<MysqlCall, "execution" | "next" | "attributes" | "settings">,
): MysqlCall {
  const foundRows = (client.capabilities & capability.foundRows) !== 0;
  const ignoreSpace = (client.capabilities & capability.ignoreSpace) !== 0;
  const results = resultsOf(client);
  const { extendedMetadata } = client;
  const { execution, next, attributes, settings } = asked;
  // One literal: what follows a spread makes a hidden class anew for each query.
  return {
    home,
    foundRows,
    ignoreSpace,
    extendedMetadata,
    results,
    next,
    attributes,
    settings,
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
