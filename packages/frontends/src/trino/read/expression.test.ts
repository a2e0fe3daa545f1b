import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readExpressions } from "./expression.ts";
import { TokenReader } from "./tokens.ts";

const read = (text: string) => {
  const found = readExpressions(new TokenReader(text));
  return found.ok ? found.value.map(({ expression }) => expression) : found.error.code;
};

describe("readExpressions", () => {
  it("divides at the commas that stand in no bracket, and changes nothing else", () => {
    expect(read(`1, 'a,b', ARRAY[1,2] , ROW(1, (2)), a->b, X'00', "x,"`)).toEqual([
      "1",
      "'a,b'",
      "ARRAY[1,2]",
      "ROW(1, (2))",
      "a->b",
      "X'00'",
      '"x,"',
    ]);
    expect(read("NULL;")).toEqual(["NULL"]);
  });

  it("leaves comments out, so that none reaches over the next value", () => {
    expect(read("1 -- one, two\n, /* ( */ 2 /* x */ + 3")).toEqual(["1", "2 + 3"]);
  });

  it("refuses a query among the values, which nobody would see", () => {
    for (const sql of [
      "(SELECT 1)",
      "f( select x from t)",
      "ARRAY[(TABLE t)]",
      "((WITH a AS (SELECT 1) SELECT 1))",
    ]) {
      expect(read(sql)).toBe("query.unsupported");
    }
  });

  it("refuses what is no list of values", () => {
    for (const sql of ["", ",", "1,", "1,,2", "(1", "1)", "1); (2", "1; 2", ";"]) {
      expect(read(sql)).toBe("query.syntax");
    }
  });

  it("reads any text to its end without throwing", () => {
    const word = fc.constantFrom(...`1 , ( ) [ ] ' " -- /* x SELECT ; ?`.split(" "));
    const text = fc.array(word, { maxLength: 20 }).map((words) => words.join(" "));
    fc.assert(fc.property(text, (sql) => void read(sql)));
  });
});
