import { openSql, tokenText } from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import fc from "fast-check";
import { escape, escapeId } from "mysql2";
import { describe, expect, it } from "vitest";
import { forwardedDialect, forwardedSql } from "./forward.ts";

describe("forwardedSql", () => {
  it("never lets a value that a driver escaped out of its string", () => {
    const nasty = fc.constantFrom(
      "'",
      '"',
      "\\",
      "`",
      ";",
      "--",
      "/*",
      "*/",
      "#",
      "$$",
      "\n",
      "\r",
    );
    const value = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc
        .array(fc.oneof(nasty, fc.string({ maxLength: 3 })), { maxLength: 12 })
        .map((all) => all.join("")),
    );
    fc.assert(
      fc.property(
        value.filter((text) => !text.includes("\0")),
        (text) => {
          const forwarded = forwardedSql(`select ${escape(text)} as a, ${escape("end")}`);
          const sql = forwarded.ok ? forwarded.value : "";
          expect(tokensOf(sql).map(([kind]) => kind)).toEqual(shape);
          expect(stringsOf(sql)).toEqual([text, "end"]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("never lets a name out of its quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
        const forwarded = forwardedSql(`select ${escapeId(name, true)}`);
        const tokens = tokensOf(forwarded.ok ? forwarded.value : "");
        expect(tokens).toEqual([
          ["word", "select"],
          ["quotedIdentifier", `"${name.replaceAll('"', '""')}"`],
        ]);
      }),
    );
  });

  it("keeps a text that both read alike", () => {
    const same = [
      "select 1",
      "select a, 'it''s' from t where b >= 1.5 -1",
      "select count(*) from orders where name like 'a%' limit 10",
      `select 'a--b', '/* # \`c\` "d" $$ */', '', '''', 'é''' from t`,
    ];
    for (const sql of same) expect(forwardedSql(sql)).toEqual({ ok: true, value: sql });
  });

  it("writes strings and names in the standard's way", () => {
    expect(valueOf(`select "it's", 'a\\'b\\\\', \`my \`\`"col\``)).toBe(
      `select 'it''s', 'a''b\\', "my \`""col"`,
    );
    expect(valueOf("select N'x', x'ff', B'01'")).toBe("select 'x', x'ff', B'01'");
  });

  it("drops comments, which end elsewhere for other engines", () => {
    expect(valueOf("select 1 # one\r; drop table t")).toBe("select 1");
    expect(valueOf("select /* a /* b */ 2 -- c")).toBe("select   2");
    expect(valueOf("select 1 as a\u00a0 -- c")).toBe("select 1 as a\u00a0");
  });

  it.each([
    ["select /*!40001 SQL_NO_CACHE */ 3", "select 3"],
    ["create table /*!32312 if not exists*/ t (a int)", "create table if not exists t (a int)"],
    ["select 1 /*! + 1 */", "select 1 + 1"],
    ["select 1 /*!80099 + 1 */ /*!80100 + 1 */ /*M! + 1 */", "select 1 + 1"],
    ["select sel/*!ect*/ '/*! x */', /*!'*/' */", "select sel ect '/*! x */', '*/'"],
  ])("runs of '%s' what MySQL would", (sql, wanted) => {
    expect(valueOf(sql).replace(/ +/g, " ")).toBe(wanted);
  });

  it.each([
    ["select 1 from dual where 1=0", "select 1  where 1=0"],
    ["select 1 FROM /* x */ DUAL", "select 1"],
    ["select (select 1 from dual) as dual from t", "select (select 1 ) as dual from t"],
    ["select 'from dual' from `dual`", `select 'from dual' from "dual"`],
    ["select 1 from /*!50000 dual */ where 1=0", "select 1  where 1=0"],
    ["select a from t join dual", "select a from t join dual"],
  ])("takes only MySQL's table without rows or name out of '%s'", (sql, wanted) => {
    const forwarded = forwardedSql(sql);
    const found = forwarded.ok ? forwarded.value : "";
    expect(found.replaceAll(/ +/g, " ")).toBe(wanted.replaceAll(/ +/g, " "));
  });

  it("keeps a comment that has the statement's tags", () => {
    expect(valueOf("-- gateway.tags=a:b\nSELECT 1")).toBe(" /* gateway.tags=a:b */ \nSELECT 1");
    expect(valueOf("SELECT 1 /* gateway.tags=a:*b */")).toBe("SELECT 1");
  });

  it("keeps a NUL in its string, for engines that can carry it", () => {
    expect(valueOf("select 'a\\0b'")).toBe("select 'a\0b'");
    expect(valueOf("select 1\0")).toContain("syntax");
  });

  it("keeps a string from joining the word before it", () => {
    expect(valueOf("select E'a\\\\' from t")).toBe("select E 'a\\' from t");
    expect(valueOf("select e'\\\\'''")).toBe("select e '\\'''");
    expect(valueOf(`select u&'x'"y"`)).toBe("select u& 'x' 'y'");
  });

  it("writes a long string or name anew a few thousand characters at a time, as it writes short ones", () => {
    for (const [open, unit, written] of [
      ["'", "a\\'", "a''"],
      ["'", "b\\n''", "b\n''"],
      ['"', "c'", "c''"],
      ["`", 'd"', 'd""'],
      ["n'", "e\\\\", "e\\"],
    ] as const) {
      const quote = open.slice(-1);
      const sql = `select ${open}${unit.repeat(100_000)}${quote}, 1`;
      expect(stepsOf(forwardedSql.ahead(sql))).toBeGreaterThanOrEqual(24);
      expect(forwardedSql.knows(sql)).toBe(true);
      const [short = "", long] = [`select ${open}${unit}${quote}, 1`, sql].map(valueOf);
      expect(short).toContain(written);
      expect(long).toBe(short.replace(written, () => written.repeat(100_000)));
    }
    const open = `select '${"a\\'".repeat(100_000)}`;
    expect(valueOf(open)).toBe(valueOf(open.slice(0, 1_000)));
  });

  it("refuses what is open, has no meaning, or would be a string elsewhere", () => {
    const refused = [
      "select 'open\\'",
      "select 'open",
      "select `open",
      "select 1 /* open",
      "select /*! open",
      "select $$",
      "select $a$ x $a$",
      "select \\N",
      "select x'\\''",
    ];
    for (const sql of refused) {
      expect([sql, forwardedSql(sql)]).toMatchObject([sql, { ok: false, error: { errno: 1064 } }]);
    }
  });
});

/** Kinds of the tokens of the first property's text. */
const shape = ["word", "string", "word", "word", "comma", "string"];

/** Tokens that mean something, as the engine's lexis cuts them. */
function tokensOf(sql: string): readonly (readonly [string, string])[] {
  const cursor = openSql(sql, forwardedDialect);
  const tokens: (readonly [string, string])[] = [];
  while (nextToken(cursor)) {
    if (cursor.kind !== "whitespace") tokens.push([cursor.kind, tokenText(cursor)]);
  }
  return tokens;
}

function stringsOf(sql: string): readonly (string | undefined)[] {
  return tokensOf(sql)
    .filter(([kind]) => kind === "string")
    .map(([, text]) => decodeString(text, forwardedDialect));
}

function stepsOf(steps: Generator): number {
  let count = 0;
  while (steps.next().done !== true) count += 1;
  return count;
}

function valueOf(sql: string): string {
  const forwarded = forwardedSql(sql);
  return forwarded.ok ? forwarded.value : forwarded.error.message;
}
