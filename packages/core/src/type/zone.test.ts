import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instantOf, offsetOfReading, utc, zoneOf, type Zone } from "./zone.ts";

describe("zoneOf", () => {
  it.each([
    ["UTC", 0],
    ["z", 0],
    ["+00:00", 0],
    ["+05:30", 19_800],
    ["-0330", -12_600],
    ["+1", 3600],
    ["-00:44:30", -2670],
  ])("knows %s", (name, offset) => {
    expect(zoneNamed(name).offsetAt(0)).toBe(offset);
  });

  it.each(["", "Mars/Olympus", "+19", "+05:60", "Europe/Berlin; DROP", "+1:2:3:4", "5"])(
    "knows no zone %j",
    (name) => {
      expect(zoneOf(name)).toBeUndefined();
    },
  );

  it("shows names as the table spells them", () => {
    expect(zoneNamed("europe/berlin").name).toBe("Europe/Berlin");
    expect(zoneNamed("+5").name).toBe("+05:00");
    expect(zoneNamed("+00").name).toBe("UTC");
  });

  it("makes a named zone once, because each holds a costly formatter", () => {
    expect(zoneOf("europe/BERLIN")).toBe(zoneOf("Europe/Berlin"));
  });

  it("changes the offset in the very second of the clock change", () => {
    const berlin = zoneNamed("Europe/Berlin");
    const change = Date.UTC(2024, 2, 31, 1) / 1000;
    expect([berlin.offsetAt(change - 1), berlin.offsetAt(change)]).toEqual([3600, 7200]);
    // Local mean time ended at 23:06:32 UTC, in the middle of an hour and of a minute.
    const meanTime = Date.UTC(1893, 2, 31, 23, 6, 32) / 1000;
    expect([berlin.offsetAt(meanTime - 1), berlin.offsetAt(meanTime)]).toEqual([3208, 3600]);
  });

  it("agrees with the runtime's own clock at any instant", () => {
    const names = ["Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"];
    const agrees = fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: -4_000_000_000, max: 4_000_000_000 }),
      (name, unixSeconds) => {
        const shown = new Date((unixSeconds + zoneNamed(name).offsetAt(unixSeconds)) * 1000);
        const local = new Date(unixSeconds * 1000).toLocaleString("sv-SE", { timeZone: name });
        expect(shown.toISOString().slice(0, 19).replace("T", " ")).toBe(local);
      },
    );
    fc.assert(agrees, { numRuns: 300 });
  });

  it("answers a whole number of seconds for every instant an int64 can name", () => {
    const whole = fc.property(fc.integer({ min: -(2 ** 53), max: 2 ** 53 }), (unixSeconds) => {
      const offset = zoneNamed("Europe/Berlin").offsetAt(unixSeconds);
      expect(Number.isInteger(offset) && Math.abs(offset) < 86_400).toBe(true);
    });
    fc.assert(whole);
  });
});

describe("instantOf", () => {
  it("is the inverse of the offset wherever the clock shows a reading once", () => {
    const berlin = zoneNamed("Europe/Berlin");
    const inverse = fc.property(fc.integer({ min: -3e9, max: 3e9 }), (unixSeconds) => {
      const local = unixSeconds + berlin.offsetAt(unixSeconds);
      const found = instantOf(berlin, local);
      // A reading that happens twice gives the first of the two.
      expect(found + berlin.offsetAt(found)).toBe(local);
      expect(found).toBeLessThanOrEqual(unixSeconds);
    });
    fc.assert(inverse);
  });

  it("takes the first of two equal readings, and the old offset for a skipped one", () => {
    const berlin = zoneNamed("Europe/Berlin");
    const twice = Date.UTC(2024, 9, 27, 2, 30) / 1000;
    expect(instantOf(berlin, twice)).toBe(twice - 7200);
    const skipped = Date.UTC(2024, 2, 31, 2, 30) / 1000;
    expect(offsetOfReading(berlin, skipped)).toBe(3600);
    expect(instantOf(utc, skipped)).toBe(skipped);
  });
});

function zoneNamed(name: string): Zone {
  const zone = zoneOf(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
}
