import { describe, expect, it } from "vitest";
import { remembered } from "./remembered.ts";

describe("remembered", () => {
  it("reads a text that was seen before once only", () => {
    const { read, reads } = countedOf();
    const ask = remembered(read, { textsMax: 2, lengthMax: 10 });
    expect([ask("a"), ask("a"), ask("a")]).toEqual(["A", "A", "A"]);
    expect(reads).toEqual(["a"]);
  });

  it("keeps what is asked for again and again, and no more than twice the limit of everything else", () => {
    const { read, reads } = countedOf();
    const ask = remembered(read, { textsMax: 2, lengthMax: 10 });
    for (const text of ["a", "b", "a", "c", "a", "d", "a", "e", "a"]) ask(text);
    expect(reads.filter((text) => text === "a")).toEqual(["a"]);
    ask("b");
    expect(reads.filter((text) => text === "b")).toEqual(["b", "b"]);
  });

  it("does not take one text for another that was read in between", () => {
    const ask: (text: string) => string = remembered(
      (text) => (text === "outer" ? `${ask("inner")}+` : text.toUpperCase()),
      { textsMax: 4, lengthMax: 10 },
    );
    expect([ask("outer"), ask("inner"), ask("outer")]).toEqual(["INNER+", "INNER", "INNER+"]);
  });

  it("keeps no text that is longer than the limit", () => {
    const { read, reads } = countedOf();
    const ask = remembered(read, { textsMax: 2, lengthMax: 2 });
    ask("abc");
    ask("abc");
    expect(reads).toEqual(["abc", "abc"]);
  });
});

function countedOf() {
  const reads: string[] = [];
  const read = (text: string): string => {
    reads.push(text);
    return text.toUpperCase();
  };
  return { read, reads };
}
