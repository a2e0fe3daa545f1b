/**
 * The allowed text as the engine reads it.
 *
 * A long text is written in slices, and read ahead for those who ask next: the engine's adapter and the record.
 */
import { abortError, type GatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import type { Host } from "../port/host.ts";
import type { Admitted } from "../query/query.ts";
import { err, type Result } from "../result.ts";
import { readLongText } from "../sql/longText.ts";
import { literalReading } from "../sql/mask/literals.ts";
import { maskReading } from "../sql/mask/mask.ts";
import { longTextUnits } from "../sql/reading/reading.ts";
import { relex, relexSteps } from "../sql/rewrite/relex.ts";
import type { Steps } from "../sql/reading/steps.ts";

export type EngineSql = Result<string, GatewayError>;

/** What it needs to know of a statement and its slot. */
type Asked = Pick<Admitted, "sql" | "allowedSql" | "session">;

export interface Writing {
  readonly host: Host;
  readonly backend: Backend | undefined;
  readonly signal: AbortSignal;
  /** True when its record will hold the texts without their values. */
  readonly recordsMasked: boolean;
}

/** A promise only for a long text. */
export function inWordsOf(query: Asked, writing: Writing): EngineSql | Promise<EngineSql> {
  const { allowedSql, session } = query;
  const { backend } = writing;
  if (allowedSql.length > longTextUnits) return inSlices(query, writing);
  return relex(allowedSql, session.dialect, backend?.dialect ?? "generic");
}

async function inSlices(query: Asked, writing: Writing): Promise<EngineSql> {
  const { host, signal } = writing;
  const client = {
    get over() {
      return signal.aborted;
    },
  };
  const steps = stepsOf(query, writing);
  const { user } = query.session.identity;
  const written = await host.slices.run({ steps, user, client });
  return written ?? err(abortError(signal));
}

function* stepsOf(
  { sql, allowedSql, session }: Asked,
  { backend, recordsMasked }: Writing,
): Steps<EngineSql> {
  const from = session.dialect;
  const dialect = backend?.dialect ?? "generic";
  if (recordsMasked) yield* literalReading(from).ahead(sql);
  const written = yield* relexSteps(allowedSql, from, dialect);
  if (!written.ok) return written;
  // The frontend has already limited the number of tokens.
  const along = backend?.readAlong?.(written.value);
  yield* readLongText(written.value, dialect, Number.POSITIVE_INFINITY, along);
  if (backend?.readAhead !== undefined) yield* backend.readAhead(written.value);
  if (!recordsMasked) return written;
  yield* literalReading(dialect).ahead(written.value);
  // Of the client's own text the record shows the digest.
  if (written.value !== sql) yield* maskReading(dialect).ahead(written.value);
  return written;
}
