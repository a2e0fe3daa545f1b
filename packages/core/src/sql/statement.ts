/**
 * What the text of a statement says: read once, by whoever brings the text, and carried by its query.
 *
 * Later stages ask these fields and never the text. Only an engine reads a text again, in its own lexis.
 * A text that is written anew (`EXECUTE`, placeholders, another dialect) is another statement.
 */
import { classify, type StatementClass } from "./classify/classify.ts";
import type { Dialect } from "./dialect.ts";
import { readingsBy } from "./reading/reading.ts";
import type { Steps } from "./reading/steps.ts";
import { readSessionStatement } from "./session/session.ts";
import { noModes, type SessionStatement, type TransactionModes } from "./session/statement.ts";

/** A statement and what is known of it. Shared by all who bring the same text. */
export interface Statement extends StatementClass {
  readonly sql: string;
  /** What it asks of the session; undefined where it asks nothing, or is not understood to its last token. */
  readonly session: SessionStatement | undefined;
  /** What a BEGIN asks of its transaction; none for every other statement. */
  readonly modes: TransactionModes;
}

/** Reads a statement in its client's dialect; from memory if it came recently. Never throws. */
export function readStatement(sql: string, dialect: Dialect): Statement {
  return statementReading(dialect)(sql);
}

/** The statements of texts, by dialect. Long ones are read by `longText.ts`. */
export const statementReading = readingsBy(read);

function* read(sql: string, dialect: Dialect): Steps<Statement> {
  const found = yield* classify(sql, dialect);
  return statementOf(sql, found, readSessionStatement(sql, dialect));
}

/** The statement of a text that somebody else has walked. */
export function statementOf(
  sql: string,
  { kind, firstWord, tag, writes, doubt }: StatementClass,
  session: SessionStatement | undefined,
): Statement {
  const modes = session?.kind === "begin" ? session.modes : noModes;
  return { sql, kind, firstWord, tag, writes, doubt, session, modes };
}
