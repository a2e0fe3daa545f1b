/**
 * What a statement may not do on a connection of the cluster's, and what it leaves there that its session counts on.
 *
 * Read widely: a connection that is kept for nothing costs a place in the pool, and one that is not kept loses what
 * its client was told it has.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { openSql, tokenText, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { longTextUnits, readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { searchSteps } from "@gateway/core/sql/reading/search.ts";
import { inOneGo, tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { isOfServer } from "@gateway/core/sql/session/statement.ts";
import { noGlobals } from "../errors.ts";
import { keptBySteps } from "../../starRocks/sql/kept.ts";
import { callsOthers } from "./functions.ts";

export interface Judged {
  readonly tag: string;
  /** What only the session's own connection can keep, in words. */
  readonly keeps: string | undefined;
  /** Something may be left that the session does not count on: the connection is cleaned before another has it. */
  readonly leaves: boolean;
  /** It reads a file of the client's machine. */
  readonly asksFile: boolean;
}

/** What a cluster lets its statements do beside what is always judged. */
export interface Allowed {
  /** They may set the server's own variables, where their account may. */
  readonly globalVariables: boolean;
}

/** Kinds of which nothing stays on a connection, but for what their functions leave. A change may call triggers. */
const cleanKinds: ReadonlySet<StatementClass["kind"]> = new Set([
  "select",
  "show",
  "explain",
  "describe",
  "ddl",
  "savepoint",
]);

const leaving = /\b(?:last_insert_id|sql_calc_found_rows)\b/i;

/**
 * Refuses several statements in one text, `KILL` (the cluster's account owns everybody's queries), what changes the
 * user or role behind the gateway's back, and texts in texts, which no policy would see.
 */
export function judge(sql: string, { globalVariables }: Allowed): Result<Judged, GatewayError> {
  if (sql.length > longTextUnits) return judgedLong(globalVariables)(sql);
  return globalVariables ? judgedWithGlobals(sql) : judgedWithout(sql);
}

/** Reads a long text in steps, so that `judge` answers from memory. */
export function judgeAhead(sql: string, { globalVariables }: Allowed): Steps<void> {
  return judgedLong(globalVariables).ahead(sql);
}

const shortTexts = { textsMax: 1_000, lengthMax: 2_000 };
const judgedWithGlobals = remembered((sql) => inOneGo(judged(sql, true)), shortTexts);
const judgedWithout = remembered((sql) => inOneGo(judged(sql, false)), shortTexts);
const judgedLong = readingsBy(judged);

function* judged(sql: string, globalVariables: boolean): Steps<Result<Judged, GatewayError>> {
  const { kind, tag, doubt, firstWord } = classifyStatement(sql, "mysql");
  if (doubt === "severalStatements") {
    const message = "one statement at a time; the text holds several";
    return err(gatewayError("query.unsupported", { message }));
  }
  const named = yield* namesVariable(sql);
  const asksFile = kind === "copy" && loadsLocally(sql);
  switch (kind) {
    case "empty":
      return err(gatewayError("query.syntax", { message: "the text holds no statement" }));
    case "execute":
    case "prepare":
    case "deallocate": {
      const message = `${tag} would run a text that no policy saw; the protocol's own prepared statements run`;
      return err(gatewayError("query.unsupported", { message }));
    }
    case "kill":
      return refused(tag);
    case "set":
      switch (setOf(sql)) {
        case "variables":
          return ok({ tag, keeps: variable, leaves: true, asksFile });
        case "server":
          // Values may call functions, which leave what they leave.
          if (!globalVariables) return err(noGlobals);
          return ok({ tag, keeps: named ? variable : undefined, leaves: true, asksFile });
        case "other":
          return refused(tag);
      }
    default: {
      if (firstWord === "SET") return refused(tag);
      const calls =
        kind === "call" && firstWord !== "DO" ? "what a procedure may leave" : undefined;
      const keeps = (yield* keptBySteps(sql)) ?? (named ? variable : calls);
      const leaves =
        keeps !== undefined ||
        !cleanKinds.has(kind) ||
        (yield* searchSteps(sql, leaving)) ||
        (yield* callsOthers(sql));
      return ok({ tag, keeps, leaves, asksFile });
    }
  }
}

const variable = "a user variable";

function refused(tag: string): Result<never, GatewayError> {
  return err(gatewayError("query.permission", { message: `${tag} may not run here` }));
}

/** Whether a SET is of user variables alone, or of the server's alone. */
function setOf(sql: string): "variables" | "server" | "other" {
  const found = readStatement(sql, "mysql").session;
  if (found?.kind !== "set" || found.changes.length === 0) return "other";
  if (found.changes.every(({ kind }) => kind === "userVariable")) return "variables";
  return found.changes.every(isOfServer) ? "server" : "other";
}

/** `LOAD DATA [LOW_PRIORITY | CONCURRENT] LOCAL`, or `LOAD XML`. */
function loadsLocally(sql: string): boolean {
  const cursor = openSql(sql, "mysql");
  for (let words = 0; words < 4 && nextSignificant(cursor); words += 1)
    if (upperWord(cursor) === "LOCAL") return true;
  return false;
}

/** True where the text names a user variable. An account (`'a'@'host'`) is none. */
function* namesVariable(sql: string): Steps<boolean> {
  if (!sql.includes("@")) return false;
  const cursor = openSql(sql, "mysql");
  let nameEnd = -1;
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const text = tokenText(cursor);
    const behindName = nameEnd === cursor.start;
    if (cursor.kind === "variable" && !text.startsWith("@@") && !behindName) return true;
    if (cursor.kind === "operator" && text === "@" && !behindName) return true;
    const { kind } = cursor;
    nameEnd = kind === "string" || kind === "quotedIdentifier" || kind === "word" ? cursor.end : -1;
  }
  return false;
}
