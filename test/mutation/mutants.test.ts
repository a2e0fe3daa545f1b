import { describe, expect, it } from "vitest";
// @ts-expect-error A program of the nightly run, without types.
import { mutantsOf, mutated } from "./mutants.mjs";

interface Mutant {
  readonly line: number;
  readonly what: string;
}

describe("mutantsOf", () => {
  it("makes each small wrong apart, and leaves types and imports alone", () => {
    const source = [
      'import { b } from "./a-b.ts";',
      "type Flag = true | false;",
      "export const may = (a: number, on: boolean) => !on && a < 3;",
    ].join("\n");
    expect(textsOf(source).map((text) => text.split("\n")[2]?.split("=> ")[1])).toEqual([
      "!on || a < 3;",
      "on && a < 3;",
      "!on && a <= 3;",
    ]);
  });

  it("asks of every list what is asked of one of it, and the other way, and of nothing else", () => {
    expect(textsOf("a.every(isOpen) ?? a.toString")).toEqual([
      "a.every(isOpen)",
      "a.some(isOpen) ?? a.toString",
    ]);
    expect(textsOf("const text = a.toString();")).toEqual([]);
  });

  it("takes conditions, defaults, filters and calls away", () => {
    const source = "if (a) log(b ?? c);\nreturn all.filter(isOpen).some((one) => one.here);";
    expect(textsOf(source)).toEqual([
      source.replace("(a)", "(true)"),
      source.replace("(a)", "(false)"),
      source.replace("log(b ?? c);", ";"),
      source.replace("b ?? c", "b"),
      source.replace(".some", ".every"),
      source.replace(".filter(isOpen)", ""),
    ]);
    expect((mutantsOf(source) as readonly Mutant[]).map(({ line }) => line)).toEqual([
      1, 1, 1, 1, 2, 2,
    ]);
  });
});

function textsOf(source: string): readonly string[] {
  return (mutantsOf(source) as readonly Mutant[]).map((one) => String(mutated(source, one)));
}
