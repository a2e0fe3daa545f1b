/** Parameters of a statement: as literals to run it, as `?` to describe it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  findPlaceholders,
  placeholdersReading,
  rewritePlaceholders,
  type Placeholders,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { literalOf } from "./quote.ts";

/**
 * The text with a literal in every place. StarRocks prepares queries only, and answers them in a binary
 * form that no client but MySQL's own could be given as it is; a literal goes everywhere.
 */
export function withLiterals(
  sql: string,
  parameters: readonly Parameter[],
): Result<string, GatewayError> {
  const found = placesOf(sql);
  if (!found.ok) return found;
  const { placeholders, count } = found.value;
  if (count !== parameters.length) {
    const message = `the statement has ${count} parameters, not ${parameters.length}`;
    return err(gatewayError("query.parameters", { message }));
  }
  let text = "";
  let from = 0;
  for (const place of placeholders) {
    const parameter = parameters[place.index - 1];
    const literal = parameter === undefined ? undefined : literalAt(sql, place.start, parameter);
    if (literal === undefined) {
      const message = `parameter ${place.index} is of a type or value that has no literal here`;
      return err(gatewayError("query.unsupported", { message }));
    }
    text += `${sql.slice(from, place.start)}${literal}`;
    from = place.end;
  }
  return ok(text + sql.slice(from));
}

/** Behind LIMIT and OFFSET there is no place for anything but digits, whatever type the client bound them as. */
function literalAt(sql: string, start: number, parameter: Parameter): string | undefined {
  const { value } = parameter;
  const before = sql.slice(Math.max(0, start - limitTextMax), start);
  if (!behindLimit.test(before)) return literalOf(parameter);
  const digits = typeof value === "number" || typeof value === "string" ? String(value) : "";
  return /^\d{1,20}$/.test(digits) ? digits : literalOf(parameter);
}

const behindLimit = /\b(?:limit|offset)\s+$|\blimit\s+(?:\d+|\$\d+)\s*,\s*$/i;
/** Longer than a LIMIT with its first number. */
const limitTextMax = 64;

/** The text with `?` in every place, and how many parameters the client's text has. */
export function withQuestions(
  sql: string,
): Result<
  { readonly sql: string; readonly order: readonly number[]; readonly count: number },
  GatewayError
> {
  const found = placesOf(sql);
  if (!found.ok) return found;
  return ok({ ...rewritePlaceholders(found.value, "question"), count: found.value.count });
}

const placeForms = ["dollarNumber"] as const;

/** Reads the places of a long text in steps. */
export function placesAhead(sql: string): Steps<void> {
  return placeholdersReading("mysql", placeForms).ahead(sql);
}

function placesOf(sql: string): Result<Placeholders, GatewayError> {
  const found = findPlaceholders(sql, "mysql", placeForms);
  if (found.ok) return found;
  const broken = found.error.code === "unterminated";
  return err(gatewayError(broken ? "query.syntax" : "query.parameters"));
}
