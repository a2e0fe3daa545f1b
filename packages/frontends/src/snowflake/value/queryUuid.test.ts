import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { queryIds } from "@gateway/core/run/id.ts";
import { idOf, severalSuffix, uuidOf } from "./queryUuid.ts";

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

describe("an id as a UUID", () => {
  it("leads back to the id, whatever its suffix", () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const next = queryIds(virtualHost(seed));
      for (const id of [next(), next(), `${next()}${severalSuffix}`]) {
        expect(uuidOf(id)).toMatch(uuid);
        expect(idOf(uuidOf(id))).toBe(id);
        expect(idOf(uuidOf(id).toUpperCase())).toBe(id);
      }
    }
    for (const suffix of ["0", "00000000", "zzzzzzzz"]) {
      const id = `20260101_235959_00042_${suffix}`;
      expect(idOf(uuidOf(id))).toBe(id);
    }
    expect(uuidOf("20260101_235959_00042_k3v9x2m1")).toMatch(/^20260101-2359-5900-0420-/);
  });

  it("is left alone where it has another form", () => {
    const foreign = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";
    for (const id of ["x", "", foreign, "20260101-2359-5900-0420-000000000000"]) {
      expect(idOf(id)).toBe(id);
    }
    expect(uuidOf("x")).toBe("x");
  });
});
