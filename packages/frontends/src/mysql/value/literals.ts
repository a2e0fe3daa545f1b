/**
 * Values of a prepared SET as literals in its text. The gateway answers a SET from its text alone, so the values of an
 * execution become a part of it before it is read; what is read then is all that is judged and run.
 */
import type { Placeholder } from "@gateway/core/sql/rewrite/placeholders.ts";
import type { BoundValue } from "@gateway/wire/mysql/execute.ts";

/** The text with a literal at each place; undefined where a value has none that every reader reads the same. */
export function withLiterals(
  source: string,
  places: readonly Placeholder[],
  values: readonly BoundValue[],
  decode: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  let text = "";
  let at = 0;
  for (const { start, end, index } of places) {
    const value = values[index - 1];
    const literal = value && literalOf(value, decode);
    if (literal === undefined) return undefined;
    text += source.slice(at, start) + literal;
    at = end;
  }
  return text + source.slice(at);
}

function literalOf(
  value: BoundValue,
  decode: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  switch (value.kind) {
    case "null":
      return "NULL";
    case "integer":
      return String(value.value);
    case "float":
      return Number.isFinite(value.value) ? String(value.value) : undefined;
    case "bytes": {
      const text = decode(value.value);
      // What a backslash means is the mode's decision, so none goes into a text.
      return text === undefined || text.includes("\\")
        ? undefined
        : `'${text.replaceAll("'", "''")}'`;
    }
    case "datetime":
    case "time":
      return undefined;
  }
}
