import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { civilOf, dayOf, daysInMonth, daysOf, monthOf, yearOf } from "./calendar.ts";

describe("civilOf", () => {
  it("agrees with the runtime's calendar on every day it knows", () => {
    const agrees = fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
      const date = new Date(days * 86_400_000);
      expect(partsOf(days)).toEqual([
        date.getUTCFullYear(),
        date.getUTCMonth() + 1,
        date.getUTCDate(),
      ]);
    });
    fc.assert(agrees, { numRuns: 2000 });
  });

  it("is undone by daysOf for every day that an int64 of seconds can name", () => {
    const far = 2 ** 63 / 86_400;
    const undone = fc.property(fc.double({ min: -far, max: far, noNaN: true }), (any) => {
      const days = Math.floor(any) + 0;
      const [year = 0, month = 0, day = 0] = partsOf(days);
      expect(daysOf(year, month, day)).toBe(days);
      expect(day).toBeLessThanOrEqual(daysInMonth(year, month));
    });
    fc.assert(undone);
  });

  it("answers the same again", () => {
    expect(partsOf(0)).toEqual([1970, 1, 1]);
    expect(partsOf(0)).toEqual([1970, 1, 1]);
  });
});

describe("daysInMonth", () => {
  it("knows leap years, and no thirteenth month", () => {
    const years = [2023, 2024, 1900, 2000, 0, -4];
    expect(years.map((year) => daysInMonth(year, 2))).toEqual([28, 29, 28, 29, 29, 29]);
    expect([0, 1, 4, 13].map((month) => daysInMonth(2024, month))).toEqual([0, 31, 30, 0]);
  });
});

function partsOf(days: number): number[] {
  const civil = civilOf(days);
  return [yearOf(civil), monthOf(civil), dayOf(civil)];
}
