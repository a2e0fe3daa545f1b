/** Whether a text that somebody wrote in the place of a client's does what the client's does, as far as words tell. */
import type { Dialect } from "../sql/dialect.ts";
import { splitStatements } from "../sql/lex/split.ts";
import { findPlaceholders } from "../sql/rewrite/placeholders.ts";
import { readStatement } from "../sql/statement.ts";
import { onlyReads } from "./kinds.ts";

/** In which dialects the texts stand, and how the client's placeholders are found. */
export interface ChangedDialects {
  readonly texts: Dialect;
  readonly placeholders: Dialect;
}

/** What is wrong with the new text ("wrote …", "changed …"); undefined where it may take the old one's place. */
export function wrongIn(
  before: string,
  after: string,
  { texts, placeholders }: ChangedDialects,
): string | undefined {
  return differenceOf(before, after, texts) ?? unboundBy(placeholders, before, after);
}

function differenceOf(before: string, after: string, dialect: Dialect): string | undefined {
  const slices = splitStatements(after, dialect, 1);
  if (!slices.ok || slices.value.length !== 1) return "wrote more than one statement, or none";
  const was = readStatement(before, dialect);
  const is = readStatement(after, dialect);
  if (is.doubt !== undefined && was.doubt === undefined) {
    return "wrote a text that engines may read in different ways";
  }
  if (is.kind !== was.kind) return `wrote a statement of another kind (${is.kind})`;
  if (onlyReads(was) && !onlyReads(is)) return "wrote a statement that may write";
  return undefined;
}

/** Values go to the engine as they came, by number or in order. A description comes before its values, so texts are compared without. */
function unboundBy(dialect: Dialect, before: string, after: string): string | undefined {
  const was = takenBy(before, dialect);
  if (was !== undefined && was === takenBy(after, dialect)) return undefined;
  return "changed the parameters of the statement or their order";
}

/** Which parameters a text takes, in its order; undefined where they can not be told apart. */
function takenBy(sql: string, dialect: Dialect): string | undefined {
  const found = findPlaceholders(sql, dialect);
  if (!found.ok) return undefined;
  const { placeholders, names } = found.value;
  return JSON.stringify([placeholders.map(({ index }) => index), names]);
}
