/** Thousands of ordinary queries over five ways to bring rows, each answered as by the engine itself. */
import { expect, it } from "vitest";
import { compareOrdinary } from "./session.ts";
import { wires } from "./wires.ts";

/** Five answers of each; the nightly run has a million of them. */
const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 200_000 : 2_000;
const queries = Number(process.env["ORDINARY_QUERIES"] ?? nightly);
/** Most of a run of that many; what hangs is ended by it. */
const perQueryMs = 1_000;

it(
  "answers ordinary queries over every wire as the engine does",
  async () => {
    const { answers, differences } = await compareOrdinary(queries);
    expect(differences.slice(0, 5)).toEqual([]);
    expect(answers).toBe(queries * wires.length);
  },
  queries * perQueryMs,
);
