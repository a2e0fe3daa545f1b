import type { Backend } from "@gateway/core/port/backend.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { quoteIdentifier, quotePath, quoteText } from "./quote.ts";

let backend: Backend;
beforeAll(async () => {
  backend = valueOf(
    await open("quoting", duckDbConfig.parse({ engine: "duckDb", threads: 1 }), hostOf()),
  );
});
afterAll(() => backend[Symbol.asyncDispose]());

/** Whole characters only: half of a pair has no UTF-8 form. */
const text = fc
  .string({ unit: "binary", minLength: 1 })
  .filter((one) => !/[\0\p{Surrogate}]/u.test(one));

describe("quoteText", () => {
  it("is read back by the engine's own parser as the same text", async () => {
    const same = fc.asyncProperty(text, async (one) => {
      expect((await ran(backend, `select ${quoteText(one)}`)).rows).toEqual([[one]]);
    });
    await fc.assert(same, { numRuns: 200 });
  });
});

describe("quoteIdentifier", () => {
  it("is read back by the engine's own parser as the same name", async () => {
    const same = fc.asyncProperty(text, async (one) => {
      const { columns } = await ran(backend, `select 1 as ${quoteIdentifier(one)}`);
      expect(columns.map(({ name }) => name)).toEqual([one]);
    });
    await fc.assert(same, { numRuns: 200 });
  });

  it("refuses NUL", () => {
    expect(() => quoteIdentifier("a\0b")).toThrow(RangeError);
    expect(() => quoteText("a\0b")).toThrow(RangeError);
  });
});

describe("quotePath", () => {
  it("keeps dots inside a name apart from those between names", () => {
    expect(quotePath(["a.b", 'c"d'])).toBe('"a.b"."c""d"');
  });
});
