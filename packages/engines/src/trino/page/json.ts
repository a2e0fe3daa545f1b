/**
 * Values of nested types out of a page's JSON, read by their type: `JSON.parse` would round numbers.
 *
 * Lists and rows are arrays, maps are objects whose keys are texts of the key's type.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseText } from "@gateway/core/type/parse.ts";
import type { DataType, Interval, Value } from "@gateway/core/type/type.ts";
import { wholeNumber } from "./floats.ts";
import { skipSpace, skipValue, textOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";

/** Deeper nesting is refused: the reader recurses. */
const depthMax = 64;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;

const broken = gatewayError("engine.broken", { detail: "rows that are not of their types" });

/** The value that a scalar's text stands for, as Trino writes it. */
export function scalarOf(type: DataType, text: string): Result<Value, GatewayError> {
  if (type.kind === "text" || type.kind === "json") return ok(text);
  if (type.kind === "binary") return ok(new Uint8Array(Buffer.from(text, "base64")));
  if (type.kind === "interval") return intervalOf(text);
  const value = parseText(type, text);
  // `1e2` is a whole number too, but no text of one.
  const whole = value.ok || type.kind !== "integer" ? undefined : wholeNumber(text);
  if (whole !== undefined && whole !== text) return scalarOf(type, whole);
  if (value.ok || value.error.sqlState === outOfRangeState) return value;
  return err(broken);
}

/** Numeric value out of range: Trino's value is right, and the neutral type does not hold it. */
const outOfRangeState = "22003";

/** `3 04:05:06.789` and `1-2`; a sign before them is that of all parts. */
function intervalOf(text: string): Result<Value, GatewayError> {
  const negative = text.startsWith("-");
  const value = parseText({ kind: "interval" }, negative ? text.slice(1) : text);
  if (!value.ok) return err(broken);
  return ok(negative ? negated(value.value) : value.value);
}

function negated(value: Value): Value {
  if (!isInterval(value)) return value;
  const { months, days, nanoseconds } = value;
  return { months: 0 - months, days: 0 - days, nanoseconds: -nanoseconds };
}

function isInterval(value: Value): value is Interval {
  return typeof value === "object" && value !== null && "months" in value;
}

/** Every row of a page as values. Fails when a value is not of its type, or the rows do not end where the span does. */
export function readRows(
  bytes: Uint8Array,
  { start, end }: Span,
  types: readonly DataType[],
): Result<readonly (readonly Value[])[], GatewayError> {
  const reader = new ValueReader(bytes, start);
  const row: DataType = { kind: "struct", fields: types.map((type) => ({ name: "", type })) };
  const rows = reader.value({ kind: "list", item: row }, 0);
  if (reader.problem !== undefined) return err(reader.problem);
  if (reader.at !== end || !Array.isArray(rows)) return err(broken);
  // A row that is NULL is no row.
  return rows.includes(null) ? err(broken) : ok(rows as readonly (readonly Value[])[]);
}

class ValueReader {
  at: number;
  problem: GatewayError | undefined;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  value(type: DataType, depth: number): Value {
    if (depth > depthMax) return this.#fail();
    this.at = skipSpace(this.#bytes, this.at);
    switch (this.#bytes[this.at]) {
      case 0x6e:
        return this.#null();
      case 0x5b:
        return this.#array(type, depth);
      case 0x7b:
        return this.#object(type, depth);
      default:
        return this.#scalar(type);
    }
  }

  #null(): null {
    const end = this.at + 4;
    if (textOfSpan(this.#bytes, { start: this.at, end }) !== "null") return this.#fail();
    this.at = end;
    return null;
  }

  #array(type: DataType, depth: number): Value {
    if (type.kind !== "list" && type.kind !== "struct") return this.#raw(type);
    const items: Value[] = [];
    this.#members(0x5d, () => {
      const item = type.kind === "list" ? type.item : type.fields[items.length]?.type;
      items.push(item === undefined ? this.#fail() : this.value(item, depth + 1));
    });
    const complete = type.kind === "list" || items.length === type.fields.length;
    return complete ? items : this.#fail();
  }

  #object(type: DataType, depth: number): Value {
    if (type.kind !== "map") return this.#raw(type);
    const pairs: Value[] = [];
    this.#members(0x7d, () => {
      const key = this.#scalar(type.key);
      this.at = skipSpace(this.#bytes, this.at);
      if (this.#bytes[this.at] !== colon) return void this.#fail();
      this.at += 1;
      pairs.push([key, this.value(type.value, depth + 1)]);
    });
    return pairs;
  }

  /** Reads what stands between the bracket here and `close`, divided by commas. */
  #members(close: number, read: () => void): void {
    this.at = skipSpace(this.#bytes, this.at + 1);
    if (this.#bytes[this.at] === close) {
      this.at += 1;
      return;
    }
    while (this.problem === undefined) {
      this.at = skipSpace(this.#bytes, this.at);
      read();
      this.at = skipSpace(this.#bytes, this.at);
      const byte = this.#bytes[this.at];
      this.at += 1;
      if (byte === close) return;
      if (byte !== comma) this.#fail();
    }
  }

  #scalar(type: DataType): Value {
    const span = this.#span();
    if (span === undefined) return null;
    const token = textOfSpan(this.#bytes, span);
    const text = this.#bytes[span.start] === quote ? stringOf(token) : token;
    if (text === undefined) return this.#fail();
    const value = scalarOf(type, text);
    if (value.ok) return value.value;
    this.problem ??= value.error;
    return null;
  }

  /** A type that is text here, and something else in JSON, is its JSON. */
  #raw(type: DataType): Value {
    const span = this.#span();
    if (span === undefined || type.kind !== "text") return this.#fail();
    return textOfSpan(this.#bytes, span);
  }

  #span(): Span | undefined {
    const start = this.at;
    const behind = skipValue(this.#bytes, start);
    // Behind a number or a word may stand blanks.
    let end = behind;
    while (end > start && (this.#bytes[end - 1] ?? 0) <= 0x20) end -= 1;
    if (end <= start) {
      this.#fail();
      return undefined;
    }
    this.at = behind;
    return { start, end };
  }

  #fail(): null {
    this.problem ??= broken;
    return null;
  }
}

function stringOf(token: string): string | undefined {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
