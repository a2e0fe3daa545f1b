import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { fleetKeysOf } from "./fleetKeys.ts";

const [old, current] = [new Secret("o".repeat(32)), new Secret("c".repeat(32))];

describe("fleetKeysOf", () => {
  it("gives every process of a fleet the same keys, and each purpose others", () => {
    const [here, there] = [fleetKeysOf([current]), fleetKeysOf([new Secret("c".repeat(32))])];
    expect(here?.("a")).toEqual(there?.("a"));
    expect(here?.("a")).not.toEqual(here?.("b"));
    expect(here?.("a")[0]).toHaveLength(32);
  });

  it("knows the secret before while it is changed, and no key without a fleet", () => {
    const changing = fleetKeysOf([current, old]);
    expect(changing?.("a")[1]).toEqual(fleetKeysOf([old])?.("a")[0]);
    expect(fleetKeysOf([])).toBeUndefined();
  });
});
