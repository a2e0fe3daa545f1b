/** The first words of a statement, by which most of them are told apart before anything is read in earnest. */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

/** The first two words in upper case; a token that is no word ends them. */
export function firstWords(sql: string): readonly string[] {
  const words: string[] = [];
  const cursor = openSql(sql, "postgres");
  while (words.length < 2 && nextSignificant(cursor) && cursor.kind === "word") {
    words.push(upperWord(cursor));
  }
  return words;
}
