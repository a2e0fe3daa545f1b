/** A client's text with its parameters as the text Trino is sent. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  findPlaceholders,
  placeholdersReading,
  rewritePlaceholders,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import { readingOf } from "@gateway/core/sql/reading/reading.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { quoteText, quoteValue } from "./quote.ts";

/** One statement with question marks for its places. */
export interface Placed {
  readonly sql: string;
  /** For each question mark the parameter it takes, from 1. */
  readonly order: readonly number[];
  /** Number of parameters. */
  readonly count: number;
}

/** What is sent. */
export interface Sent {
  readonly sql: string;
  /** Units of the client's text before it; undefined when it is not the client's text and positions mean nothing. */
  readonly offset: number | undefined;
}

const placeForms = ["question", "dollarNumber"] as const;

/** The only statement of a text, with its places as Trino knows them. Refuses none and several. */
export const placedStatement = readingOf(place);

function* place(text: string): Steps<Result<Placed & Sent, GatewayError>> {
  const one = onlyStatement(text);
  if (!one.ok) return one;
  const { sql, offset } = one.value;
  if (!/[?$]/.test(sql)) return ok({ sql, order: [], count: 0, offset });
  // Clients of every protocol come here, so both `?` and `$1` are places.
  yield* placeholdersReading("generic", placeForms).ahead(sql);
  const found = findPlaceholders(sql, "generic", placeForms);
  if (!found.ok || found.value.count === 0) {
    // Text that only our lexer can not read is Trino's to judge.
    const mixed = !found.ok && found.error.code !== "unterminated";
    if (mixed) return err(gatewayError("query.parameters", { message: "places of several kinds" }));
    return ok({ sql, order: [], count: 0, offset });
  }
  const { sql: placed, order } = rewritePlaceholders(found.value, "question");
  return ok({ sql: placed, order, count: found.value.count, offset });
}

type Sending = Pick<Identified, "engineSql" | "parameters" | "session">;

/**
 * The statement as it is sent: as it is without values, otherwise through `EXECUTE IMMEDIATE`. What a client of
 * Trino's own wrote is Trino's to judge, also where it is no statement or several.
 */
export function sentStatement(query: Sending): Result<Sent, GatewayError> {
  const placed = placedFor(query);
  return placed.ok ? sentPlaced(placed.value, query.parameters) : placed;
}

/** The statement with its places, before its values come to them. */
export function placedFor({
  engineSql: text,
  parameters,
  session,
}: Sending): Result<Placed & Sent, GatewayError> {
  const asIs = parameters.length === 0 && session.frontend === "trinoHttp";
  return asIs ? ok({ sql: text, order: [], count: 0, offset: 0 }) : placedStatement(text);
}

/** The statement with its values. */
export function sentPlaced(
  { sql, order, count, offset }: Placed & Sent,
  parameters: readonly Parameter[],
): Result<Sent, GatewayError> {
  if (count !== parameters.length) {
    const message = `the statement has ${count} parameters, ${parameters.length} came`;
    return err(gatewayError("query.parameters", { message }));
  }
  if (count === 0) return ok({ sql, offset });
  const values: string[] = [];
  for (const index of order) {
    const parameter = parameters[index - 1];
    if (parameter === undefined) return err(gatewayError("query.parameters"));
    const { expression } = parameter;
    const literal = expression === undefined ? quoteValue(parameter) : ok(expression);
    if (!literal.ok) return literal;
    values.push(literal.value);
  }
  const sent = `EXECUTE IMMEDIATE ${quoteText(sql)} USING ${values.join(", ")}`;
  return ok({ sql: sent, offset: undefined });
}

function onlyStatement(text: string): Result<Sent & { readonly offset: number }, GatewayError> {
  const split = splitStatements(text, "trino", 2);
  if (!split.ok || split.value.length > 1) {
    const message = "one statement at a time; the text holds several";
    return err(gatewayError("query.unsupported", { message }));
  }
  const [only] = split.value;
  if (only === undefined) {
    return err(gatewayError("query.syntax", { message: "the text holds no statement" }));
  }
  return ok({ sql: text.slice(only.start, only.end), offset: only.start });
}
