/**
 * Turns the text of a parameter or literal into its value, exactly, or refuses it.
 *
 * It reads what PostgreSQL and ISO 8601 write. It is no SQL parser and never rounds a digit away: a text with
 * more digits than the type holds is refused, except for floats, which are approximate by nature.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import { err, ok, type Result } from "../result.ts";
import { typeName } from "./name.ts";
import { parseInterval } from "./parse/interval.ts";
import { parseNested } from "./parse/nested.ts";
import { parseDecimal, parseFloatText, parseInteger } from "./parse/number.ts";
import { outOfRange, wrongText, type Parsed } from "./parse/parsed.ts";
import { parseDate, parseTime, parseTimestamp } from "./parse/time.ts";
import type { DataType, Value } from "./type.ts";
import { utc, type Zone } from "./zone.ts";

/** The text is no value of the type (SQLSTATE of PostgreSQL: invalid text representation). */
const wrongTextState = "22P02";
/** The text is a value, but the type does not hold it (numeric value out of range). */
const outOfRangeState = "22003";

/**
 * The value of a text. `zone` applies to a text without a zone when the type has one; a zone in the text of
 * a type without one is ignored, as PostgreSQL does.
 *
 * Refuses with `query.data`, the SQLSTATE of the reason, and a message without the text.
 */
export function parseText(
  type: DataType,
  text: string,
  zone: Zone = utc,
): Result<Value, GatewayError> {
  const parsed = parseValue(type, text, zone);
  if (parsed === wrongText) {
    const message = `The text is not a valid ${typeName(type)}.`;
    return err(gatewayError("query.data", { message, sqlState: wrongTextState }));
  }
  if (parsed === outOfRange) {
    const message = `The value does not fit ${typeName(type)}.`;
    return err(gatewayError("query.data", { message, sqlState: outOfRangeState }));
  }
  return ok(parsed);
}

/** Longest text of a value that is not text itself. Longer ones are refused unread: reading them is not linear. */
const scalarTextMax = 1000;
const unboundedKinds = new Set<DataType["kind"]>([
  "text",
  "binary",
  "json",
  "list",
  "struct",
  "map",
]);

function parseValue(type: DataType, text: string, zone: Zone): Parsed<Value> {
  if (text.length > scalarTextMax && !unboundedKinds.has(type.kind)) return wrongText;
  switch (type.kind) {
    case "null":
      return wrongText;
    case "boolean":
      return parseBoolean(text);
    case "integer":
      return parseInteger(text, type.bits, type.signed);
    case "float":
      return parseFloatText(text, type.bits);
    case "decimal":
      return parseDecimal(text, type.precision, type.scale);
    case "text":
      return text;
    case "binary":
      return parseBinary(text);
    case "date":
      return parseDate(text);
    case "time":
      return parseTime(text, type.unit);
    case "timestamp":
      return parseTimestamp(text, type, zone);
    case "interval":
      return parseInterval(text);
    case "uuid":
      return parseUuid(text);
    case "json":
      return parseJson(text);
    case "list":
    case "struct":
    case "map":
      return parseNested(type, text, (part, partText) => parseValue(part, partText, zone));
  }
}

const booleans = new Map<string, boolean>([
  ["t", true],
  ["true", true],
  ["y", true],
  ["yes", true],
  ["on", true],
  ["1", true],
  ["f", false],
  ["false", false],
  ["n", false],
  ["no", false],
  ["off", false],
  ["0", false],
]);

function parseBoolean(text: string): Parsed<boolean> {
  return booleans.get(text.trim().toLowerCase()) ?? wrongText;
}

const encoder = new TextEncoder();

/** `\x` and hexadecimal digits, or the bytes of the text with PostgreSQL's escapes (`\\`, `\001`). */
function parseBinary(text: string): Parsed<Uint8Array> {
  if (text.startsWith("\\x")) return parseHex(text.slice(2));
  if (!text.includes("\\")) return encoder.encode(text);
  return parseEscapedBytes(text);
}

function parseHex(digits: string): Parsed<Uint8Array> {
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return wrongText;
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

function parseEscapedBytes(text: string): Parsed<Uint8Array> {
  const bytes = new Uint8Array(encoder.encode(text).length);
  let end = 0;
  for (const part of text.split(/(\\\\|\\[0-3][0-7]{2})/)) {
    if (part.length === 4 && part.startsWith("\\") && part !== "\\\\") {
      bytes[end] = Number.parseInt(part.slice(1), 8);
      end += 1;
      continue;
    }
    if (part !== "\\\\" && part.includes("\\")) return wrongText;
    const plain = part === "\\\\" ? "\\" : part;
    end += encoder.encodeInto(plain, bytes.subarray(end)).written;
  }
  return bytes.slice(0, end);
}

/** 32 hexadecimal digits, with hyphens where they belong or anywhere between groups of four, with or without braces. */
function parseUuid(text: string): Parsed<string> {
  const inner = /^\{(.*)\}$/.exec(text.trim())?.[1] ?? text.trim();
  if (!/^(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}$/i.test(inner)) return wrongText;
  const digits = inner.replaceAll("-", "").toLowerCase();
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => digits.slice(cuts[index], end))
    .join("-");
}

/** Checks the text and keeps it as it is, so that no number in it loses a digit. */
function parseJson(text: string): Parsed<string> {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return wrongText;
  }
}
