import { describe, expect, it } from "vitest";
import { fuzz } from "./rig/fuzz.ts";

describe("any frames in any order", () => {
  it("bring no bug, no half message and no second life", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const { frames } = await fuzz(60_000, seed);
    expect(frames).toBeGreaterThanOrEqual(60_000);
  });
});
