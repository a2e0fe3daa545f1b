/**
 * Time zones: how far a zone's wall clock is from UTC at an instant. Applied only where a protocol
 * shows or reads an instant in the session's zone; the neutral value stays an instant.
 *
 * Fixed offsets are computed; IANA zones come from the runtime's own table (Intl).
 */

/** Made once per session, not per cell. */
export interface Zone {
  /** As the client knows it: `UTC`, `+05:30`, `Europe/Berlin`. */
  readonly name: string;
  /** Seconds that the wall clock is ahead of UTC at this instant (whole Unix seconds). Never rounded. */
  offsetAt(unixSeconds: number): number;
}

/** The zone of values that are shown as they are. */
export const utc: Zone = { name: "UTC", offsetAt: () => 0 };

/** Days and hours whose offset is remembered per zone. */
const cachedMax = 16_384;
const hourSeconds = 3600;
const daySeconds = 86_400;
/** A zone that changes its clock twice within this time is not known. */
const sampleSeconds = 6 * hourSeconds;
/** The runtime's dates end two days after this; beyond it a zone keeps its last offset. */
const unixSecondsMax = 8.64e12 - 2 * 86_400;

/** A zone by its name (`Europe/Berlin`, `utc`) or offset (`+05:30`, `-3`, `+01`); undefined when there is none. */
export function zoneOf(name: string): Zone | undefined {
  const text = name.trim();
  if (/^(utc|gmt|z|zulu|etc\/utc|uct)$/i.test(text)) return utc;
  const fixed = /^([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?$/.exec(text);
  if (fixed !== null) return fixedZone(fixed);
  return namedZone(text);
}

/**
 * The offset that a reading of the zone's clock has (seconds as if in UTC).
 *
 * A reading that a clock change skipped counts with the offset before the change; one that happens
 * twice means the first of the two.
 */
export function offsetOfReading(zone: Zone, localSeconds: number): number {
  // Offsets lie within a day, so the two days around the reading see both sides of a change.
  const before = zone.offsetAt(localSeconds - 86_400);
  const after = zone.offsetAt(localSeconds + 86_400);
  if (before === after || zone.offsetAt(localSeconds - before) === before) return before;
  return zone.offsetAt(localSeconds - after) === after ? after : before;
}

/** The instant (Unix seconds) at which the zone's clock shows a reading; see `offsetOfReading`. */
export function instantOf(zone: Zone, localSeconds: number): number {
  return localSeconds - offsetOfReading(zone, localSeconds);
}

function fixedZone(match: RegExpExecArray): Zone | undefined {
  const [, sign, hours, minutes = "0", seconds = "0"] = match;
  if (Number(hours) > 18 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const ahead = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (ahead === 0) return utc;
  const offset = sign === "-" ? -ahead : ahead;
  return { name: offsetName(offset), offsetAt: () => offset };
}

function offsetName(offset: number): string {
  const ahead = Math.abs(offset);
  const parts = [Math.floor(ahead / 3600), Math.floor(ahead / 60) % 60];
  if (ahead % 60 !== 0) parts.push(ahead % 60);
  const digits = parts.map((part) => String(part).padStart(2, "0"));
  return `${offset < 0 ? "-" : "+"}${digits.join(":")}`;
}

/** Zones of the runtime's table by lower-case name, shared because each holds a costly formatter. */
const namedZones = new Map<string, Zone>();

function namedZone(name: string): Zone | undefined {
  // The runtime takes other spellings too; here only names of the IANA table count.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  const key = name.toLowerCase();
  const known = namedZones.get(key);
  if (known !== undefined) return known;
  const format = formatOf(name);
  if (format === undefined) return undefined;
  const zone = { name: format.resolvedOptions().timeZone, offsetAt: rememberedOffsets(format) };
  // The table bounds this: a name that is not in it never gets here.
  namedZones.set(key, zone);
  return zone;
}

/** Offsets by whole days where the clock did not change, else by hours, else by the second. */
function rememberedOffsets(format: Intl.DateTimeFormat): Zone["offsetAt"] {
  const byDay = rememberedSpans(format, daySeconds, sampleSeconds);
  const byHour = rememberedSpans(format, hourSeconds, hourSeconds);
  return (unixSeconds) => byDay(unixSeconds) ?? byHour(unixSeconds) ?? measure(format, unixSeconds);
}

/** The offset of the span of time around an instant; undefined when samples within it differ. */
function rememberedSpans(format: Intl.DateTimeFormat, spanSeconds: number, stepSeconds: number) {
  const spans = new Map<number, number | undefined>();
  return (unixSeconds: number): number | undefined => {
    const span = Math.floor(unixSeconds / spanSeconds);
    const known = spans.get(span);
    if (known !== undefined || spans.has(span)) return known;
    if (spans.size >= cachedMax) spans.clear();
    const offset = constantOffset(format, span * spanSeconds, [spanSeconds, stepSeconds]);
    spans.set(span, offset);
    return offset;
  };
}

function constantOffset(
  format: Intl.DateTimeFormat,
  start: number,
  [length, step]: readonly [number, number],
): number | undefined {
  const first = measure(format, start);
  for (let at = step; at < length; at += step) {
    if (measure(format, start + at) !== first) return undefined;
  }
  return measure(format, start + length - 1) === first ? first : undefined;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      // The only calendar of the runtime that counts far years as the neutral dates do.
      calendar: "gregory",
      numberingSystem: "latn",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
    });
  } catch {
    return undefined;
  }
}

/** Reads the clock of the zone at the instant and compares it with UTC. */
function measure(format: Intl.DateTimeFormat, unixSeconds: number): number {
  const bounded = Math.min(unixSecondsMax, Math.max(-unixSecondsMax, unixSeconds));
  const shown = new Map<string, string>();
  for (const part of format.formatToParts(bounded * 1000)) shown.set(part.type, part.value);
  const read = (part: string) => Number(shown.get(part));
  const year = (shown.get("era") ?? "").startsWith("B") ? 1 - read("year") : read("year");
  const local = new Date(0);
  local.setUTCFullYear(year, read("month") - 1, read("day"));
  local.setUTCHours(read("hour"), read("minute"), read("second"));
  return local.getTime() / 1000 - bounded;
}
