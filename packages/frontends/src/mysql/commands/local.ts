/**
 * What the frontend answers itself: statements about the connection and the server, which no engine
 * here could answer as a MySQL server does.
 *
 * It decides by the first words and reads no more of a statement than it must. It asks nobody: what
 * needs the engine comes back as a rewritten statement.
 */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { isOfServer, type SessionStatement } from "@gateway/core/sql/session/statement.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { atEnd, readTokens, takeOneOf, takeWords } from "@gateway/core/sql/session/tokenReader.ts";
import { ownErrors } from "../errors.ts";
import type { LocalAnswer } from "./answer.ts";
import { answerSelect, mayBeOurs } from "./select.ts";
import { answerSet } from "./set.ts";
import { answerShow, type ShowContext } from "./show.ts";
import { describeTable } from "./table.ts";

/** The answer to one statement; undefined when the engine answers it as it is. */
export function answerLocally(sql: string, context: ShowContext): LocalAnswer | undefined {
  const word = firstWord(sql);
  if (!answered.has(word)) return undefined;
  switch (word) {
    case "SELECT":
      return answerSelect(sql, context);
    case "SHOW":
      return sql.length > longTextUnits ? undefined : answerShow(sql, context);
    case "SET":
      return setsServer(sql, context) ? undefined : ownSession(sql, context);
    case "USE":
    case "KILL":
      return ownSession(sql, context);
    case "COMMIT":
    case "ROLLBACK":
      return answerSession(sql, context);
    case "DESCRIBE":
    case "DESC":
      return context.ownWords() ? undefined : answerDescribe(sql, context);
    case "LOAD":
      return context.relays() ? undefined : refuseInfile(sql);
    default:
      return undefined;
  }
}

/** Statements that may be answered here, by their first words. */
const answered: ReadonlySet<string> = new Set(
  "SELECT SHOW SET USE KILL COMMIT ROLLBACK DESCRIBE DESC LOAD".split(" "),
);

/** True for a statement that `answerLocally` leaves to the engine whatever the session is. */
export function isNeverLocal(sql: string): boolean {
  const word = firstWord(sql);
  return word === "SELECT" ? !mayBeOurs(sql) : !answered.has(word);
}

function firstWord(sql: string): string {
  const cursor = openSql(sql, "mysql");
  return nextSignificant(cursor) ? upperWord(cursor) : "";
}

/** Variables of the server alone, which is another one's than ours: it judges who may set them. */
export function setsServer(sql: string, context: Pick<ShowContext, "relays">): boolean {
  if (!context.relays()) return false;
  const { session } = readStatement(sql, "mysql");
  return session?.kind === "set" && session.changes.every(isOfServer);
}

function ownSession(sql: string, context: ShowContext): LocalAnswer {
  return answerSession(sql, context) ?? error(ownErrors.syntax(sql));
}

/** Undefined for statements that are no session statements of ours, or that can not be read. */
function answerSession(sql: string, context: ShowContext): LocalAnswer | undefined {
  const statement = readStatement(sql, "mysql").session;
  switch (statement?.kind) {
    case "set":
      return answerSet(statement.changes, context);
    case "use":
      return answerUse(statement, sql, context);
    case "kill":
      return answerKill(statement);
    case "commit":
    case "rollback":
      // RELEASE ends the connection, and CHAIN without a transaction begins one. We do neither, so we do not take them.
      return statement.release || (statement.chain && context.client.session.pin === undefined)
        ? error(ownErrors.notSupported("RELEASE, and CHAIN without a transaction"))
        : undefined;
    default:
      return undefined;
  }
}

/** `USE schema` and `USE catalog.schema`. */
function answerUse(
  { path }: Extract<SessionStatement, { kind: "use" }>,
  sql: string,
  { client }: ShowContext,
): LocalAnswer | undefined {
  const [first, second, third] = path;
  if (first === undefined || third !== undefined) return undefined;
  if (second !== undefined) {
    return { kind: "use", sql, catalog: first.text, schema: second.text };
  }
  return { kind: "use", sql, catalog: client.session.catalog, schema: first.text };
}

function answerKill({
  id,
  target,
}: Extract<SessionStatement, { kind: "kill" }>): LocalAnswer | undefined {
  if (!/^\d{1,15}$/.test(id)) return undefined;
  return { kind: "kill", connectionId: Number(id), whole: target === "connection" };
}

function answerDescribe(sql: string, context: ShowContext): LocalAnswer | undefined {
  const reader = readTokens(sql, "mysql");
  if (reader === undefined || takeOneOf(reader, ["DESCRIBE", "DESC"]) === undefined) {
    return undefined;
  }
  const { schema } = context.client.session;
  return describeTable(reader, { schema, catalog: context.catalog });
}

/** Files of the client's machine are never asked for. */
function refuseInfile(sql: string): LocalAnswer | undefined {
  const reader = readTokens(sql, "mysql");
  if (reader === undefined || !takeWords(reader, "LOAD", "DATA")) return undefined;
  takeOneOf(reader, ["LOW_PRIORITY", "CONCURRENT"]);
  const local = takeWords(reader, "LOCAL") && !atEnd(reader);
  return local ? error(ownErrors.localInfile()) : undefined;
}

function error(reply: ReturnType<typeof ownErrors.syntax>): LocalAnswer {
  return { kind: "error", reply };
}
