/**
 * The values of `USING` as the client wrote them, for an engine that speaks Trino's SQL: a zone, a type or a
 * function means there what it means to the client.
 *
 * Only where one ends and the next begins is read. A query among them is refused: it would run unseen by
 * whoever judged the statement by its text.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { TokenReader } from "./tokens.ts";

const opening: ReadonlySet<string> = new Set(["(", "["]);
const closing: ReadonlySet<string> = new Set([")", "]"]);
/** Words that a query within brackets begins with. */
const querying: ReadonlySet<string> = new Set(["SELECT", "WITH", "TABLE", "VALUES"]);

/** Kinds of the tokens behind the list; `whitespace` is the end of the text. */
const ends: ReadonlySet<string> = new Set(["semicolon", "whitespace"]);

/** The expressions of a list, up to the end of the statement. */
export function readExpressions(reader: TokenReader): Result<readonly Parameter[], GatewayError> {
  const found: Parameter[] = [];
  let text = "";
  let depth = 0;
  let last = "";
  while (!ends.has(reader.peek().kind)) {
    const from = reader.end;
    const { kind, text: token, end } = reader.take();
    if (last === "(" && kind === "word" && querying.has(token.toUpperCase())) return err(noQueries);
    if (depth === 0 && token === ",") {
      if (text === "") return err(syntax("a value is missing"));
      found.push(expressionOf(text));
      text = "";
      last = token;
      continue;
    }
    if (opening.has(token)) depth += 1;
    if (closing.has(token)) depth -= 1;
    if (depth < 0) return err(syntax("a bracket closes that none opened"));
    // What stands between two tokens, comments among it, is a blank.
    const apart = text !== "" && end - token.length > from;
    text += apart ? ` ${token}` : token;
    last = token;
  }
  if (!reader.atEnd()) return err(syntax("only one statement can be executed"));
  if (text === "" || depth > 0) return err(syntax("a value is missing"));
  found.push(expressionOf(text));
  return ok(found);
}

function expressionOf(expression: string): Parameter {
  return { type: { kind: "null" }, value: null, expression };
}

const noQueries = gatewayError("query.unsupported", {
  message: "A query can not be a value of USING.",
});

function syntax(message: string): GatewayError {
  return gatewayError("query.syntax", { message });
}
