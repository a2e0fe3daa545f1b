/** Reads comments, and the MySQL comments that are code. Used by `lex.ts` only. */
import { become, becomeClosed, noteDoubt, noteGuess, type SqlCursor } from "./cursor.ts";
import { isDigitAt, lineEnd } from "./scan.ts";
import { commentEnd } from "./scanClosed.ts";

/**
 * The newest MySQL whose version comments count as code here, as MySQL writes it: 8.0.99.
 *
 * A comment for a newer server is a comment. Either reading carries a doubt, because servers of one
 * dialect differ: MariaDB skips MySQL's 5.7 to 9.9, StarRocks skips all.
 */
const versionMax = 80_099;

/** Whether `--` begins a comment here. The cursor is at the first dash. */
export function startsDashComment(cursor: SqlCursor): boolean {
  const { sql, rules, start } = cursor;
  if (sql.charCodeAt(start + 1) !== 0x2d) return false;
  if (rules.dashComments === "always") return true;
  const third = sql.charCodeAt(start + 2);
  // The end of the text counts as a control character, as it does in MySQL.
  return Number.isNaN(third) || third <= 0x20 || third === 0x7f;
}

/** Whether `#` begins a comment here. */
export function startsHashComment(cursor: SqlCursor): boolean {
  const { sql, rules, start } = cursor;
  noteGuess(cursor);
  if (rules.hashComments !== "spaced") return rules.hashComments === "always";
  const second = sql.charCodeAt(start + 1);
  return second === 0x20 || second === 0x21;
}

/** A comment to the end of the line; the line break is not part of it. */
export function readLineComment(cursor: SqlCursor): void {
  const { sql, start } = cursor;
  const end = lineEnd(cursor, start);
  if (sql.charCodeAt(end) === 0x0d && sql.charCodeAt(end + 1) !== 0x0a) noteGuess(cursor);
  become(cursor, "comment", end);
}

/** A block comment, or the opening mark of one that is code. The cursor is at its slash. */
export function readBlockComment(cursor: SqlCursor): void {
  const { sql, rules, start } = cursor;
  if (rules.versionComments && readVersionComment(cursor)) return;
  const end = commentEnd(cursor, start + 2, rules.nestedComments ? "any" : "none");
  if (rules.guesses && end >= 0 && sql.slice(start + 2, end).includes("/*")) noteGuess(cursor);
  becomeClosed(cursor, "comment", end);
}

/** Reads the comment if it is a version comment, and says whether it was one. */
function readVersionComment(cursor: SqlCursor): boolean {
  const { sql, start } = cursor;
  if (sql.startsWith("M!", start + 2)) {
    // Code for MariaDB, a plain comment for MySQL and StarRocks.
    noteDoubt(cursor, "versionComment");
    return false;
  }
  if (sql.charCodeAt(start + 2) !== 0x21) return false;
  noteDoubt(cursor, "versionComment");

  let end = start + 3;
  while (end < start + 9 && isDigitAt(sql, end)) end += 1;
  const hasVersion = end >= start + 8;
  if (hasVersion && Number(sql.slice(start + 3, end)) > versionMax) {
    // A skipped comment may hold one level of plain ones.
    becomeClosed(cursor, "comment", commentEnd(cursor, end, "once"));
    return true;
  }
  cursor.inVersionComment = true;
  become(cursor, "versionComment", hasVersion ? end : start + 3);
  return true;
}

/** Whether the star here begins the closing mark of a version comment. */
export function closesVersionComment(cursor: SqlCursor): boolean {
  return cursor.inVersionComment && cursor.sql.charCodeAt(cursor.start + 1) === 0x2f;
}

/** Reads that mark. */
export function closeVersionComment(cursor: SqlCursor): void {
  cursor.inVersionComment = false;
  become(cursor, "versionComment", cursor.start + 2);
}
