/**
 * Literals as typed values: what `EXECUTE … USING` hands over and what `SET SESSION` sets.
 *
 * Only literals are read, with a sign, a type name or a CAST around them, and arrays of them. Anything
 * that would have to be computed is refused, because the engine gets values and never text.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseText } from "@gateway/core/type/parse.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import type { TokenReader } from "./tokens.ts";

type Read<T> = Result<T, GatewayError>;

/** Arrays deeper than this are refused, so that a text of brackets can not exhaust the stack. */
const depthMax = 16;

/** The literals of a list, up to the end of the statement. */
export function readLiterals(reader: TokenReader): Read<readonly Parameter[]> {
  const literals: Parameter[] = [];
  do {
    const literal = readLiteral(reader);
    if (!literal.ok) return literal;
    literals.push(literal.value);
  } while (reader.mark(","));
  return reader.atEnd() ? ok(literals) : err(notLiteral(reader));
}

/** One literal. */
export function readLiteral(reader: TokenReader, depth = 0): Read<Parameter> {
  const { kind, text } = reader.peek();
  switch (kind) {
    case "string":
      return readString(reader);
    case "number":
      return readNumber(reader, "");
    case "operator":
      return readSigned(reader);
    case "word":
      return readWord(reader, text.toUpperCase(), depth);
    default:
      return err(notLiteral(reader));
  }
}

function readString(reader: TokenReader): Read<Parameter> {
  const { text } = reader.peek();
  if (/^x'/i.test(text)) return readHex(reader);
  const value = reader.string();
  return value === undefined ? err(notLiteral(reader)) : ok({ type: { kind: "text" }, value });
}

function readHex(reader: TokenReader): Read<Parameter> {
  const digits = reader.take().text.slice(2, -1).replaceAll(/\s/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) {
    return err(dataError("a binary literal must hold an even number of hexadecimal digits"));
  }
  return ok({ type: { kind: "binary" }, value: new Uint8Array(Buffer.from(digits, "hex")) });
}

function readSigned(reader: TokenReader): Read<Parameter> {
  const sign = reader.peek().text;
  if (sign !== "-" && sign !== "+") return err(notLiteral(reader));
  reader.take();
  if (reader.peek().kind !== "number") return err(notLiteral(reader));
  return readNumber(reader, sign === "-" ? "-" : "");
}

/** `1` is an integer, `1.5` a decimal and `1e0` a double, as in Trino. */
function readNumber(reader: TokenReader, sign: string): Read<Parameter> {
  const text = sign + reader.take().text.replaceAll("_", "");
  if (/^-?\d+$/.test(text)) return integer(BigInt(text));
  const parts = /^-?(\d*)\.(\d*)$/.exec(text);
  if (parts !== null) return decimal(text, parts[1] ?? "", parts[2] ?? "");
  const number = Number(text);
  if (!/e/i.test(text) || !Number.isFinite(number))
    return err(dataError(`Invalid number: ${text}`));
  return ok({ type: { kind: "float", bits: 64 }, value: number });
}

function integer(value: bigint): Read<Parameter> {
  for (const bits of [32, 64] as const) {
    if (BigInt.asIntN(bits, value) === value) {
      return ok({ type: { kind: "integer", bits, signed: true }, value });
    }
  }
  return err(dataError(`Invalid numeric literal: ${value}`));
}

function decimal(text: string, whole: string, fraction: string): Read<Parameter> {
  const scale = fraction.length;
  const precision = Math.max(whole.replace(/^0+/, "").length + scale, scale, 1);
  if (precision > 38) return err(dataError("a decimal has at most 38 digits"));
  const value = BigInt(text.replace(".", ""));
  return ok({ type: { kind: "decimal", precision, scale }, value });
}

function readWord(reader: TokenReader, word: string, depth: number): Read<Parameter> {
  switch (word) {
    case "NULL":
      reader.take();
      return ok({ type: { kind: "null" }, value: null });
    case "TRUE":
    case "FALSE":
      reader.take();
      return ok({ type: { kind: "boolean" }, value: word === "TRUE" });
    case "CAST":
      return readCast(reader, depth);
    case "ARRAY":
      return readArray(reader, depth);
    default:
      return readTyped(reader);
  }
}

/** `DATE '2024-01-02'`, `DECIMAL '1.5'`, `TIMESTAMP '… UTC'`. */
function readTyped(reader: TokenReader): Read<Parameter> {
  const type = readType(reader);
  const text = type === undefined ? undefined : reader.string();
  if (type === undefined || text === undefined) return err(notLiteral(reader));
  return valueOf(fitted(type, text), text);
}

/** Digits and zone of a literal's type come from its text where the client named none. */
function fitted(type: DataType, text: string): DataType {
  switch (type.kind) {
    case "timestamp": {
      const zoned = type.zoned || /[A-Za-z]|[+-]\d{1,2}(:?\d{2})?$/.test(text.slice(11));
      return { kind: "timestamp", unit: unitOf(text), zoned };
    }
    case "time":
      return { kind: "time", unit: unitOf(text) };
    case "decimal": {
      const [, whole = "", fraction = ""] = /^\s*[+-]?0*(\d*)\.?(\d*)\s*$/.exec(text) ?? [];
      const precision = Math.max(whole.length + fraction.length, 1);
      return { kind: "decimal", precision: Math.min(precision, 38), scale: fraction.length };
    }
    default:
      return type;
  }
}

function unitOf(text: string): "us" | "ns" {
  return fractionOf(text) > 6 ? "ns" : "us";
}

function readCast(reader: TokenReader, depth: number): Read<Parameter> {
  reader.take();
  if (!reader.mark("(")) return err(notLiteral(reader));
  const inner = readLiteral(reader, depth + 1);
  if (!inner.ok) return inner;
  const named = reader.word("AS") ? readNamed(reader) : undefined;
  if (named === undefined || !reader.mark(")")) return err(notLiteral(reader));
  const { type, numbers } = named;
  const text = literalText(inner.value);
  if (text === null) return ok({ type, value: null });
  if (text === undefined) return err(notLiteral(reader));
  if (isRounded(type, numbers, text)) return err(rounded);
  return valueOf(type, cut(type, numbers, text));
}

/** A text is cut at its type's length, as Trino's casts do. */
function cut({ kind }: DataType, [length]: readonly number[], text: string): string {
  if (kind !== "text" || length === undefined || text.length <= length) return text;
  return Array.from(text).slice(0, length).join("");
}

/** Whether a moment has more digits than its type. */
function isRounded({ kind }: DataType, [digits = 3]: readonly number[], text: string): boolean {
  return (kind === "time" || kind === "timestamp") && fractionOf(text) > digits;
}

const rounded: GatewayError = gatewayError("query.unsupported", {
  message: "A parameter is not rounded: its type needs as many digits as the value.",
});

function fractionOf(text: string): number {
  return /\.(\d+)/.exec(text)?.[1]?.length ?? 0;
}

/** A literal as the text that a cast reads; null for NULL, undefined where no cast from text exists. */
export function literalText({ type, value }: Parameter): string | null | undefined {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  if (typeof value !== "bigint") return undefined;
  if (type.kind !== "decimal") return type.kind === "integer" ? String(value) : undefined;
  const digits = String(value < 0n ? -value : value).padStart(type.scale + 1, "0");
  const whole = digits.slice(0, digits.length - type.scale);
  return `${value < 0n ? "-" : ""}${whole}.${digits.slice(whole.length)}`;
}

function readArray(reader: TokenReader, depth: number): Read<Parameter> {
  reader.take();
  if (!reader.mark("[") || depth >= depthMax) return err(notLiteral(reader));
  const items: Parameter[] = [];
  if (!reader.mark("]")) {
    do {
      const item = readLiteral(reader, depth + 1);
      if (!item.ok) return item;
      items.push(item.value);
    } while (reader.mark(","));
    if (!reader.mark("]")) return err(notLiteral(reader));
  }
  return arrayOf(items);
}

/** Items of one type, or NULL. */
function arrayOf(items: readonly Parameter[]): Read<Parameter> {
  const type = items.find((entry) => entry.type.kind !== "null")?.type ?? { kind: "null" };
  const same = JSON.stringify(type);
  const mixed = items.some(
    (entry) => entry.type.kind !== "null" && JSON.stringify(entry.type) !== same,
  );
  if (mixed) {
    return err(
      gatewayError("query.unsupported", {
        message: "The items of an array parameter must be literals of one type.",
      }),
    );
  }
  const value: readonly Value[] = items.map((entry) => entry.value);
  return ok({ type: { kind: "list", item: type }, value });
}

function valueOf(type: DataType, text: string): Read<Parameter> {
  // No engine here has a time of day with a zone, and without its zone it is another time.
  if (type.kind === "time" && /\d\s*[-+a-z]/i.test(text)) return err(zonedTime);
  const value = parseText(type, text);
  return value.ok ? ok({ type, value: value.value }) : value;
}

const zonedTime: GatewayError = gatewayError("query.unsupported", {
  message: "A time of day with a zone can not be a parameter for this engine.",
});

const plainTypes: Readonly<Record<string, DataType>> = {
  BOOLEAN: { kind: "boolean" },
  TINYINT: { kind: "integer", bits: 8, signed: true },
  SMALLINT: { kind: "integer", bits: 16, signed: true },
  INTEGER: { kind: "integer", bits: 32, signed: true },
  INT: { kind: "integer", bits: 32, signed: true },
  BIGINT: { kind: "integer", bits: 64, signed: true },
  REAL: { kind: "float", bits: 32 },
  DOUBLE: { kind: "float", bits: 64 },
  VARCHAR: { kind: "text" },
  CHAR: { kind: "text" },
  VARBINARY: { kind: "binary" },
  DATE: { kind: "date" },
  TIME: { kind: "time", unit: "us" },
  TIMESTAMP: { kind: "timestamp", unit: "us", zoned: false },
  UUID: { kind: "uuid" },
  JSON: { kind: "json" },
};

function readType(reader: TokenReader): DataType | undefined {
  return readNamed(reader)?.type;
}

/** A type's name with its arguments; undefined for one that no literal has. */
function readNamed(
  reader: TokenReader,
): { readonly type: DataType; readonly numbers: readonly number[] } | undefined {
  const word = reader.take().text.toUpperCase();
  const numbers = readNumbers(reader);
  const type = numbers === undefined ? undefined : typeOf(word, numbers, reader);
  return numbers === undefined || type === undefined ? undefined : { type, numbers };
}

function typeOf(
  word: string,
  numbers: readonly number[],
  reader: TokenReader,
): DataType | undefined {
  if (word === "DECIMAL") {
    const [precision = 38, scale = 0] = numbers;
    const fits = precision >= 1 && precision <= 38 && scale <= precision;
    return fits ? { kind: "decimal", precision, scale } : undefined;
  }
  // `DOUBLE PRECISION` is its other spelling.
  if (word === "DOUBLE") reader.word("PRECISION");
  const type = Object.hasOwn(plainTypes, word) ? plainTypes[word] : undefined;
  if (type?.kind !== "timestamp") return type;
  const zoned = reader.words("WITH", "TIME", "ZONE");
  return { ...type, unit: (numbers[0] ?? 3) > 6 ? "ns" : "us", zoned };
}

/** `(12, 2)` as numbers, nothing as an empty list; undefined for anything else in round brackets. */
function readNumbers(reader: TokenReader): readonly number[] | undefined {
  if (!reader.mark("(")) return [];
  const numbers: number[] = [];
  do {
    const { text } = reader.take();
    if (!/^\d{1,10}$/.test(text)) return undefined;
    numbers.push(Number(text));
  } while (reader.mark(","));
  return reader.mark(")") ? numbers : undefined;
}

function notLiteral(reader: TokenReader): GatewayError {
  const near = reader.peek().text.slice(0, 40);
  const where = near === "" ? "at the end of the statement" : `near ${near}`;
  return gatewayError("query.unsupported", {
    message: `Only literals may stand here; ${where} is something else.`,
  });
}

function dataError(message: string): GatewayError {
  return gatewayError("query.data", { message });
}
