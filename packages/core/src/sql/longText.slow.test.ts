import { describe, expect, it } from "vitest";
import { classifyStatement, classReading } from "./classify/classify.ts";
import type { Dialect } from "./dialect.ts";
import { digestReading, digestSql } from "./mask/fingerprint.ts";
import { readLongText } from "./longText.ts";
import { slicesReading, splitStatements } from "./lex/split.ts";
import { tokensPerStep } from "./reading/steps.ts";
import { readStatement, statementReading } from "./statement.ts";

const pad = (unit: string): string => unit.repeat(Math.ceil(70_000 / unit.length));

describe("readLongText", () => {
  it.each<readonly [Dialect, string]>([
    ["postgres", `select ${pad("a, ")}1`],
    ["postgres", `with x as (insert into t select ${pad("1,")} 2) select 1;`],
    ["postgres", `select '${pad("x")}'; -- ${pad("y")}\n; insert into t values (1)${pad(",(2)")}`],
    ["postgres", `select 1; ${pad(";")} select ${pad("$1 + ")} 2`],
    ["postgres", `create function f() ${pad("a ")} begin select 1; end; select ${pad("1,")}1`],
    ["postgres", `select ${pad("(")}`],
    ["postgres", `select '${pad("x")}`],
    ["mysql", `select /*!80000 1; ${pad("select 2,")} */ 3; select \`a\`${pad(", 'it\\'s'")}`],
    ["mysql", `update t set a = 'x' where b in (${pad("1,")}2)`],
    ["trino", `select ? ${pad("from t ")}`],
    ["duckdb", `explain analyze delete from t where ${pad("a = 1 or ")} true`],
    ["clickhouse", `insert into t format values ${pad("(1, 'a'),")}`],
    ["postgres", `begin; prepare p (int) as select ${pad("$1 + ")} 1 -- ${pad("x")}`],
    ["postgres", `set application_name = '${pad("x")}'; -- ${pad("y")}`],
    ["postgres", `start transaction /* ${pad("x")} */ isolation level serializable, read only`],
    ["mysql", `/*!40101 set @a = '${pad("x")}' */; set @b = 1${pad(", @c = 2")}`],
    ["trino", `execute immediate '${pad("select 1 ")}' using 1, 'a'`],
    ["duckdb", `use "a${pad("b")}".c; rollback to "${pad("s")}"`],
    ["postgres", `select ${pad("Ab\u00c9")}, ${pad("1")}, 0x${pad("f")}, e'${pad("\\'")}'`],
    ["postgres", `set a = e'${pad("x\\n''")}'; -- ${pad("c")}\n; select $t$${pad("$s")}$t$`],
    ["postgres", `create function f() begin ${pad("Begin")}; end; /*${pad("/**/")}*/ select 2`],
    ["mysql", `set names '${pad("x''\\n")}'; set @a = \`${pad("x``")}\`; select 1${pad("a")}`],
    ["mysql", `prepare p from 'select ''${pad("\\\\")}'''; select @@${pad(".a")}, ${pad("<")} 1`],
    ["clickhouse", `insert into t format ${pad("Values")} ${pad("(1, 'a'),")}`],
  ])("reads what the readers of %s read by themselves: %.40s", (dialect, sql) => {
    const alone = answersOf(sql, dialect);
    forget(dialect);
    expect(run(sql, dialect, 1_000_000).read).toBe(true);
    expect(answersOf(sql, dialect)).toEqual(alone);
  });

  it.each([
    [`  select ${pad("a, ")}1 ; \n ;`, true],
    [`/* a */ select ${pad("a, ")}1;-- b`, true],
    [`set a = 1; ${pad(" ")}`, true],
    [`; select ${pad("a, ")}1`, false],
    [`select ${pad("a, ")}1; select 2`, false],
    [`select ${pad("a, ")}1; /* open`, false],
  ])("knows a text of one statement also as a whole: %.20s", (sql, known) => {
    const alone = [readStatement, classifyStatement, digestSql].map((read) => read(sql, "trino"));
    forget("trino");
    expect(run(sql, "trino", 1_000_000).read).toBe(true);
    const readings = [statementReading, classReading, digestReading];
    expect(readings.map((reading) => reading("trino").knows(sql))).toEqual([known, known, known]);
    expect([readStatement, classifyStatement, digestSql].map((read) => read(sql, "trino"))).toEqual(
      alone,
    );
  });

  it("knows the longest statement beside the text around it", () => {
    const statement = `set a = '${"x".repeat(9 * 1024 * 1024)}'`;
    const sql = ` ${statement} ;`;
    run(sql, "mysql", 1_000_000);
    expect([sql, statement].map((text) => statementReading("mysql").knows(text))).toEqual([
      true,
      true,
    ]);
  });

  it("reads again what is known only to count its tokens", () => {
    const sql = `select ${pad("a, ")}1`;
    expect(run(sql, "generic", Infinity).steps).toBeGreaterThan(24);
    expect(run(sql, "generic", Infinity)).toEqual({ read: true, steps: 0 });
    expect(run(sql, "generic", 8_192).read).toBe(false);
  });

  it("gives others a turn after a few thousand tokens, whatever they are", () => {
    for (const unit of ["a ", "1,", "(", ";", "'' "]) {
      const sql = `select ${unit.repeat(100_000)}`;
      expect(run(sql, "postgres", 1_000_000).steps).toBeGreaterThanOrEqual(24);
    }
  });

  it("gives others a turn within a token, whatever is asked of it", () => {
    const length = 1024 * 1024;
    // The hash of the text alone is asked for in so many.
    const steps = length / (16 * 1024);
    for (const sql of [`select ${"a".repeat(length)}`, `set a = '${"x''".repeat(length / 3)}'`]) {
      expect(run(sql, "postgres", Infinity).steps).toBeGreaterThan(3 * steps);
    }
  });

  it("stops at the first token beyond the limit, and keeps nothing", () => {
    const sql = `select ${"a,".repeat(100_000)}b`;
    expect(run(sql, "postgres", 8_192)).toEqual({ read: false, steps: 8_192 / tokensPerStep });
    expect(run(`select 1 ${";".repeat(100_000)}`, "postgres", 8_192).read).toBe(false);
  });
});

function run(sql: string, dialect: Dialect, tokensMax: number) {
  const reading = readLongText(sql, dialect, tokensMax);
  for (let steps = 0; ; steps += 1) {
    const step = reading.next();
    if (step.done === true) return { read: step.value, steps };
  }
}

/** Puts so many other texts into the memory of what was read that it holds none of before. */
function forget(dialect: Dialect): void {
  const others = Array.from({ length: 33 }, (_, index) => `${index}`.padEnd(65_600));
  for (const text of others) {
    slicesReading(dialect)(text);
    classReading(dialect)(text);
    statementReading(dialect)(text);
    digestReading(dialect)(text);
  }
}

function answersOf(sql: string, dialect: Dialect) {
  const slices = splitStatements(sql, dialect);
  if (!slices.ok) return slices;
  return slices.value.map((slice) => {
    const text = sql.slice(slice.start, slice.end);
    const statement = readStatement(text, dialect);
    const kind = classifyStatement(text, dialect);
    return { slice, kind, statement, digest: digestSql(text, dialect) };
  });
}
