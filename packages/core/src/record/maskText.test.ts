import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskedCharsMax, maskText } from "./maskText.ts";
import { valuesOf } from "./values.ts";

describe("maskText", () => {
  it.each([
    [
      "what stands in quotes",
      "Could not convert string \"x\" to INT32, nor 'y'",
      "Could not convert string ? to INT32, nor ?",
    ],
    ["numbers, but not digits of a name", "-12.5e3 is over 100 for t1", "-? is over ? for t1"],
    ["dates", "value 2024-01-31 10:00:00 is over", "value ? ? is over"],
    [
      "the line that DuckDB shows",
      "Parser Error: bad\n\nLINE 1: select abc\n  ^",
      "Parser Error: bad\n?",
    ],
    [
      "the rest of the statement as MySQL shows it, quotes inside",
      "error near 'FORM t where a = 'b' and c = 'd'' at line 1",
      "error near ? at line ?",
    ],
    ["from an open quote to the end", "no match for 'abc", "no match for ?"],
    ["doubled and escaped quotes as one", "bad 'it''s' and 'x\\'y\\'z' here", "bad ? here"],
    ["curly quotes", "bad \u201cabc\u201d and \u2018d\u2019", "bad ? and ?"],
  ])("masks %s", (_what, message, expected) => {
    expect(maskText(message, none)).toBe(expected);
  });

  it("leaves a message alone that has nothing of the statement", () => {
    const message = "the table can't be read: it doesn't exist";
    expect(maskText(message, none)).toBe(message);
  });

  it("masks a value that comes back without quotes, in another case, or cut", () => {
    const values = valuesOf([{ sql: "select 'Hunter Twelve', 'xy', 10", dialect: "postgres" }]);
    expect(maskText("no HUNTER TWELVE", values)).toBe("no ?");
    expect(maskText("no prehunter twelvepost", values)).toBe("no pre?post");
    expect(maskText("no hunter", values)).toBe("no ?");
    expect(maskText("no hunte...", values)).toBe("no ?...");
    expect(maskText("no xy, but xyz", values)).toBe("no ?, but xyz");
  });

  it("masks what an escaped or dollar-quoted value stands for", () => {
    const values = valuesOf([
      { sql: String.raw`select e'hunt\x65r', $$secret$$`, dialect: "postgres" },
    ]);
    expect(maskText("no hunter and no secret", values)).toBe("no ? and no ?");
  });

  it("masks each word that the statement has too when its values are not known", () => {
    const values = valuesOf([{ sql: "select 'hunter", dialect: "postgres" }]);
    expect(values.kind).toBe("text");
    expect(maskText("group hunter", values)).toBe("group ?");
  });

  it("cuts a long message, and shows no value at the cut", () => {
    const values = valuesOf([{ sql: "select 'hunter'", dialect: "postgres" }]);
    const message = `${"a".repeat(maskedCharsMax - 5)} hunter`;
    expect(maskText(message, values)).toBe(`${"a".repeat(maskedCharsMax - 5)} ?`);
  });

  it("never makes a message longer, and takes any text", () => {
    const text = fc.string({ unit: "binary", maxLength: 200 });
    const holds = fc.property(text, text, (message, sql) => {
      const shown = maskText(message, valuesOf([{ sql, dialect: "duckdb" }]));
      expect(shown.length).toBeLessThanOrEqual(message.length);
    });
    fc.assert(holds);
  });
});

const none = valuesOf([]);
