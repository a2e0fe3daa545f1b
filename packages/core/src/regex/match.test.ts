import { describe, expect, it } from "vitest";
import { machineOf, search, type Machine } from "./match.ts";
import { parseRegex } from "./parse.ts";
import { compileProgram } from "./program.ts";

describe("search", () => {
  it.each([
    ["(a+)+$", "a".repeat(65_535) + "!"],
    ["(a|a)*b", "a".repeat(65_536)],
    ["(.*)(.*)(.*)(.*)(.*)[^a]", "a".repeat(65_536)],
    ["(a?){30}a{30}b", "a".repeat(65_536)],
    ["([a-z]+)*=1", "select ".repeat(9_362)],
  ])(
    "ends within pattern × text steps on %s, which would stop a backtracking engine",
    (pattern, text) => {
      const machine = machineFor(pattern);
      expect(search(machine, text)).toBe(false);
      expect(machine.steps).toBeLessThanOrEqual(
        (machine.program.instructions.length + 1) * (text.length + 1),
      );
    },
  );

  it("needs no more than one step a character once the states of a pattern are known", () => {
    const machine = machineFor("(a+)+$");
    const text = "a".repeat(10_000) + "!";
    search(machine, text);
    const before = machine.steps;
    search(machine, text);
    expect(machine.steps - before).toBe(text.length + 1);
  });

  it("stops an anchored search at the first character that can not match", () => {
    const machine = machineFor("^select");
    expect(search(machine, "x".repeat(60_000))).toBe(false);
    expect(machine.steps).toBeLessThan(20);
  });

  it("stays linear and within its memory when the pattern has more states than the cache holds", () => {
    // Remembering which of the last fourteen characters were `a` takes 2^14 states.
    const pattern = "(a|b)*a(a|b){14}c";
    const machine = machineFor(pattern);
    const text = noiseOf(60_000);
    expect(search(machine, text)).toBe(false);
    expect(search(machine, `${text}a${"b".repeat(14)}c`)).toBe(true);
    expect(machine.steps).toBeLessThanOrEqual(
      (machine.program.instructions.length + 1) * (2 * text.length + 30),
    );
    expect(machine.table.length).toBeLessThanOrEqual(65_536);
    expect(machine.threadCells).toBeLessThanOrEqual(65_536 + machine.program.instructions.length);
  });

  it("finds the same with an emptied cache as with a fresh one", () => {
    const used = machineFor("(a|b)*a(a|b){14}c");
    search(used, noiseOf(40_000));
    for (const text of [
      "c",
      "abbbbbbbbbbbbbbc",
      `${noiseOf(20_000)}aaaaaaaaaaaaaaac`,
      noiseOf(300),
    ]) {
      expect(search(used, text)).toBe(search(machineFor("(a|b)*a(a|b){14}c"), text));
    }
  });

  it("goes on when the marks of its walks have run out", () => {
    const machine = machineFor("^(?:(?:a*)*b?)*c$");
    machine.walk = 0xffff_fffd;
    for (const text of ["aabac", "aabad", "ab", "c", "bbbbc", "x"]) {
      expect(search(machine, text)).toBe(search(machineFor("^(?:(?:a*)*b?)*c$"), text));
    }
    expect(machine.walk).toBeLessThan(100);
  });

  it("keeps the letters of a large alphabet apart", () => {
    const letters = Array.from({ length: 3_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + index * 2),
    );
    const machine = machineFor(`^(?:${letters.join("|")})$`);
    expect(search(machine, "\u4e02")).toBe(true);
    expect(search(machine, "\u4e03")).toBe(false);
  });
});

function machineFor(pattern: string): Machine {
  const parsed = parseRegex(pattern, false);
  if (!parsed.ok) throw new Error(parsed.error.reason);
  const program = compileProgram(parsed.value);
  if (!program.ok) throw new Error(program.error.reason);
  return machineOf(program.value);
}

/** Text of `a` and `b` without a pattern, the same every time. */
function noiseOf(length: number): string {
  let seed = 12_345;
  let text = "";
  while (text.length < length) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    text += (seed >>> 16) % 2 === 0 ? "a" : "b";
  }
  return text;
}
