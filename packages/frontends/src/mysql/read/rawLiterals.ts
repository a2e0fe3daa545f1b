/**
 * Statements whose strings hold bytes that are no text: images and the like, as drivers that put values into the text write
 * them (`'…'`, `_binary'…'`), and mysqldump its tables. A server takes any bytes there; here a statement is text, so such
 * a string is written as hex, which is the same bytes to it.
 */
import { openSqlInSteps, tokenText, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { decodeString, longStrings } from "@gateway/core/sql/lex/literal.ts";
import { Pieces } from "@gateway/core/sql/reading/pieces.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import type { Decode } from "../../listener/longBytes.ts";

/**
 * The text of these bytes with such strings in hex. Undefined where other parts are no text either, but for comments.
 * `decode` reads a set in which every byte below 128 is itself.
 */
export function* withoutRawLiterals(bytes: Uint8Array, decode: Decode): Steps<string | undefined> {
  // A character for each byte: what begins or ends a string is ASCII.
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const cursor = openSqlInSteps(all.toString("latin1"), "mysql");
  const pieces = new Pieces();
  let from = 0;
  let introduced = false;
  for (let count = 1; nextToken(cursor); count += 1) {
    const isPart = cursor.far?.isPaused === true;
    if (isPart || count % tokensPerStep === 0) yield;
    if (isPart || cursor.kind === "whitespace") continue;
    const { kind, start, end } = cursor;
    const isOwn = kind === "string" || kind === "comment";
    if (isOwn && decode(all.subarray(start, end)) === undefined) {
      const before = decode(all.subarray(from, start));
      const instead = before === undefined ? undefined : yield* rewritten(cursor, introduced);
      if (before === undefined || instead === undefined) return undefined;
      pieces.push(before);
      pieces.push(instead);
      from = end;
    }
    if (kind !== "comment") introduced = kind === "word" && cursor.sql.startsWith("_", start);
  }
  const rest = decode(all.subarray(from));
  if (rest === undefined) return undefined;
  pieces.push(rest);
  return pieces.toString();
}

/** `introduced`: a word like `_latin1` before it says in which set its bytes are. */
function* rewritten(cursor: SqlCursor, introduced: boolean): Steps<string | undefined> {
  const token = tokenText(cursor);
  if (cursor.kind === "comment") return token.replaceAll(/[\u0080-\u00FF]+/g, "?");
  if (!/^['"]/.test(token)) return undefined;
  if (token.length > longTextUnits) yield* longStrings("mysql").ahead(token);
  const bytes = decodeString(token, "mysql");
  if (bytes === undefined) return undefined;
  yield;
  const hex = `X'${Buffer.from(bytes, "latin1").toString("hex")}'`;
  // A quote may stand right behind a word.
  const gap = /[\w$\u0080-\u00FF]/.test(cursor.sql.charAt(cursor.start - 1)) ? " " : "";
  // By itself hex is a number where one is wanted.
  return introduced ? `${gap}${hex}` : `${gap}_binary ${hex}`;
}
