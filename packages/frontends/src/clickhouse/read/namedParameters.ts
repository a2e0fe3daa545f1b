/**
 * `{name:Type}` in a text, for engines that know numbered parameters only: each becomes `$1`, `$2`, … with a value of
 * its type. A ClickHouse server reads them itself.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  openSql,
  tokenText,
  type SqlCursor,
  type TokenKind,
} from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { parseText } from "@gateway/core/type/parse.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";

/** A text with numbered places. */
export interface Numbered {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** Refuses with `query.parameters`, `query.data` or, for a type that has no neutral one, `query.unsupported`. */
export function numberedParameters(
  sql: string,
  given: readonly (readonly [string, string])[],
): Result<Numbered, GatewayError> {
  const values = new Map(given);
  const parameters: Parameter[] = [];
  const numbers = new Map<string, number>();
  const cursor = openSql(sql, "clickhouse");
  let text = "";
  let from = 0;
  while (nextSignificant(cursor)) {
    if (cursor.kind !== "open" || sql[cursor.start] !== "{") continue;
    const place = placeAt(cursor);
    if (place === undefined) continue;
    const key = `${place.name}:${place.type}`;
    let number = numbers.get(key);
    if (number === undefined) {
      const parameter = parameterOf(place, values.get(place.name));
      if (!parameter.ok) return parameter;
      number = parameters.push(parameter.value);
      numbers.set(key, number);
    }
    text += `${sql.slice(from, place.start)}$${number}`;
    from = place.end;
  }
  return ok({ sql: text + sql.slice(from), parameters });
}

interface Place {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** The place that a curly bracket opens; undefined where it opens a map. The cursor is then somewhere inside. */
function placeAt(cursor: SqlCursor): Place | undefined {
  const { start } = cursor;
  const name = nextText(cursor, "word");
  if (name === undefined || nextText(cursor, "operator") !== ":") return undefined;
  const typeStart = cursor.end;
  for (let depth = 1; nextSignificant(cursor);) {
    depth += deeperBy(cursor);
    if (depth > 0) continue;
    const type = cursor.sql.slice(typeStart, cursor.start).trim();
    return { name, type, start, end: cursor.end };
  }
  return undefined;
}

function nextText(cursor: SqlCursor, kind: TokenKind): string | undefined {
  return nextSignificant(cursor) && cursor.kind === kind ? tokenText(cursor) : undefined;
}

function deeperBy({ kind }: SqlCursor): number {
  if (kind === "open") return 1;
  return kind === "close" ? -1 : 0;
}

function parameterOf(place: Place, field: string | undefined): Result<Parameter, GatewayError> {
  const { name, type: written } = place;
  if (field === undefined) {
    const message = `Substitution ${name.slice(0, 100)} is not set`;
    return err(gatewayError("query.parameters", { message }));
  }
  const type = neutralType(written);
  if (type === undefined) {
    const message = `a parameter of type ${written.slice(0, 100)} goes to a ClickHouse cluster only`;
    return err(gatewayError("query.unsupported", { message }));
  }
  const text = unescaped(field);
  if (text === null) return ok({ type, value: null });
  const value = parseText(type, text);
  return value.ok ? ok({ type, value: value.value }) : value;
}

function neutralType(written: string): DataType | undefined {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(written)?.[1];
  if (inner !== undefined) return neutralType(inner.trim());
  const integer = /^(U?)Int(8|16|32|64|128)$/.exec(written);
  if (integer !== null) {
    const bits = Number(integer[2]) as 8 | 16 | 32 | 64 | 128;
    return { kind: "integer", bits, signed: integer[1] === "" };
  }
  const decimal = /^Decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/.exec(written);
  if (decimal !== null) return decimalType(Number(decimal[1]), Number(decimal[2]));
  const zoned = /^DateTime(?:64\(\s*([0369])\s*(?:,\s*'UTC'\s*)?\))?$/.exec(written);
  if (zoned !== null) {
    const unit = ({ 0: "s", 3: "ms", 6: "us", 9: "ns" } as const)[zoned[1] ?? "0"];
    return unit === undefined ? undefined : { kind: "timestamp", unit, zoned: false };
  }
  return plainTypes.get(written);
}

function decimalType(precision: number, scale: number): DataType | undefined {
  const fits = precision >= 1 && precision <= 38 && scale <= precision;
  return fits ? { kind: "decimal", precision, scale } : undefined;
}

const plainTypes: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ["String", { kind: "text" }],
  ["Bool", { kind: "boolean" }],
  ["Float32", { kind: "float", bits: 32 }],
  ["Float64", { kind: "float", bits: 64 }],
  ["Date", { kind: "date" }],
  ["Date32", { kind: "date" }],
  ["UUID", { kind: "uuid" }],
]);

const letters: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  r: "\r",
  n: "\n",
  t: "\t",
  0: "\0",
};

/** A value travels as a field of tab-separated text; `\N` is NULL. */
function unescaped(field: string): string | null {
  if (field === "\\N") return null;
  return field.replaceAll(/\\([\s\S])/g, (_all, letter: string) => letters[letter] ?? letter);
}
