/** Reads the tables of a statement and what its WHERE clauses ask of them. How blocks are told apart is in blocks.ts. */
import { asciiLower, asciiUpper, openSql, tokenText, type SqlCursor } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { decodeIdentifier, decodeString } from "../lex/literal.ts";
import { nextInStatement, walkStatement } from "../lex/statement.ts";
import { readingsBy } from "../reading/reading.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";
import { BlockReader } from "./blocks.ts";
import type { ShapeToken, TableRead } from "./frame.ts";

/** The tables that the only statement of a text reads; undefined where it is not understood. */
export const tablesReading = readingsBy(readTables);

function* readTables(sql: string, dialect: Dialect): Steps<readonly TableRead[] | undefined> {
  const cursor = openSql(sql, dialect);
  const walk = walkStatement(cursor);
  const blocks = new BlockReader();
  for (let count = 1; nextInStatement(walk); count += 1) {
    const token = tokenOf(cursor, dialect);
    if (token === undefined) return undefined;
    blocks.take(token);
    if (count % tokensPerStep === 0) yield;
  }
  return blocks.end();
}

/** Longer names exist nowhere; a string may have megabytes. */
const nameLengthMax = 1_000;

/** Undefined for a name that can not be decoded. */
function tokenOf(cursor: SqlCursor, dialect: Dialect): ShapeToken | undefined {
  const { kind, start, end } = cursor;
  const text = end - start > nameLengthMax ? "" : tokenText(cursor);
  switch (kind) {
    case "word":
      return { kind, word: asciiUpper(text), name: asciiLower(text) };
    case "quotedIdentifier": {
      const name = decodeIdentifier(text, dialect);
      return name === undefined ? undefined : { kind, word: "", name: asciiLower(name) };
    }
    case "string":
      return { kind, word: "", name: asciiLower(decodeString(text, dialect) ?? "") };
    default:
      return { kind, word: text, name: "" };
  }
}
