/**
 * The allowed text as the engine reads it.
 *
 * A long one is written in slices, and read for those who ask next: the engine's adapter and the record.
 */
import { abortError, type GatewayError } from "../error.ts";
import type { Backend } from "../port/backend.ts";
import type { Host } from "../port/host.ts";
import type { Admitted } from "../query/query.ts";
import { err, type Result } from "../result.ts";
import { readLongText } from "../sql/longText.ts";
import { longTextUnits } from "../sql/reading/reading.ts";
import { relex, relexSteps } from "../sql/rewrite/relex.ts";
import type { Steps } from "../sql/reading/steps.ts";

export type EngineSql = Result<string, GatewayError>;

export interface Writing {
  readonly host: Host;
  readonly backend: Backend | undefined;
  readonly signal: AbortSignal;
}

/** A promise only for a long text. */
export function inWordsOf(query: Admitted, writing: Writing): EngineSql | Promise<EngineSql> {
  const { allowedSql, session } = query;
  const { backend } = writing;
  if (allowedSql.length > longTextUnits) return inSlices(query, writing);
  return relex(allowedSql, session.dialect, backend?.dialect ?? "generic");
}

async function inSlices(
  { allowedSql, session }: Admitted,
  { host, backend, signal }: Writing,
): Promise<EngineSql> {
  const client = {
    get over() {
      return signal.aborted;
    },
  };
  const steps = stepsOf(allowedSql, session.dialect, backend);
  const { user } = session.identity;
  const written = await host.slices.run({ steps, user, client });
  return written ?? err(abortError(signal));
}

function* stepsOf(
  sql: string,
  from: Admitted["session"]["dialect"],
  backend: Backend | undefined,
): Steps<EngineSql> {
  const dialect = backend?.dialect ?? "generic";
  const written = yield* relexSteps(sql, from, dialect);
  if (!written.ok) return written;
  // How many tokens it may have was the frontend's to say.
  yield* readLongText(written.value, dialect, Number.POSITIVE_INFINITY);
  if (backend?.readAhead !== undefined) yield* backend.readAhead(written.value);
  return written;
}
