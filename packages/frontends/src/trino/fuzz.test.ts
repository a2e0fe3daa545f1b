import { describe, expect, it } from "vitest";
import { fuzzListener, fuzzReaders } from "./rig/fuzz.ts";

const seed = Math.floor(Math.random() * 2 ** 32);

describe(`the listener under requests of seed ${seed}`, () => {
  it("answers each of them by HTTP or closes, logs no bug and leaves no query behind", async () => {
    const found = await fuzzListener(1500, seed);
    expect(found.bugs).toEqual([]);
    expect(found.unended).toBe(0);
    for (const status of found.statuses.keys()) {
      expect([
        "200",
        "204",
        "400",
        "401",
        "403",
        "404",
        "405",
        "408",
        "410",
        "413",
        "417",
        "431",
        "501",
        "503",
      ]).toContain(status);
    }
    expect(found.statuses.get("200")).toBeGreaterThan(100);
  }, 60_000);
});

describe(`the readers under requests of seed ${seed}`, () => {
  it("answer a value for every text", () => {
    expect(() => fuzzReaders(10_000, seed)).not.toThrow();
  }, 60_000);
});
