import { describe, expect, it } from "vitest";
import { characterSet, isCharacterSet, isResultsName } from "./characterSet.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

describe("a set with a part of Unicode's characters", () => {
  it.each([
    ["utf8mb3", "a\u0000ä表💩𝄞", "a\u0000ä表??"],
    ["ascii", "a\u0000ä表💩~", "a\u0000???~"],
  ] as const)("%s has question marks for the others, one for each", (name, text, nearest) => {
    const { decode, shown, encode } = characterSet(name);
    expect(encode(text)).toEqual(utf8(nearest));
    expect(shown(utf8(text))).toBe(nearest);
    expect(decode(utf8(text))).toBeUndefined();
    expect(decode(utf8(nearest))).toBe(nearest);
  });

  it("answers in it alone: what its clients write is read as UTF-8", () => {
    const names = ["utf8mb3", "ascii", "latin1", "utf8mb4"];
    expect(names.map(isResultsName)).toEqual([true, true, true, false]);
    expect(isCharacterSet("utf8mb3")).toBe(false);
  });
});
