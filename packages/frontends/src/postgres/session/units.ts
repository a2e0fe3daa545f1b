/**
 * Settings that count time or memory: how a client may write one, and how PostgreSQL shows it, which is in the
 * largest unit that leaves a whole number. Pure.
 */

/** What a number without a unit counts. */
export type Unit = "ms" | "s" | "kB" | "8kB";

const timeUnits = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
  ["ms", 1],
  ["us", 0.001],
] as const;
const memoryUnits = [
  ["TB", 2 ** 40],
  ["GB", 2 ** 30],
  ["MB", 2 ** 20],
  ["kB", 2 ** 10],
  ["B", 1],
] as const;

/** The units of a family, the largest first, and what a number alone is in its smallest whole one. */
const families = {
  ms: { units: timeUnits, base: 1 },
  s: { units: timeUnits, base: 1000 },
  kB: { units: memoryUnits, base: 2 ** 10 },
  "8kB": { units: memoryUnits, base: 2 ** 13 },
} as const satisfies Record<Unit, unknown>;

/** A longer text is no quantity and is not read. */
const lengthMax = 40;
const countMax = 2 ** 31 - 1;

/** How many `unit`s the text says, rounded as PostgreSQL does; undefined for no quantity, or for too many. */
function countOf(text: string, unit: Unit): number | undefined {
  if (text.length > lengthMax) return undefined;
  const match = /^\s*(-?\d{1,12}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*$/.exec(text);
  if (match === null) return undefined;
  const { units, base } = families[unit];
  const written = match[2] ?? "";
  const factor = written === "" ? base : units.find(([name]) => name === written)?.[1];
  if (factor === undefined) return undefined;
  const count = Math.round((Number(match[1]) * factor) / base);
  return Math.abs(count) <= countMax ? count : undefined;
}

/** The value as SHOW writes it; undefined where it is no quantity or less than `min`. */
export function quantityText(text: string, unit: Unit, min = 0): string | undefined {
  const count = countOf(text, unit);
  if (count === undefined || count < min) return undefined;
  if (count <= 0) return String(count);
  const { units, base } = families[unit];
  const whole = count * base;
  const shown = units.find(([, factor]) => whole % factor === 0);
  return shown === undefined ? String(count) : `${whole / shown[1]}${shown[0]}`;
}

/** Milliseconds of a limit such as `5000`, `5s` or `1.5 min`; 0 for none, and for what is no duration. */
export function limitMs(text: string): number {
  if (text === "0") return 0;
  return Math.max(0, countOf(text, "ms") ?? 0);
}
