/** The first words of a text, behind comments, for what they alone decide. */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

/** At most `count` tokens in upper case; one that is no word is empty. */
export function firstWords(sql: string, count: number): readonly string[] {
  const cursor = openSql(sql, "clickhouse");
  const words: string[] = [];
  while (words.length < count && nextSignificant(cursor)) words.push(upperWord(cursor));
  return words;
}

/** True for `CREATE [OR REPLACE] TEMPORARY …`. */
export function createsTemporary(sql: string): boolean {
  const words = firstWords(sql, 4);
  const kind = words[1] === "OR" ? words[3] : words[1];
  return words[0] === "CREATE" && (kind === "TEMPORARY" || kind === "TEMP");
}
