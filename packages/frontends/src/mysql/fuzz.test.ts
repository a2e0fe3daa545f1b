import { describe, expect, it } from "vitest";
import { fuzz } from "./rig/fuzz.ts";
import { casesOf } from "../../../../test/cases.ts";

describe("any frames in any order", () => {
  it("bring no bug, no half packet and no query without an end", async () => {
    const wanted = casesOf(15_000, 150_000);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const { frames } = await fuzz(wanted, seed);
    expect(frames).toBeGreaterThanOrEqual(wanted);
  });
});
