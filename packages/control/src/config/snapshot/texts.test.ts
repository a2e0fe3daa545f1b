import type { Json } from "@gateway/contract/canonical.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byKey } from "../difference/difference.ts";
import { keyOf, type ConfigObject } from "../file.ts";
import { textsOf, textsWith, wholeText } from "./texts.ts";

describe("textsWith", () => {
  it("answers the text of all objects, whatever was put and in which order", () => {
    const same = fc.property(lists, fc.array(objects, { maxLength: 6 }), (first, puts) => {
      let now = byKey(first);
      let texts = textsOf(now.values());
      for (const put of puts) {
        now = new Map(now).set(keyOf(put), put);
        const whole = textsOf(now.values());
        texts = textsWith(texts, put) ?? whole;
        expect(wholeText(texts)).toBe(wholeText(whole));
      }
    });
    fc.assert(same, { numRuns: 1_000 });
  }, 60_000);

  it("leaves the texts that it was given as they are", () => {
    const before = textsOf([clusterOf("b"), clusterOf("c")]);
    const text = wholeText(before);
    textsWith(before, clusterOf("a"));
    textsWith(before, { ...clusterOf("b"), body: { engine: "duckDb", poolSize: 2 } });
    expect(wholeText(before)).toBe(text);
  });

  it("leaves to the whole way what is no cluster and no group", () => {
    const setting: ConfigObject = { kind: "setting", name: "auth", body: { provider: "none" } };
    expect(textsWith(textsOf([]), setting)).toBeUndefined();
  });
});

/** Names whose order by code units is none by number or language. */
const names = fc.constantFrom("a", "b", "Z", "é", "1", "10", "9", "a.b", "\ud83e\udd86", "\ufb00");
const bodies = fc.constantFrom<Json>({}, { engine: "duckDb" }, { b: 1, a: "\u20ac" });
const objects: fc.Arbitrary<ConfigObject> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("cluster" as const, "clusterGroup" as const),
    name: names,
    body: bodies.map((body) => structuredClone(body)),
  }),
  fc.constantFrom<ConfigObject>(
    { kind: "setting", name: "auth", body: { provider: "none" } },
    { kind: "setting", name: "history", body: { redaction: "metadata" } },
    { kind: "script", name: "s", body: { language: "js" } },
    { kind: "routing", name: "routing", body: { routingFallback: "a" } },
  ),
);
const lists = fc
  .array(objects, { maxLength: 8 })
  .map((list): readonly ConfigObject[] => [...byKey(list).values()]);

function clusterOf(name: string): ConfigObject {
  return { kind: "cluster", name, body: { engine: "duckDb" } };
}
