import { describe, expect, it } from "vitest";
import { onFirstUse } from "./firstUse.ts";

describe("onFirstUse", () => {
  it("makes each value once, and none that nobody asked for", () => {
    const asked: string[] = [];
    const values = onFirstUse({ a: 1, b: 2 }, (name, source) => {
      asked.push(name);
      return { source };
    });
    expect(values.get("b")).toEqual({ source: 2 });
    expect(values.get("b")).toBe(values.get("b"));
    expect(asked).toEqual(["b"]);
    expect([...values.made()]).toEqual([{ source: 2 }]);
  });

  it("knows no name that was not written", () => {
    const values = onFirstUse({ a: 1 }, (_name, source) => source);
    expect(values.get("constructor")).toBeUndefined();
    expect(values.get("__proto__")).toBeUndefined();
    expect(values.get("")).toBeUndefined();
  });
});
