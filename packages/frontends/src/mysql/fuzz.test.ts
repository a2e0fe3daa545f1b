import { describe, expect, it } from "vitest";
import { fuzz } from "./rig/fuzz.ts";

describe("any frames in any order", () => {
  it("bring no bug, no half packet and no query without an end", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const { frames } = await fuzz(40_000, seed);
    expect(frames).toBeGreaterThanOrEqual(40_000);
  });
});
