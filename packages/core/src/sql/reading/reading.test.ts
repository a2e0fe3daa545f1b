import { describe, expect, it } from "vitest";
import { longTextUnits, readingOf, readingsBy } from "./reading.ts";
import { inOneGo, type Steps } from "./steps.ts";

const long = (name: string): string => name.padEnd(longTextUnits + 1, ".");

describe("a reading", () => {
  it("reads short and middling texts once, whoever asks", () => {
    const { reading, reads } = counted();
    for (const text of ["a", "b".repeat(5_000), "a", "b".repeat(5_000)]) reading(text);
    expect(reads).toEqual(["a", "b".repeat(5_000)]);
  });

  it("answers for a long text what was read of it in steps", () => {
    const { reading, reads } = counted();
    let steps = 0;
    for (const _ of reading.ahead(long("a"))) steps += 1;
    expect({ steps, length: reading(long("a")) }).toEqual({ steps: 3, length: longTextUnits + 1 });
    expect(reads).toHaveLength(1);
    expect([...reading.ahead(long("a"))]).toEqual([]);
  });

  it("reads no short text ahead: who asks reads it as quickly", () => {
    const { reading, reads } = counted();
    inOneGo(reading.ahead("a"));
    expect(reads).toEqual([]);
  });

  it("takes what another walk found", () => {
    const { reading, reads } = counted();
    expect(reading.knows(long("a"))).toBe(false);
    reading.put(long("a"), 7);
    expect(reading.knows(long("a"))).toBe(true);
    expect(reading(long("a"))).toBe(7);
    expect(reads).toEqual([]);
  });

  it("keeps the last ones only, by their number and by their length", () => {
    const { reading, reads } = counted();
    const names = Array.from({ length: 33 }, (_, index) => long(`${index} `));
    for (const text of names) reading(text);
    reading(long("1 "));
    expect(reads).toHaveLength(33);
    reading(long("0 "));
    expect(reads).toHaveLength(34);
    const huge = "x".repeat(17 * 1024 * 1024);
    reading(huge);
    reading(huge);
    expect(reads).toHaveLength(35);
    reading(long("1 "));
    expect(reads).toHaveLength(36);
  });

  it("keeps the last two however long they are: a text, and the statement in it", () => {
    const { reading, reads } = counted();
    const text = `${"x".repeat(17 * 1024 * 1024)} ;`;
    const statement = text.slice(0, -2);
    reading.put(statement, 1);
    reading.put(text, 2);
    expect([reading(statement), reading(text)]).toEqual([1, 2]);
    reading.put("y".repeat(longTextUnits + 1), 3);
    expect([reading.knows(statement), reading.knows(text)]).toEqual([false, true]);
    expect(reads).toEqual([]);
  });

  it("is another one for each key", () => {
    const by = readingsBy(function* (text: string, key: string): Steps<string> {
      yield;
      return `${key}:${text}`;
    });
    expect([by("a")("x"), by("b")("x"), by("a") === by("a")]).toEqual(["a:x", "b:x", true]);
  });
});

function counted() {
  const reads: string[] = [];
  const reading = readingOf(function* (text): Steps<number> {
    reads.push(text);
    for (let step = 0; step < 3; step += 1) yield;
    return text.length;
  });
  return { reading, reads };
}
