/** A client's statement as it is given to a driver: its tag before it, its places and values in the driver's form. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import { statementComment, taggedText } from "@gateway/core/query/tagText.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { openSql } from "@gateway/core/sql/lex/cursor.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import {
  findPlaceholders,
  placeholdersReading,
  rewritePlaceholders,
} from "@gateway/core/sql/rewrite/placeholders.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { Profile } from "../profile.ts";

export interface Written {
  readonly sql: string;
  readonly tag: string;
  /** The same with the client's tags behind it. */
  readonly shownTag: string;
  readonly parameters: readonly Parameter[];
  /** How many the statement has, given or not. */
  readonly places: number;
  /** Characters that stand before the client's own text. */
  readonly prefix: number;
  /** The client's own text, in which errors are placed. */
  readonly original: string;
}

/** Refuses places that can not be told apart. Another number of values than places is the caller's to refuse. */
export function writtenFor(
  { name, dialect, places }: Profile,
  query: Pick<Identified, "engineSql" | "parameters" | "slot" | "id" | "session">,
): Result<Written, GatewayError> {
  const tag = statementTag(query);
  const original = query.engineSql;
  // DuckDB's own tag is kept by RunningTags, and its guard has read exactly this text.
  const comment = name === "duckdb" ? "" : statementComment(query);
  const body = bodyOf({ name, dialect }, original);
  const found = findPlaceholders(body, dialect, placeForms);
  if (!found.ok) {
    // A text that ends in the middle of a string has no places; the engine says what is wrong with it.
    if (found.error.code !== "unterminated") {
      return err(gatewayError("query.parameters", { message: "the places can not be told apart" }));
    }
    return ok({
      sql: comment + body,
      tag,
      shownTag: taggedText(query),
      parameters: [],
      places: 0,
      prefix: comment.length,
      original,
    });
  }
  const { sql, order } =
    places === "question"
      ? rewritePlaceholders(found.value, "question")
      : { sql: body, order: query.parameters.map((_, index) => index + 1) };
  const parameters = order.flatMap((index) => query.parameters[index - 1] ?? []);
  const { count } = found.value;
  return ok({
    sql: comment + sql,
    tag,
    shownTag: taggedText(query),
    parameters,
    places: count,
    prefix: comment.length,
    original,
  });
}

/** Reads of a long text, in steps, what `writtenFor` asks of it. */
export function* writtenAhead(profile: Profile, sql: string): Steps<void> {
  if (profile.name !== "duckdb") yield* withoutSemicolon(profile.dialect).ahead(sql);
  yield* placeholdersReading(profile.dialect, placeForms).ahead(bodyOf(profile, sql));
}

const placeForms = ["dollarNumber"] as const;

function bodyOf({ name, dialect }: Pick<Profile, "name" | "dialect">, sql: string): string {
  return name === "duckdb" ? sql : withoutSemicolon(dialect)(sql);
}

/** Drivers put a query into brackets, where its last semicolon is an error; a comment behind it would hide the bracket. */
const withoutSemicolon = readingsBy(cutSemicolon);

function* cutSemicolon(sql: string, dialect: Dialect): Steps<string> {
  const cursor = openSql(sql, dialect);
  let end = sql.length;
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (cursor.kind === "semicolon") end = Math.min(end, cursor.start);
    else end = sql.length;
  }
  const text = sql.slice(0, end);
  // Only where a line comment may be open: some servers repeat the text where no line may end.
  return /(?:--|\/\/|#)[^\n]*$/.test(text) ? `${text}\n` : text;
}
