/**
 * The allowed text as the engine reads it.
 *
 * A long text is written in slices, and read ahead for those who ask next: the engine's adapter and the record.
 */
import { abortError, type GatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import type { Host } from "../port/host.ts";
import { withSettings } from "../query/mysqlCall.ts";
import { err, type Result } from "../result.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readLongText } from "../sql/longText.ts";
import { literalReading } from "../sql/mask/literals.ts";
import { maskReading } from "../sql/mask/mask.ts";
import { longTextUnits } from "../sql/reading/reading.ts";
import { relex, relexSteps } from "../sql/rewrite/relex.ts";
import type { Steps } from "../sql/reading/steps.ts";
import { SignalledClient } from "../tool/canceller.ts";
import type { Translatable, Translation, Translator } from "./translator.ts";

export type EngineSql = Result<string, GatewayError>;

export interface Writing {
  readonly host: Host;
  readonly backend: Backend | undefined;
  readonly signal: AbortSignal;
  /** True when its record will hold the texts without their values. */
  readonly recordsMasked: boolean;
  /** Undefined where statements are sent in the client's own words. */
  readonly translator?: Translator | undefined;
}

/** What is written, and in whose lexis it stands. */
interface Asked extends Pick<Translatable, "sql" | "session" | "mysql"> {
  readonly text: string;
  readonly from: Dialect;
}

/** A promise only for a long text, and for one that is translated and not remembered. */
export function inWordsOf(query: Translatable, writing: Writing): EngineSql | Promise<EngineSql> {
  const { translator, backend, signal } = writing;
  if (translator === undefined) {
    const { allowedSql, session } = query;
    return allowedSql.length > longTextUnits
      ? inSlices(askedOf(query, undefined, writing), writing)
      : relex(allowedSql, session.dialect, backend?.dialect ?? "generic");
  }
  const found = translator.translated(query, backend?.dialect, signal);
  const finish = (made: Translation) =>
    made.ok ? inLexis(askedOf(query, made.value, writing), writing) : made;
  return found instanceof Promise ? found.then(finish) : finish(found);
}

/** A translated text stands in the engine's own lexis; without one it is the client's. */
function askedOf(query: Translatable, made: string | undefined, { backend }: Writing): Asked {
  const { sql, session, mysql, allowedSql } = query;
  if (made === undefined) return { sql, session, mysql, text: allowedSql, from: session.dialect };
  return { sql, session, mysql, text: made, from: backend?.dialect ?? "generic" };
}

function inLexis(asked: Asked, writing: Writing): EngineSql | Promise<EngineSql> {
  const { text, from } = asked;
  if (text.length > longTextUnits) return inSlices(asked, writing);
  return relex(text, from, writing.backend?.dialect ?? "generic");
}

async function inSlices(asked: Asked, writing: Writing): Promise<EngineSql> {
  const { host, signal } = writing;
  const client = new SignalledClient(signal);
  const steps = stepsOf(asked, writing);
  const { user } = asked.session.identity;
  const written = await host.slices.run({ steps, user, client });
  return written ?? err(abortError(signal));
}

function* stepsOf(
  { sql, text, from, session, mysql }: Asked,
  { backend, recordsMasked }: Writing,
): Steps<EngineSql> {
  const dialect = backend?.dialect ?? "generic";
  const recorded = withSettings(sql, mysql);
  if (recordsMasked) yield* literalReading(session.dialect).ahead(recorded);
  const written = yield* relexSteps(text, from, dialect);
  if (!written.ok) return written;
  // The frontend has already limited the number of tokens.
  const along = backend?.readAlong?.(written.value);
  yield* readLongText(written.value, dialect, Number.POSITIVE_INFINITY, along);
  if (backend?.readAhead !== undefined) yield* backend.readAhead(written.value);
  if (recorded !== sql) yield* readLongText(recorded, session.dialect, Number.POSITIVE_INFINITY);
  if (!recordsMasked) return written;
  yield* literalReading(dialect).ahead(written.value);
  // Of the client's own text the record shows the digest.
  if (written.value !== sql) yield* maskReading(dialect).ahead(written.value);
  return written;
}
