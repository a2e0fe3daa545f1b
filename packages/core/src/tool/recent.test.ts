import { describe, expect, it } from "vitest";
import { Recent, type Recognised } from "./recent.ts";

describe("Recent", () => {
  it("finds what was kept, in whatever order it comes again", () => {
    const recent = recentOf("a", "b", "c");
    for (const word of ["c", "a", "a", "b", "c"]) expect(recent.find(word)?.word).toBe(word);
    expect(recent.find("d")).toBeUndefined();
  });

  it("forgets the one that came first when there is no more room", () => {
    const recent = recentOf("a", "b", "c", "d");
    expect(recent.find("a")).toBeUndefined();
    for (const word of ["b", "c", "d"]) expect(recent.find(word)?.word).toBe(word);
  });
});

interface Word extends Recognised<string> {
  readonly word: string;
}

function recentOf(...words: readonly string[]): Recent<string, Word> {
  const recent = new Recent<string, Word>(3);
  for (const word of words) recent.keep({ word, suits: (other) => other === word });
  return recent;
}
