/**
 * The lines of a head that came before, without what they said of who asks: a client sends the same ones with every
 * request, and where the bytes are the same so is what they say. What differs between requests is read from its own place,
 * and where anything else differs the head is read in full. No credential is kept, in whatever header it may stand: a
 * head is known only where all of its names are in the lists below.
 */

/** A name with the colon behind it, and in lower case. */
export interface KnownName {
  readonly sent: string;
  readonly name: string;
  readonly lower: string;
}

/** What is read of the lines. */
export interface ReadLines {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
  /** Behind the empty line. */
  readonly end: number;
}

/** Each request says its own. */
const own: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "x-clickhouse-key",
  "x-clickhouse-user",
  "x-trino-user",
]);

/** The same for all requests of a client, and no secret. */
const shared: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-type",
  "host",
  "user-agent",
  "x-clickhouse-database",
  "x-clickhouse-format",
  "x-trino-client-capabilities",
  "x-trino-source",
]);

const bytesMax = 1024;
/** Connections of the same clients share theirs. */
const heads = new Map<string, KnownHead>();
const headsMax = 64;

const emptyLine = "\r\n";
const [blank, cr, highest] = [0x20, 0x0d, 0x7e];
const [zero, nine] = [0x30, 0x39];
const digitsMax = 9;

/** Undefined for lines that are not to be kept, or have other names. They stand in `text` from `from` to its end, and were read without a fault. */
export function knownHeadOf(
  text: string,
  from: number,
  names: readonly KnownName[],
): KnownHead | undefined {
  if (text.length - from > bytesMax) return undefined;
  const values: (string | undefined)[] = [];
  const parts: string[] = [];
  let part = from;
  let at = from;
  for (const { sent, lower } of names) {
    if (!text.startsWith(sent, at)) return undefined;
    const end = text.indexOf("\r\n", at);
    let first = at + sent.length;
    while (text.charCodeAt(first) === blank) first += 1;
    if (own.has(lower)) {
      parts.push(text.slice(part, first));
      values.push(undefined);
      part = first + text.slice(first, end).trimEnd().length;
    } else if (shared.has(lower)) {
      values.push(copied(text.slice(first, end).trimEnd()));
    } else {
      return undefined;
    }
    at = end + 2;
  }
  if (at !== text.length) return undefined;
  parts.push(text.slice(part) + emptyLine);
  // Between them what no line holds, so that different heads have different keys.
  const key = copied(parts.join("\0"));
  const known = heads.get(key) ?? new KnownHead(names, values, parts);
  if (heads.size >= headsMax) heads.clear();
  heads.set(key, known);
  return known;
}

export class KnownHead {
  readonly #names: readonly KnownName[];
  /** Undefined where each request says its own. */
  readonly #values: readonly (string | undefined)[];
  /** Bytes before each of those, and behind the last one. */
  readonly #parts: readonly Uint8Array[];

  constructor(
    names: readonly KnownName[],
    values: readonly (string | undefined)[],
    parts: readonly string[],
  ) {
    this.#names = names;
    this.#values = values;
    this.#parts = parts.map((part) => Buffer.from(part, "latin1"));
  }

  /** All that is kept of a client's bytes. */
  get kept(): readonly string[] {
    const parts = this.#parts.map((part) => Buffer.from(part).toString("latin1"));
    return [...parts, ...this.#values.filter((value) => value !== undefined)];
  }

  /** Undefined where the bytes from `from` on are other lines. */
  read(bytes: Buffer, from: number): ReadLines | undefined {
    const names = this.#names;
    const headers: Record<string, string> = {};
    const rawHeaders: string[] = [];
    let bodyBytes = 0;
    let part = 0;
    let at = from;
    for (let index = 0; index < names.length; index += 1) {
      const one = names[index];
      if (one === undefined) return undefined;
      let value = this.#values[index];
      if (value === undefined) {
        at = behind(this.#parts[part], bytes, at);
        const end = at < 0 ? at : endOfValue(bytes, at);
        if (end < 0) return undefined;
        if (one.lower === "content-length") bodyBytes = numberIn(bytes, at, end);
        value = bytes.toString("latin1", at, end);
        part += 1;
        at = end;
      }
      headers[one.lower] = value;
      rawHeaders.push(one.name, value);
    }
    const end = behind(this.#parts[part], bytes, at);
    return end < 0 || bodyBytes < 0 ? undefined : { headers, rawHeaders, bodyBytes, end };
  }
}

/** The place behind a part that stands at `at`, or -1 where another text does. */
function behind(part: Uint8Array | undefined, bytes: Uint8Array, at: number): number {
  if (part === undefined || at + part.length > bytes.length) return -1;
  for (let index = 0; index < part.length; index += 1) {
    if (bytes[at + index] !== part[index]) return -1;
  }
  return at + part.length;
}

/** Where a value ends that is printable ASCII without blanks around it; -1 for none, and for any other. */
function endOfValue(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === cr) {
      const isBare = at > from && bytes[from] !== blank && bytes[at - 1] !== blank;
      return isBare ? at : -1;
    }
    if (byte < blank || byte > highest) return -1;
  }
  return -1;
}

/** Digits only, and few of them; -1 for anything else. */
function numberIn(bytes: Uint8Array, from: number, end: number): number {
  if (end - from > digitsMax) return -1;
  let number = 0;
  for (let at = from; at < end; at += 1) {
    const digit = bytes[at] ?? 0;
    if (digit < zero || digit > nine) return -1;
    number = number * 10 + digit - zero;
  }
  return number;
}

/** A slice would keep the whole head that it was cut from, with the credential in it. */
export function copied(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
