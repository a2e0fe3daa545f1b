/**
 * Trino's literals as a Trino answers them: the name of the type, and the value as JSON. A reader of its
 * own, so that what the engine's quoting writes is understood by somebody who did not write it.
 */

export interface Literal {
  readonly type: string;
  readonly json: string;
}

/** Literals divided by commas. Throws on anything that is none. */
export function readLiterals(text: string): readonly Literal[] {
  const reader = new LiteralReader(text);
  const found = [reader.value()];
  while (reader.take(/,\s*/y) !== undefined) found.push(reader.value());
  if (!reader.atEnd()) throw new SyntaxError(`behind the literals: ${text}`);
  return found;
}

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }

  value(): Literal {
    if (this.take(/CAST\(/y) !== undefined) return this.#cast();
    if (this.take(/NULL/y) !== undefined) return { type: "unknown", json: "null" };
    const word = this.take(/(true|false)/y)?.[1];
    if (word !== undefined) return { type: "boolean", json: word };
    if (this.take(/ARRAY\[/y) !== undefined) return this.#list("array", /\]/y);
    if (this.take(/ROW\(/y) !== undefined) return this.#list("row", /\)/y);
    if (this.take(/MAP\(/y) !== undefined) return this.#map();
    const interval = this.take(/INTERVAL (-?)'([^']*)' (MONTH|SECOND)/y);
    if (interval !== null && interval !== undefined) return intervalOf(interval);
    const bytes = this.take(/X'([0-9a-fA-F]*)'/y)?.[1];
    if (bytes !== undefined) {
      return { type: "varbinary", json: quoted(Buffer.from(bytes, "hex").toString("base64")) };
    }
    const kind = this.take(/(JSON|UUID) /y)?.[1];
    const text = this.#string();
    return { type: kind?.toLowerCase() ?? `varchar(${text.length})`, json: quoted(text) };
  }

  #string(): string {
    const inner = this.take(/'((?:[^']|'')*)'/y)?.[1];
    if (inner === undefined) throw new SyntaxError(`no literal at ${this.#text.slice(this.#at)}`);
    return inner.replaceAll("''", "'");
  }

  #cast(): Literal {
    const inner = this.value();
    this.#expect(/ AS /y);
    const from = this.#at;
    let depth = 0;
    for (; depth > 0 || this.#text[this.#at] !== ")"; this.#at += 1) {
      if (this.atEnd()) throw new SyntaxError("a cast without its end");
      if (this.#text[this.#at] === "(") depth += 1;
      if (this.#text[this.#at] === ")") depth -= 1;
    }
    const type = this.#text.slice(from, this.#at);
    this.#at += 1;
    return { type, json: castOf(inner.json, type) };
  }

  #list(type: string, end: RegExp): Literal {
    const items: string[] = [];
    while (this.take(end) === undefined) {
      if (items.length > 0) this.#expect(/, /y);
      items.push(this.value().json);
    }
    return { type, json: `[${items.join(",")}]` };
  }

  #map(): Literal {
    this.#expect(/ARRAY\[/y);
    const keys = this.#items();
    this.#expect(/, ARRAY\[/y);
    const values = this.#items();
    this.#expect(/\)/y);
    const pairs = keys.map((key, index) => `${asKey(key)}:${values[index] ?? "null"}`);
    return { type: "map", json: `{${pairs.join(",")}}` };
  }

  #items(): readonly string[] {
    const items: string[] = [];
    while (this.take(/\]/y) === undefined) {
      if (items.length > 0) this.#expect(/, /y);
      items.push(this.value().json);
    }
    return items;
  }

  #expect(pattern: RegExp): void {
    if (this.take(pattern) === undefined) {
      throw new SyntaxError(`no ${pattern.source} at ${this.#text.slice(this.#at)}`);
    }
  }
}

function asKey(json: string): string {
  return json.startsWith('"') ? json : quoted(json);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Numbers of JSON are bare; everything else of a scalar stays a string. */
function castOf(json: string, type: string): string {
  if (json === "null" || !json.startsWith('"')) return json;
  const text = JSON.parse(json) as string;
  if (/^(tinyint|smallint|integer|bigint|boolean)$/.test(type)) return text;
  if (type === "real" || type === "double") return floatOf(Number(text));
  return json;
}

/** As Java prints floats. */
function floatOf(value: number): string {
  if (!Number.isFinite(value)) return quoted(String(value));
  if (Object.is(value, -0)) return "-0.0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value !== 0 && (power < -3 || power >= 7)) {
    return `${digits.includes(".") ? digits : `${digits}.0`}E${power}`;
  }
  const plain = String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

function intervalOf([, sign = "", amount = "", unit = ""]: RegExpExecArray): Literal {
  if (unit === "MONTH") {
    const months = Number(amount);
    const text = `${sign}${Math.floor(months / 12)}-${months % 12}`;
    return { type: "INTERVAL YEAR TO MONTH", json: quoted(text) };
  }
  const [whole = "0", fraction = "000"] = amount.split(".");
  const seconds = Number(whole);
  const two = (part: number): string => String(part).padStart(2, "0");
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  const text = `${sign}${Math.floor(seconds / 86_400)} ${clock.map(two).join(":")}.${fraction}`;
  return { type: "INTERVAL DAY TO SECOND", json: quoted(text) };
}
