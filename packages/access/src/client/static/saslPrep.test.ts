import { describe, expect, it } from "vitest";
import { saslPrepared } from "./saslPrep.ts";

describe("saslPrepared", () => {
  it.each([
    ["what means nothing is left out", "I\u00adX", "IX"],
    ["case is kept", "USER", "USER"],
    ["a letter of compatibility is the letter", "\u00aa", "a"],
    ["a numeral of one character is its letters", "\u2168", "IX"],
    ["a space of another width is a space", "a\u00a0b\u3000c", "a b c"],
    ["the first and the last of a range are of it", "\ufe00a\ufe0f", "a"],
  ])("%s (RFC 4013 §2, §3)", (_, password, prepared) => {
    expect(saslPrepared(password)).toBe(prepared);
  });

  it.each([
    ["one with a control character", "a\u00ad\u0007"],
    ["one with a character for private use", "\u00aa\ue000"],
    ["one with half a character", "\u00aa\ud800"],
    ["one of which nothing would be left", "\u00ad"],
  ])("takes %s as it is, because clients do the same", (_, password) => {
    expect(saslPrepared(password)).toBe(password);
  });
});
