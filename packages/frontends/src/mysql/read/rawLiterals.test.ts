import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { inOneGo } from "@gateway/core/sql/reading/steps.ts";
import { describe, expect, it } from "vitest";
import { utf8mb4 } from "../session/charset.ts";
import { withoutRawLiterals } from "./rawLiterals.ts";

/** Each character below 256 is a byte. */
function rewritten(bytes: string): string | undefined {
  return inOneGo(withoutRawLiterals(Buffer.from(bytes, "latin1"), utf8mb4.decode));
}

describe("withoutRawLiterals", () => {
  it.each([
    ["insert into t values ('\xe0\xfd')", "insert into t values (_binary X'e0fd')"],
    ["select _binary'\xff', _binary '\xff'", "select _binary X'ff', _binary X'ff'"],
    [`select "\xff", _latin1 /* x */ "\xff"`, "select _binary X'ff', _latin1 /* x */ X'ff'"],
    [
      String.raw`select '` + "\xff" + String.raw`\0\'''\\\Z\%x'`,
      "select _binary X'ff0027275c1a5c2578'",
    ],
    ["select 'plain', 'h\xc3\xa9', '\xff'", "select 'plain', 'h\u00e9', _binary X'ff'"],
    ["select 1 /* \xff\xff */, '\xff' -- \xfe", "select 1 /* ? */, _binary X'ff' -- ?"],
    [
      "select \xc3\xa0 from `\xc3\xa9` where b='\xff'",
      "select \u00e0 from `\u00e9` where b=_binary X'ff'",
    ],
    [
      "select'\xff'from t where`\xc3\xa9`in('\xff')",
      "select _binary X'ff'from t where`\u00e9`in(_binary X'ff')",
    ],
    ["/*!50003 select '\xff' */", "/*!50003 select _binary X'ff' */"],
  ])("%s", (sql, text) => {
    expect(rewritten(sql)).toBe(text);
  });

  it.each([
    "select `\xff`",
    "select \xff, '\xff'",
    "select n'\xff'",
    "select '\xff",
    "select '\xff' /* \xff",
  ])("is nothing for what is no text elsewhere: %s", (sql) => {
    expect(rewritten(sql)).toBeUndefined();
  });

  it("takes its turns with a long one", () => {
    const long = "\xff".repeat(longTextUnits * 20);
    const steps = withoutRawLiterals(Buffer.from(`select '${long}'`, "latin1"), utf8mb4.decode);
    let turns = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) turns += 1;
    expect(step.value).toBe(`select _binary X'${"ff".repeat(longTextUnits * 20)}'`);
    expect(turns).toBeGreaterThan(20);
  });
});
