import { describe, expect, it } from "vitest";
import type { Dialect } from "../sql/dialect.ts";
import { wrongIn } from "./changed.ts";

const wrong = (before: string, after: string, dialect: Dialect = "postgres") =>
  wrongIn(before, after, { texts: dialect, placeholders: dialect });

describe("wrongIn", () => {
  it.each([
    ["select 1", "select 2"],
    ["select 1", "select 2;"],
    ["select $1, $2", "select $1, $2 from t"],
    ["delete from t", "delete from t where a = 1"],
    ["with a as (delete from t returning *) select * from a", "select 1"],
  ])("finds nothing where %s became %s", (before, after) => {
    expect(wrong(before, after)).toBeUndefined();
  });

  it.each([
    ["select 1", "select 1; select 2", "more than one statement"],
    ["select 1", "", "more than one statement, or none"],
    ["select 1", "delete from t", "another kind (delete)"],
    ["select 1", "select * into u from t", "may write"],
    ["select 1", "with a as (delete from t returning *) select * from a", "may write"],
    ["select $1", "select 1", "parameters"],
    ["select 1", "select $1", "parameters"],
    ["select $1, $2", "select $2, $1", "parameters"],
  ])("says where %s became %s that it %s", (before, after, what) => {
    expect(wrong(before, after)).toContain(what);
  });

  it("takes no text that engines may read in different ways, unless the client's own was one", () => {
    const doubtful = "select 'a\\' from t where b = ' or 1";
    expect(wrong("select 'a'", doubtful, "generic")).toContain("different ways");
    expect(wrong(doubtful, `${doubtful} `, "generic")).not.toContain("different ways");
  });
});
