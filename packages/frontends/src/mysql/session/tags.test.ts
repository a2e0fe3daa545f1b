import { describe, expect, it } from "vitest";
import { parseTags } from "./tags.ts";

describe("parseTags", () => {
  it("reads names and values, the first colon between them", () => {
    expect([...parseTags("team:sales, app:re:port,plain")]).toEqual([
      ["team", "sales"],
      ["app", "re:port"],
      ["plain", ""],
    ]);
  });

  it("drops empty names and what is too long or too many", () => {
    expect(parseTags(":x,,").size).toBe(0);
    expect(parseTags(`a:${"x".repeat(300)}`).size).toBe(0);
    const many = Array.from({ length: 99 }, (_, index) => `t${index}:1`).join(",");
    expect(parseTags(many).size).toBe(50);
  });
});
