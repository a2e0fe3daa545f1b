/** Which seeds a simulation plays: some by day, ten thousand at night or as many as `SIM_SEEDS` says. */

export const nightly = process.env["GATEWAY_NIGHTLY"] === "1";
/** Seconds of work on a busy machine; the limit only ends a run that hangs. */
export const limitMs = nightly ? 3_600_000 : 120_000;

/** From 1 on. */
export function seedsBy(day: number): readonly number[] {
  const count = nightly ? Number(process.env["SIM_SEEDS"] ?? 10_000) : day;
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Tells a night's page what was played to its end without a fault. */
export function sayPlayed(what: string, seeds: readonly number[]): void {
  // oxlint-disable-next-line no-console -- the page of evidence reads it
  if (nightly) console.log(`ok  ${what}: every seed from 1 to ${seeds.length}`);
}
