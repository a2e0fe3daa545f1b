import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { splitStatements } from "./split.ts";

describe("splitStatements", () => {
  it("cuts at semicolons outside strings, names and comments, and leaves out what is empty", () => {
    expect(
      piecesOf(" select 1 ;; select ';' ; -- ;\n ; /* ; */ select \";\" /* end */ ; ", "postgres"),
    ).toEqual(["select 1", "select ';'", '/* ; */ select ";" /* end */']);
    expect(piecesOf("", "postgres")).toEqual([]);
    expect(piecesOf(" ;-- a\n;/* b */", "postgres")).toEqual([]);
  });

  it.each<[Dialect, string, number]>([
    ["mysql", "select 1 /*! ; select 2 */", 2],
    ["mysql", "select 'a\\'; drop table t; -- '", 1],
    ["postgres", "select 'a\\'; drop table t; -- '", 2],
    ["mysql", "select 1 --1; drop table t", 2],
    ["postgres", "select 1 --1; drop table t", 1],
    ["postgres", "select $$;$$; select $a$;$$;$a$", 2],
    ["mysql", "select $$;$$", 2],
    ["postgres", "select /* /* */ ; */ 1", 1],
    ["mysql", "select /* /* */ ; drop table t; /* */ 1", 3],
    ["duckdb", "select (1; select 2)", 2],
  ])("in %s, finds in %j as many statements as the engine runs: %i", (dialect, sql, count) => {
    expect(piecesOf(sql, dialect)).toHaveLength(count);
  });

  it("keeps the body of a routine together where the engine does", () => {
    const routine =
      "create or replace function f() returns int begin atomic select case when true then 1 end; select 2; end";
    expect(piecesOf(`${routine}; select 3`, "postgres")).toEqual([routine, "select 3"]);
    expect(piecesOf(`${routine}; select 3`, "duckdb")).toHaveLength(4);

    const procedure =
      "create definer = `a`@`%` procedure p() begin if x then select 1; end if; case y when 1 then select 2; end case; while z do select 3; end while; end";
    expect(piecesOf(`${procedure}; select 3`, "mysql")).toEqual([procedure, "select 3"]);

    const rule = "create rule r as on update to t do also (select 1; select 2)";
    expect(piecesOf(`${rule}; select 3`, "postgres")).toEqual([rule, "select 3"]);
  });

  it("does not take a table or a transaction for a routine", () => {
    expect(piecesOf("create table begin (a int); drop table t", "postgres")).toHaveLength(2);
    expect(
      piecesOf("create or replace table event (begin int); drop table t", "mysql"),
    ).toHaveLength(2);
    expect(piecesOf("begin; select 1; end", "postgres")).toHaveLength(3);
    expect(
      piecesOf("create view function as select 1; begin; select 2; end", "mysql"),
    ).toHaveLength(4);
  });

  it("answers a value when there are more statements than allowed", () => {
    expect(splitStatements("1;2;3", "postgres", 2)).toEqual({
      ok: false,
      error: { code: "tooManyStatements", max: 2 },
    });
    expect(splitStatements("1;2;", "postgres", 2).ok).toBe(true);
    expect(splitStatements("1;".repeat(20_000), "postgres").ok).toBe(false);
  });

  it("finds every statement again when they are joined, whatever is in them", () => {
    const statement = fc
      .array(fc.constantFrom("'a;'", '"b;"', "/* c; */", "-- d;\n", "$$e;$$", " ", "f", "1", "("), {
        minLength: 1,
        maxLength: 6,
      })
      .map((parts) => `x ${parts.join(" ")}`);
    const found = fc.property(fc.array(statement, { minLength: 1, maxLength: 5 }), (statements) => {
      const pieces = piecesOf(statements.join(" ;"), "postgres");
      expect(pieces).toEqual(statements.map((one) => one.trim()));
    });
    fc.assert(found);
  });

  it("leaves nothing out but white space, semicolons and comments", () => {
    const parts = fc.constantFrom(
      "'a;'",
      "'",
      ";",
      " ",
      "\n",
      "b",
      "--",
      "/*",
      "*/",
      "$$",
      "(",
      ")",
      "create function",
      "begin",
      "end",
    );
    const covered = fc.property(
      fc.array(parts, { maxLength: 20 }),
      fc.constantFrom<Dialect>("postgres", "mysql", "duckdb"),
      (text, dialect) => {
        const sql = text.join(" ");
        const slices = splitStatements(sql, dialect);
        if (!slices.ok) throw new Error("too many");
        let last = 0;
        for (const { start, end } of slices.value) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          last = end;
        }
      },
    );
    fc.assert(covered);
  });
});

function piecesOf(sql: string, dialect: Dialect): readonly string[] {
  const slices = splitStatements(sql, dialect);
  if (!slices.ok) throw new Error("too many statements");
  return slices.value.map(({ start, end }) => sql.slice(start, end));
}
