import { describe, expect, it } from "vitest";
import { withKnownTypes } from "./places.ts";

describe("withKnownTypes", () => {
  it("writes a type beside every place that is not known, and nowhere else", () => {
    const sql = "select $1, '$2', $2 -- $1\n, $10";
    const known = [undefined, { kind: "date" } as const];
    expect(withKnownTypes(sql, known, [])).toBe(
      "select CAST($1 AS VARCHAR), '$2', $2 -- $1\n, $10",
    );
  });

  it("takes the type the client stated", () => {
    const stated = [{ type: { kind: "decimal", precision: 5, scale: 2 } } as const];
    expect(withKnownTypes("select $1", [undefined], stated)).toBe(
      "select CAST($1 AS DECIMAL(5,2))",
    );
  });

  it("counts question marks", () => {
    const known = [{ kind: "date" } as const, undefined];
    expect(withKnownTypes("select ?, ?", known, [])).toBe("select ?, CAST(? AS VARCHAR)");
  });
});
