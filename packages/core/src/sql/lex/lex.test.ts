import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSql, tokenText, type LexDoubt, type TokenKind } from "./cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextToken } from "./lex.ts";
import { casesOf } from "../../../../../test/cases.ts";

const dialects: readonly Dialect[] = [
  "duckdb",
  "postgres",
  "mysql",
  "trino",
  "clickhouse",
  "generic",
];

describe("nextToken", () => {
  it("tiles any text exactly and never throws", () => {
    const pieces = fc.constantFrom(
      "'",
      '"',
      "`",
      "$",
      "$$",
      "$a$",
      "$1",
      "-- ",
      "--",
      "#",
      "//",
      "/*",
      "*/",
      "/*!",
      "/*!50000",
      "/*!99999",
      "/*M!",
      "\\",
      "e'",
      "E'",
      "u&'",
      'U&"',
      "x'",
      "n'",
      "\n",
      "\r",
      " ",
      "\t",
      "\u00a0",
      "\u200b",
      "a",
      "1",
      "0x",
      "1e",
      ".",
      "..",
      ";",
      "@",
      "@@",
      ":",
      "?",
      "(",
      ")",
      "[",
      "}",
      "=-",
      "->>",
      "*",
      "\u2018",
      "\u2019",
      "\u201c",
      "\u201d",
      "\u2212",
      "é",
      "\u{1F600}",
      "\0",
      "\u0007",
      "\uD83D",
    );
    const noise = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));
    const text = fc.oneof(
      noise,
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.string({ maxLength: 40 }),
    );
    const tiles = fc.property(text, fc.constantFrom(...dialects), (sql, dialect) => {
      const cursor = openSql(sql, dialect);
      let end = 0;
      while (nextToken(cursor)) {
        expect(cursor.start).toBe(end);
        expect(cursor.end).toBeGreaterThan(cursor.start);
        end = cursor.end;
      }
      expect(end).toBe(sql.length);
    });
    fc.assert(tiles, { numRuns: casesOf(500, 5_000) });
  });

  it("says unterminated when the last token is, and only then", () => {
    const pieces = fc.constantFrom(
      "'a'",
      '"b"',
      "`c`",
      "'",
      "/* d */",
      "/*",
      "-- e\n",
      "$f$ g $f$",
      " ",
      "h",
      "1",
    );
    const same = fc.property(
      fc.array(pieces, { maxLength: 12 }),
      fc.constantFrom<Dialect>("postgres", "duckdb"),
      (parts, dialect) => {
        const kinds = tokensOf(parts.join(""), dialect).map(([kind]) => kind);
        expect(doubtOf(parts.join(""), dialect) === "unterminated").toBe(
          kinds.includes("unterminated"),
        );
        expect(kinds.slice(0, -1)).not.toContain("unterminated");
      },
    );
    fc.assert(same, { numRuns: casesOf(400, 4_000) });
  });

  it("names the kinds of tokens", () => {
    expect(tokensOf("select \"a\".b, 'c' + 1.5e3 >= $1::int[2];", "postgres")).toEqual([
      ["word", "select"],
      ["quotedIdentifier", '"a"'],
      ["dot", "."],
      ["word", "b"],
      ["comma", ","],
      ["string", "'c'"],
      ["operator", "+"],
      ["number", "1.5e3"],
      ["operator", ">="],
      ["parameter", "$1"],
      ["operator", "::"],
      ["word", "int"],
      ["open", "["],
      ["number", "2"],
      ["close", "]"],
      ["semicolon", ";"],
    ]);
  });

  // Each text holds the same trap: read in the wrong dialect, `drop` is code; in its own it is not, or the other way round.
  it.each<[Dialect, string, readonly string[]]>([
    ["postgres", "'a\\' drop --'", ["'a\\'", "drop", "--'"]],
    ["postgres", "'a''b drop'", ["'a''b drop'"]],
    ["postgres", "E'a\\' drop --'", ["E'a\\' drop --'"]],
    ["postgres", "ae'a\\' drop", ["ae", "'a\\'", "drop"]],
    ["postgres", "e'a'\n'\\' drop'", ["e'a'", "'\\' drop'"]],
    ["postgres", "e'a' -- c'\n'\\' drop'", ["e'a'", "-- c'", "'\\' drop'"]],
    ["postgres", "e'a' '\\' drop", ["e'a'", "'\\'", "drop"]],
    ["postgres", "e'a' /* \n */ \n'\\' drop", ["e'a'", "/* \n */", "'\\'", "drop"]],
    ["postgres", "'a'\n'\\' drop", ["'a'", "'\\'", "drop"]],
    ["postgres", "u&'\\0041' drop", ["u&'\\0041'", "drop"]],
    ["postgres", 'u&"a""b" x', ['u&"a""b"', "x"]],
    ["postgres", "$a$ ' $$ ; $a$ drop", ["$a$ ' $$ ; $a$", "drop"]],
    ["postgres", "$é$ ; $é$ drop", ["$é$ ; $é$", "drop"]],
    ["postgres", "a$a$ ; b$a$", ["a$a$", ";", "b$a$"]],
    ["postgres", "$1$a$ ; $a$", ["$1", "$a$ ; $a$"]],
    ["postgres", "/* /* */ drop */ x", ["/* /* */ drop */", "x"]],
    ["postgres", "/*/*/ drop */*/ x", ["/*/*/ drop */*/", "x"]],
    ["postgres", "-- a\rdrop", ["-- a", "drop"]],
    ["postgres", "a--b\nc", ["a", "--b", "c"]],
    ["postgres", "2*/* c */3", ["2", "*", "/* c */", "3"]],
    ["postgres", "a=-1", ["a", "=", "-", "1"]],
    ["postgres", "a @-1", ["a", "@-", "1"]],
    ["postgres", "a ?| b #> c", ["a", "?|", "b", "#>", "c"]],
    ["postgres", "a`b", ["a", "`", "b"]],
    ["postgres", "select\u00a01", ["select\u00a01"]],
    ["postgres", "1..2 1_000 0x1F .5 t.5", ["1", "..", "2", "1_000", "0x1F", ".5", "t", ".", "5"]],
    ["duckdb", "select\u00a01", ["select", "1"]],
    ["duckdb", "'a\u00a0b'", ["'a\u00a0b'"]],
    ["duckdb", "select\u20281", ["select\u20281"]],
    ["duckdb", "0b1e'\\' drop", ["0", "b1e", "'\\'", "drop"]],
    ["duckdb", "1e'\\' drop'", ["1", "e'\\' drop'"]],
    ["duckdb", "? ?2 $a $1", ["?", "?2", "$a", "$1"]],
    ["duckdb", "$a$ ; $a$", ["$a$ ; $a$"]],
    ["duckdb", "`a;b`", ["`", "a", ";", "b", "`"]],
    ["duckdb", "/* /* */ drop */ x", ["/* /* */ drop */", "x"]],
    ["mysql", "'a\\' drop -- '", ["'a\\' drop -- '"]],
    ["mysql", '"a\\" drop" x', ['"a\\" drop"', "x"]],
    ["mysql", "`a\\` drop", ["`a\\`", "drop"]],
    ["mysql", "`a``b` x", ["`a``b`", "x"]],
    ["mysql", "n'a\\' drop' x", ["n'a\\' drop'", "x"]],
    ["mysql", "e'a\\' drop' x", ["e", "'a\\' drop'", "x"]],
    ["mysql", "1--1", ["1", "-", "-", "1"]],
    ["mysql", "1 -- drop\nx", ["1", "-- drop", "x"]],
    ["mysql", "1 --\u0001drop\nx", ["1", "--\u0001drop", "x"]],
    ["mysql", "1 --\u00a0x", ["1", "-", "-", "\u00a0x"]],
    ["mysql", "1 -- a\rdrop\nx", ["1", "-- a\rdrop", "x"]],
    ["mysql", "a # drop\nx", ["a", "# drop", "x"]],
    ["mysql", "/* /* */ drop", ["/* /* */", "drop"]],
    ["mysql", "/*!50000 drop */ x", ["/*!50000", "drop", "*/", "x"]],
    ["mysql", "/*! '*/' */ x", ["/*!", "'*/'", "*/", "x"]],
    ["mysql", "/*!5000 drop */", ["/*!", "5000", "drop", "*/"]],
    ["mysql", "/*!99999 '*/ x", ["/*!99999 '*/", "x"]],
    ["mysql", "/*!99999 /* a */ drop */ x", ["/*!99999 /* a */ drop */", "x"]],
    ["mysql", "/*!50000 /* a */ drop */ x", ["/*!50000", "/* a */", "drop", "*/", "x"]],
    ["mysql", "/*M! drop */ x", ["/*M! drop */", "x"]],
    ["mysql", "2*/3", ["2", "*", "/", "3"]],
    [
      "mysql",
      "1a 1e5 1e 0x1f t.1a $$a$$ @a.b @@session.x",
      ["1a", "1e5", "1e", "0x1f", "t", ".", "1a", "$$a$$", "@a.b", "@@session.x"],
    ],
    ["mysql", "@'a' @`b`", ["@", "'a'", "@", "`b`"]],
    ["mysql", "a->>'$.b'", ["a", "->>", "'$.b'"]],
    ["mysql", "limit ?,?", ["limit", "?", ",", "?"]],
    ["trino", "'a\\' drop", ["'a\\'", "drop"]],
    ["trino", "/* /* */ drop", ["/* /* */", "drop"]],
    ["trino", "U&'a' X'41' e'a'", ["U&'a'", "X'41'", "e", "'a'"]],
    ["trino", "$$ ' ; $$ x", ["$$ ' ; $$", "x"]],
    ["trino", "`a;`", ["`a;`"]],
    ["clickhouse", "'a\\' drop' x", ["'a\\' drop'", "x"]],
    ["clickhouse", '"a\\" drop" x', ['"a\\" drop"', "x"]],
    ["clickhouse", "`a\\` drop` x", ["`a\\` drop`", "x"]],
    ["clickhouse", "a # drop\nx", ["a", "# drop", "x"]],
    ["clickhouse", "a #! drop\nx", ["a", "#! drop", "x"]],
    ["clickhouse", "a #drop", ["a", "#", "drop"]],
    ["clickhouse", "a // drop\nx", ["a", "// drop", "x"]],
    ["clickhouse", "/* /* */ drop */ x", ["/* /* */ drop */", "x"]],
    ["clickhouse", "$1$ ; $1$ x", ["$1$ ; $1$", "x"]],
    ["clickhouse", "\u2018a'\u2019 x", ["\u2018a'\u2019", "x"]],
    ["clickhouse", "5 \u2212 3", ["5", "\u2212", "3"]],
    ["clickhouse", "a ? b : c", ["a", "?", "b", ":", "c"]],
    ["clickhouse", "-- a\rdrop\nx", ["-- a\rdrop", "x"]],
  ])("reads %s's %j as the engine does", (dialect, sql, expected) => {
    expect(tokensOf(sql, dialect).map(([, text]) => text)).toEqual(expected);
  });

  it("reads a quote in MySQL as a string, elsewhere as a name", () => {
    expect(tokensOf('"a"', "mysql")).toEqual([["string", '"a"']]);
    for (const dialect of ["duckdb", "postgres", "trino", "clickhouse", "generic"] as const) {
      expect(tokensOf('"a"', dialect)).toEqual([["quotedIdentifier", '"a"']]);
    }
  });

  it("walks a million opening brackets, quotes, signs or comment marks in linear time and without a stack", () => {
    for (const piece of [
      "(",
      "''",
      "/*",
      "$a",
      "$a$",
      "1.",
      "@a.",
      "--\n",
      "e'a'\n",
      "+",
      "=-",
      "--\r",
    ]) {
      const cursor = openSql(piece.repeat(200_000), "postgres");
      let count = 0;
      while (nextToken(cursor)) count += 1;
      expect(count).toBeGreaterThan(0);
      expect(cursor.end).toBe(piece.length * 200_000);
    }
  });
});

describe("a doubtful text", () => {
  it.each<[Dialect, string, LexDoubt | undefined]>([
    ["postgres", "select 'a'", undefined],
    ["postgres", "select 'a", "unterminated"],
    ["postgres", 'select "a', "unterminated"],
    ["postgres", "select /* a /* b */", "unterminated"],
    ["postgres", "select $a$ b", "unterminated"],
    ["postgres", "select $", "unknownCharacter"],
    ["postgres", "select 1 \0", "unknownCharacter"],
    ["postgres", "select \\ 1", "unknownCharacter"],
    ["postgres", "select \u2018secret\u2019", "unknownCharacter"],
    ["mysql", "select 1 /*! + 1 */", "versionComment"],
    ["mysql", "select 1 /*!99999 + 1 */", "versionComment"],
    ["mysql", "select 1 /*M! + 1 */", "versionComment"],
    ["mysql", "select 1 /* plain */", undefined],
    ["mysql", "select 'a\\'", "unterminated"],
    ["clickhouse", "select \u2018a", "unterminated"],
    ["generic", "select 'a'", undefined],
    ["generic", "select 'a\\'", "dialectDependent"],
    ["generic", "select /* /* */ 1", "dialectDependent"],
    ["generic", "select 1 # 2", "dialectDependent"],
    ["generic", "select 1 // 2", "dialectDependent"],
    ["generic", "select $$a$$", "dialectDependent"],
    ["generic", "select\u00a01", "dialectDependent"],
    ["generic", "select 1 -- a\r2", "dialectDependent"],
    ["generic", "select 1 -- a\r\n2", undefined],
  ])("in %s, of %j, is %s", (dialect, sql, expected) => {
    expect(doubtOf(sql, dialect)).toBe(expected);
  });

  it("sees a version comment that is not closed", () => {
    const cursor = openSql("select 1 /*! + 1", "mysql");
    while (nextToken(cursor));
    expect(cursor.inVersionComment).toBe(true);
    expect(doubtOf("select 1 /*! + 1", "mysql")).toBe("versionComment");
  });
});

/** The tokens without white space. */
function tokensOf(sql: string, dialect: Dialect): readonly (readonly [TokenKind, string])[] {
  const cursor = openSql(sql, dialect);
  const tokens: [TokenKind, string][] = [];
  while (nextToken(cursor))
    if (cursor.kind !== "whitespace") tokens.push([cursor.kind, tokenText(cursor)]);
  return tokens;
}

/** Why the text is doubtful, found by walking to its end; undefined when it is not. */
function doubtOf(sql: string, dialect: Dialect): LexDoubt | undefined {
  const cursor = openSql(sql, dialect);
  while (nextToken(cursor)) if (cursor.doubt !== undefined) return cursor.doubt;
  return cursor.doubt;
}
