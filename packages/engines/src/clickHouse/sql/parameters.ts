/** Parameters in ClickHouse's own form: `{p1:Int64}` in the text, the value beside it. No value is ever part of the text. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  findPlaceholders,
  placeholdersReading,
  type Placeholders,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import { cellWriter, postgresText } from "@gateway/core/type/text.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { quoteText } from "./quote.ts";

/** A text with its places written, and the values of its parameters by the name of their field. */
export interface Placed {
  readonly sql: string;
  readonly values: readonly (readonly [string, Uint8Array])[];
}

/** Longest values together; they travel in the address of the request, which the server bounds at a megabyte. */
const valueBytesMax = 500_000;

/** Refuses with `query.parameters`, `query.syntax` or `query.unsupported`. */
export function placeParameters(
  sql: string,
  parameters: readonly Parameter[],
): Result<Placed, GatewayError> {
  const found = placesIn(sql, parameters.length);
  if (!found.ok) return found;
  const values: (readonly [string, Uint8Array])[] = [];
  const names: string[] = [];
  let bytes = 0;
  for (const [index, parameter] of parameters.entries()) {
    const type = parameterType(parameter.type);
    if (type === undefined) {
      return err(
        gatewayError("query.unsupported", {
          message: `parameter ${index + 1} is of a type that ClickHouse has no parameters of`,
        }),
      );
    }
    const untyped = parameter.type.kind === "null";
    names.push(untyped ? "NULL" : `{p${index + 1}:${type}}`);
    if (untyped) continue;
    const value = valueText(parameter);
    bytes += value.length;
    if (bytes > valueBytesMax) {
      return err(
        gatewayError("query.parameters", {
          message: "the parameters are larger than a request may be",
        }),
      );
    }
    values.push([`param_p${index + 1}`, value]);
  }
  return ok({ sql: written(found.value, names), values });
}

/** What stands for parameters whose values are not known yet. */
export interface Unvalued {
  readonly sql: string;
  readonly types: readonly DataType[];
}

/**
 * The text with a NULL of its type in every place, for a description. An untyped parameter is text,
 * or with `untyped: "null"` a NULL of no type, for texts that take no other.
 */
export function withoutValues(
  sql: string,
  given: readonly Parameter[],
  untyped: "text" | "null",
): Result<Unvalued, GatewayError> {
  const found = placesIn(sql, undefined);
  if (!found.ok) return found;
  const types = Array.from({ length: found.value.count }, (_, index): DataType => {
    const type = given[index]?.type ?? { kind: "null" };
    return type.kind === "null" && untyped === "text" ? { kind: "text" } : type;
  });
  const names = types.map((type) => {
    const name = type.kind === "null" ? undefined : parameterType(type);
    return name === undefined ? "NULL" : `CAST(NULL, ${quoteText(name)})`;
  });
  return ok({ sql: written(found.value, names), types });
}

const placeForms = ["dollarNumber"] as const;

/** Reads the places of a long text in steps. */
export function placesAhead(sql: string): Steps<void> {
  return placeholdersReading("clickhouse", placeForms).ahead(sql);
}

function placesIn(sql: string, given: number | undefined): Result<Placeholders, GatewayError> {
  const found = findPlaceholders(sql, "clickhouse", placeForms);
  if (!found.ok) {
    const broken = found.error.code === "unterminated";
    return err(gatewayError(broken ? "query.syntax" : "query.parameters"));
  }
  if (given !== undefined && found.value.count !== given) {
    const message = `the statement has ${found.value.count} parameters, not ${given}`;
    return err(gatewayError("query.parameters", { message }));
  }
  return found;
}

function written({ sql, placeholders }: Placeholders, names: readonly string[]): string {
  let text = "";
  let from = 0;
  for (const place of placeholders) {
    text += `${sql.slice(from, place.start)}${names[place.index - 1] ?? ""}`;
    from = place.end;
  }
  return text + sql.slice(from);
}

/** ClickHouse's name of a parameter's type; undefined where it has none. NULL is a value of each. */
export function parameterType(type: DataType): string | undefined {
  switch (type.kind) {
    case "null":
      return "Nothing";
    case "boolean":
      return "Nullable(Bool)";
    case "integer":
      return `Nullable(${type.signed ? "Int" : "UInt"}${type.bits})`;
    case "float":
      return `Nullable(Float${type.bits})`;
    case "decimal":
      return `Nullable(Decimal(${type.precision}, ${type.scale}))`;
    case "text":
    case "json":
    case "binary":
    case "time":
      return "Nullable(String)";
    case "date":
      return "Nullable(Date32)";
    case "timestamp": {
      const digits = fractionDigits[type.unit];
      return `Nullable(DateTime64(${digits}${type.zoned ? ", 'UTC'" : ""}))`;
    }
    case "uuid":
      return "Nullable(UUID)";
    case "interval":
    case "list":
    case "struct":
    case "map":
      return undefined;
  }
}

const valueStyle: TextStyle = {
  ...postgresText,
  booleans: "true/false",
  binary: "raw",
  fraction: "fixed",
  zoneSuffix: "none",
  exponents: "ecmascript",
};

const nullText = Buffer.from("\\N");

/** The value as a field of tab-separated text, which is how ClickHouse reads parameters. */
function valueText({ type, value }: Parameter): Uint8Array {
  if (value === null) return nullText;
  const [vector] = batchOf([columnOf("p", type)], [[value]]).columns;
  if (vector === undefined) throw new Error("a batch without its column");
  const writer = cellWriter(vector, valueStyle);
  const bytes = new Uint8Array(writer.bound(0));
  return escaped(bytes.subarray(0, writer.write(bytes, 0, 0)));
}

const escapes = new Map([
  [0x5c, 0x5c],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0d, 0x72],
  [0x00, 0x30],
]);

function escaped(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length * 2);
  let end = 0;
  for (const byte of bytes) {
    const letter = escapes.get(byte);
    if (letter !== undefined) out[end++] = 0x5c;
    out[end++] = letter ?? byte;
  }
  return out.subarray(0, end);
}
