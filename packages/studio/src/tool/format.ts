/** Numbers, durations and times as an operator reads them, in the viewer's language and zone. */

const plain = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** 12,345 */
export function countText(value: number): string {
  return plain.format(value);
}

/** 12.3K, where the place is short. */
export function shortCount(value: number): string {
  return Math.abs(value) < 10_000 ? fine.format(value) : short.format(value);
}

const byteUnits = ["B", "KB", "MB", "GB", "TB", "PB"];

/** 1.5 MB: steps of 1,000. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < byteUnits.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? plain.format(value) : fine.format(value)} ${byteUnits[unit] ?? "B"}`;
}

/** `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h` */
export function durationText(ms: number): string {
  if (ms < 1) return ms <= 0 ? "0 ms" : "< 1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${fine.format(ms / 1_000)} s`;
  const secs = Math.floor(ms / 1_000);
  if (secs < 3_600) return pair(Math.floor(secs / 60), "min", secs % 60, "s");
  const minutes = Math.floor(secs / 60);
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.floor(minutes / 60);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dayTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const yearTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/** The shortest text that still tells which day: times of today are a time alone. */
export function timeText(unixMs: number, nowUnixMs: number): string {
  const then = new Date(unixMs);
  const today = new Date(nowUnixMs);
  if (then.toDateString() === today.toDateString()) return clockTime.format(then);
  return (then.getFullYear() === today.getFullYear() ? dayTime : yearTime).format(then);
}

/** With weekday and zone, for a tooltip. */
export function exactTime(unixMs: number): string {
  return fullTime.format(new Date(unixMs));
}

/** `just now`, `12 s ago` */
export function agoText(unixMs: number, nowUnixMs: number): string {
  const ms = nowUnixMs - unixMs;
  if (ms < 1_500) return "just now";
  return `${durationText(Math.round(ms / 1_000) * 1_000)} ago`;
}

/** The value of `<input type="datetime-local">`, which has no zone and means the viewer's. */
export function localInput(unixMs: number | undefined): string {
  if (unixMs === undefined) return "";
  const offsetMs = new Date(unixMs).getTimezoneOffset() * 60_000;
  return new Date(unixMs - offsetMs).toISOString().slice(0, 16);
}

/** Reads such a value; undefined while it is empty or half typed. */
export function fromLocalInput(text: string): number | undefined {
  const unixMs = text === "" ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(unixMs) ? undefined : unixMs;
}
