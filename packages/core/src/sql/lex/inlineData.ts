/**
 * Finds where the SQL of a ClickHouse `INSERT … FORMAT name` ends and its rows begin.
 *
 * The rows are CSV, JSON or anything else, not SQL: read as SQL, their values would slip through a mask.
 */
import { isWord, type SqlCursor } from "./cursor.ts";

/** How many of the words `INSERT … FORMAT name` have come. */
export interface InlineDataSearch {
  stage: "start" | "insert" | "format" | "never";
}

/** A search for the dialect of this cursor; only ClickHouse has such statements. */
export function searchInlineData(cursor: SqlCursor): InlineDataSearch {
  return { stage: cursor.rules.slashComments ? "start" : "never" };
}

/** Whether rows begin after the current token. Call it after each token that means something. */
export function beginsInlineData(search: InlineDataSearch, cursor: SqlCursor): boolean {
  switch (search.stage) {
    case "never":
      return false;
    case "start":
      search.stage = isWord(cursor, "INSERT") ? "insert" : "never";
      return false;
    case "insert":
      if (isWord(cursor, "FORMAT")) search.stage = "format";
      if (cursor.kind === "semicolon") search.stage = "start";
      return false;
    case "format":
      if (cursor.kind === "word") return true;
      search.stage = "insert";
      return false;
  }
}
