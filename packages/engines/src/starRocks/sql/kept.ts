/**
 * What a statement would leave on its connection for later ones: temporary tables, locks, handlers.
 *
 * A session has no connection of its own here. The server would take such a statement, and what it made would
 * be gone before the next one, so that a lock protects nothing and a name means another table.
 */
import { openSql, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { searchSteps } from "@gateway/core/sql/reading/search.ts";
import { inOneGo, tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/** Cheap looks before the text is read: most statements fail them. */
const madeWords = /\b(?:temporary|lock|handler|xa)\b/i;
const calledWords = /\b(?:get_lock|service_get_write_locks|service_get_read_locks)\b/i;

/** Functions whose lock belongs to the connection. */
const lockFunctions: ReadonlySet<string> = new Set([
  "GET_LOCK",
  "SERVICE_GET_READ_LOCKS",
  "SERVICE_GET_WRITE_LOCKS",
]);

/** Words of a statement that are looked at for what it makes. */
const headWords = 6;

/** What would have to be kept, in words; undefined for a statement that needs nothing kept. */
export function keptBy(sql: string): string | undefined {
  return inOneGo(keptBySteps(sql));
}

/** The same of a text of any length. */
export function* keptBySteps(sql: string): Steps<string | undefined> {
  const calls = yield* searchSteps(sql, calledWords);
  if (!calls && !(yield* searchSteps(sql, madeWords))) return undefined;
  const cursor = openSql(sql, "mysql");
  const head: string[] = [];
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (!calls && head.length === headWords) break;
    const word = cursor.kind === "word" ? upperWord(cursor) : "";
    if (head.length < headWords) head.push(word);
    if (lockFunctions.has(word) && isCalled(cursor)) return `the lock of ${word}`;
  }
  return madeBy(head);
}

function isCalled(cursor: SqlCursor): boolean {
  // The server takes blanks and comments between a function and its bracket, or not, as its mode says: read widely.
  const ahead: SqlCursor = openSql(cursor.sql.slice(cursor.end), "mysql");
  return nextSignificant(ahead) && ahead.kind === "open";
}

function madeBy(head: readonly string[]): string | undefined {
  const [first, second] = head;
  if (first === "CREATE") {
    const at = second === "OR" ? 3 : 1;
    return head[at] === "TEMPORARY" ? "a temporary table" : undefined;
  }
  if (first === "LOCK") return "locks on tables";
  if (first === "HANDLER") return "an open handler";
  if (first === "XA") return "a transaction under XA";
  return first === "FLUSH" && head.includes("LOCK") ? "locks on tables" : undefined;
}
