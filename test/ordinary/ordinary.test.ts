/** A hundred ordinary queries over five ways to bring rows; `ordinary.slow.test.ts` asks thousands. */
import { expect, it } from "vitest";
import { compareOrdinary } from "./session.ts";
import { wires } from "./wires.ts";

const queries = 100;

it("answers ordinary queries over every wire as the engine does", async () => {
  const { answers, differences } = await compareOrdinary(queries);
  expect(differences.slice(0, 5)).toEqual([]);
  expect(answers).toBe(queries * wires.length);
}, 300_000);
