/** Some hundred made-up inputs for each reader of `readers.ts`, by a seed of the run's own; `readers.mjs` makes millions. */
import { randomInt } from "node:crypto";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { describe, expect, it } from "vitest";
import { targets } from "./readers.ts";

const inputs = 400;
const seed = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));

describe("a reader of what others send", () => {
  it.each(Object.entries(targets))("takes or refuses whatever comes: %s", async (_name, target) => {
    const taken = { accepted: 0, refused: 0 };
    for (let number = 0; number < inputs; number += 1) {
      const one = seed + number;
      const accepted = await Promise.resolve()
        .then(() => target(new Chance(one)))
        .catch((cause: unknown) => {
          throw new Error(`FUZZ_SEED=${one}: ${String(cause)}`, { cause });
        });
      taken[accepted ? "accepted" : "refused"] += 1;
    }
    // Inputs of one kind alone would say little.
    expect(taken.refused).toBeGreaterThan(0);
    expect(taken.accepted + taken.refused).toBe(inputs);
  });
});
