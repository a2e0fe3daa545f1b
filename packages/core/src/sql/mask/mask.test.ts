import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LexDoubt } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { maskLiterals } from "./mask.ts";

describe("maskLiterals", () => {
  it("takes out strings, numbers and comments, and leaves the rest as it was written", () => {
    expect(
      masked(
        "  SELECT a1, 'secret' -- why\n FROM  \"T\".t1 /* x */ WHERE b = -1.5e3 AND c IN (1,2)",
        "postgres",
      ),
    ).toBe('SELECT a1, ?  \n FROM  "T".t1   WHERE b = -? AND c IN (?,?)');
    expect(masked("/* tag */ select 1", "postgres")).toBe("select ?");
    expect(masked("select/**/1", "postgres")).toBe("select ?");
  });

  it.each<[Dialect, string, string]>([
    [
      "postgres",
      "select e'a\\'secret', $$secret$$, $t$secret$t$, u&'secret', x'53', b'1', n'secret'",
      "select ?, ?, ?, ?, ?, ?, ?",
    ],
    ["postgres", "select e'a'\n'\\'secret'", "select ?\n?"],
    ["duckdb", "select 0x53, 1_000, .5", "select ?, ?, ?"],
    [
      "mysql",
      "select \"secret\", 'a\\'secret', _utf8'secret', 0x53, x'53', `name`, @a",
      "select ?, ?, _utf8?, ?, ?, `name`, @a",
    ],
    ["mysql", "select 1 -- secret\n, 2 # secret", "select ?  \n, ?"],
    ["trino", "select X'53', U&'secret', timestamp '2020-01-01'", "select ?, ?, timestamp ?"],
    [
      "clickhouse",
      "select 'a\\'secret', $x$secret$x$, \u2018secret\u2019, 1 // secret",
      "select ?, ?, ?, ?",
    ],
    ["clickhouse", "insert into t (a) format CSV\nsecret,'", "insert into t (a) format CSV ?"],
    [
      "clickhouse",
      'INSERT INTO t SETTINGS a = 1 FORMAT JSONEachRow {"a": "secret"}',
      "INSERT INTO t SETTINGS a = ? FORMAT JSONEachRow ?",
    ],
    [
      "clickhouse",
      "insert into t select format('{}', a) from b",
      "insert into t select format(?, a) from b",
    ],
    ["clickhouse", "insert into t format Values", "insert into t format Values"],
    ["postgres", "select $1, a -> 'secret' ->> 5", "select $1, a -> ? ->> ?"],
  ])("in %s, masks %j", (dialect, sql, expected) => {
    expect(masked(sql, dialect)).toBe(expected);
  });

  it.each<[Dialect, string, LexDoubt]>([
    ["postgres", "select 'secret", "unterminated"],
    ["postgres", "select 'it\\' s secret'", "unterminated"],
    ["postgres", "select 'it\\'s secret", "dialectDependent"],
    ["postgres", "select 'it\\' , 'so\\'secret'", "dialectDependent"],
    ["postgres", "select a\\'secret'", "unknownCharacter"],
    ["postgres", "select \u2018secret\u2019", "unknownCharacter"],
    ["mysql", "select /*!99999 ' */ secret -- '", "versionComment"],
    ["generic", "select 'a\\', secret --'", "dialectDependent"],
  ])("in %s, does not mask %j, because a value could be left in it", (dialect, sql, doubt) => {
    expect(maskLiterals(sql, dialect)).toEqual({ ok: false, error: doubt });
  });

  it("leaves no value behind and never grows, whatever surrounds it", () => {
    const secret = "s3cr3t";
    const literals = fc.constantFrom<(value: string) => string>(
      (value) => `'${value}'`,
      (value) => `'a''${value}'`,
      (value) => `E'\\'${value}\\\\'`,
      (value) => `$q$${value}$q$`,
      (value) => `/* ${value} */ 1`,
      (value) => `-- ${value}\n`,
    );
    const noise = fc.array(
      fc.constantFrom(" a ", ",", "'b'", '"c"', "(", ")", "1", "/* ' */", "-- '\n", "$$'$$", ";"),
      { maxLength: 8 },
    );
    const hidden = fc.property(noise, literals, noise, (before, literal, after) => {
      const sql = `${before.join(" ")} ${literal(secret)} ${after.join(" ")}`;
      const result = maskLiterals(sql, "postgres");
      expect(result.ok ? result.value : "").not.toContain(secret);
      expect(result.ok ? result.value.length : 0).toBeLessThanOrEqual(sql.length);
      expect(result.ok).toBe(true);
    });
    fc.assert(hidden, { numRuns: 1_000 });
  });

  it("masks a masked text to itself", () => {
    const parts = fc.constantFrom(
      "select",
      " ",
      "'a'",
      "1",
      "/* b */",
      "-- c\n",
      "d.e",
      "(",
      ")",
      ",",
      "=",
      '"f"',
    );
    const stable = fc.property(fc.array(parts, { maxLength: 15 }), (text) => {
      const once = maskLiterals(text.join(" "), "mysql");
      fc.pre(once.ok);
      expect(maskLiterals(once.value, "mysql")).toEqual(once);
    });
    fc.assert(stable);
  });
});

function masked(sql: string, dialect: Dialect): string {
  const result = maskLiterals(sql, dialect);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}
