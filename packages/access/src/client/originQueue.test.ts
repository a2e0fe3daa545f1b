import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OriginQueue } from "./originQueue.ts";

describe("OriginQueue", () => {
  it("lets origins take turns, each first come first served", () => {
    const line = new OriginQueue<string>();
    for (const one of ["a1", "a2", "a3", "b1", "a4", "b2", "c1"]) line.add(one.charAt(0), one);
    expect(drained(line)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  it("sends away the last of whoever has most in line, and the newcomer among equals", () => {
    const line = new OriginQueue<string>();
    for (const one of ["a1", "a2", "a3", "b1", "c1"]) line.add(one.charAt(0), one);
    expect([line.takeLast(), line.takeLast(), line.takeLast()]).toEqual(["a3", "a2", "c1"]);
    expect(drained(line)).toEqual(["a1", "b1"]);
    expect(line.takeLast()).toBeUndefined();
  });

  it("takes out who stops waiting, and nobody for one who does not wait", () => {
    const line = new OriginQueue<string>();
    for (const one of ["a1", "a2", "b1"]) line.add(one.charAt(0), one);
    line.remove("a", "a9");
    line.remove("c", "c1");
    expect(line.size).toBe(3);
    line.remove("a", "a1");
    line.remove("b", "b1");
    expect([line.size, drained(line)]).toEqual([1, ["a2"]]);
  });

  it("keeps count and loses nobody, whatever comes and goes", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add"), origin: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constantFrom("take", "takeLast", "remove"), origin: fc.constant("") }),
    );
    const holds = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const line = new OriginQueue<string>();
      const inside = new Set<string>();
      steps.forEach(({ kind, origin }, n) => {
        if (kind === "add") {
          line.add(origin, `${origin}${n}`);
          inside.add(`${origin}${n}`);
          return;
        }
        const [first = "none"] = inside;
        if (kind === "remove") line.remove(first.charAt(0), first);
        const gone = kind === "remove" ? first : kind === "take" ? line.take() : line.takeLast();
        expect([gone, gone === undefined || gone === "none" || inside.delete(gone)]).toEqual([
          gone,
          true,
        ]);
        expect(line.size).toBe(inside.size);
      });
      expect(new Set(drained(line))).toEqual(inside);
    });
    fc.assert(holds);
  });
});

function drained(line: OriginQueue<string>): readonly string[] {
  const items: string[] = [];
  for (let item = line.take(); item !== undefined; item = line.take()) items.push(item);
  return items;
}
