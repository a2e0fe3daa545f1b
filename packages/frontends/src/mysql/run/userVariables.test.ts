import { describe, expect, it } from "vitest";
import { after } from "../rig/local.ts";
import { variablesRefusal } from "./userVariables.ts";

describe("variablesRefusal", () => {
  const client = after("set @x = 5, @`odd` = 1");

  it.each([
    "select a from t where b = @x",
    "select a from t limit 1 /* @y */, @X",
    "select a into @new from t",
  ])("refuses %s, which would be answered without the value", (sql) => {
    expect(variablesRefusal(client, sql)?.errno).toBe(1235);
  });

  it.each([
    "select 'me@x.org' from t -- @x",
    "select @n := @n + 1 from t, (select @n := 0) r",
    "select @@x from t",
    "insert into t values ('into @x')",
  ])("leaves %s alone", (sql) => {
    expect(variablesRefusal(client, sql)).toBeUndefined();
  });
});
