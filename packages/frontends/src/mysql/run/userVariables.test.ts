import { describe, expect, it } from "vitest";
import { after } from "../rig/local.ts";
import { variablesRefusal } from "./userVariables.ts";

describe("variablesRefusal", () => {
  const client = after("set @x = 5, @`odd` = 1");

  it.each([
    "select a from t where b = @x",
    "select a from t limit 1 /* @y */, @X",
    "select a into @new from t",
    "select @a := 1",
    "select @n := @n + 1 from t, (select @n := 0) r",
    "insert into t (b) values (@id /* x */ := 3)",
    "select @`a b` -- why\n:= 1",
    "select a into @'new' from t",
    'select @"X"',
  ])("refuses %s, which would be answered without the value", (sql) => {
    expect(variablesRefusal(client, sql)?.errno).toBe(1235);
  });

  it.each([
    "select 'me@x.org' from t -- @x",
    "select '@n := 1', @other from t",
    "select @@x from t",
    "insert into t values ('into @x')",
  ])("leaves %s alone", (sql) => {
    expect(variablesRefusal(client, sql)).toBeUndefined();
  });
});
