/** The stage behind the slot: the allowed text as its engine is sent it, with the limits that go along. */
import { abortError, gatewayError, type GatewayError } from "../error.ts";
import { isLong, type Guards } from "../guard/guards.ts";
import type { Backend } from "../port/backend.ts";
import type { Admitted, Query, QueryLimits, Translated } from "../query/query.ts";
import type { Slot } from "../query/slot.ts";
import { translatedTo } from "../query/stages.ts";
import { err, ok, type Result } from "../result.ts";
import { inOneGo } from "../sql/reading/steps.ts";
import { readStatement } from "../sql/statement.ts";
import { inWordsOf, type EngineSql, type Writing } from "./engineSql.ts";
import { rewritten, type Rewrites } from "./rewrites.ts";

type Answer = Result<Translated, GatewayError>;

/** What the query's group says of it. */
export interface GroupRules {
  readonly limits: QueryLimits;
  /** Undefined where no script changes the group's statements. */
  readonly rewrites: Rewrites | undefined;
  /** Those that judge a translated text again. Undefined where there are none. */
  readonly guards: Pick<Guards, "again"> | undefined;
}

/** A promise only for a long text, and where a script changes it. */
export function forEngine(
  query: Admitted,
  writing: Writing,
  { limits, rewrites, guards }: GroupRules,
): Answer | Promise<Answer> {
  const { backend } = writing;
  if (!readsExpressions(query, backend)) return err(onlyLiterals);
  if (query.call !== undefined && backend?.speaks !== "postgres") return err(otherProtocol);
  if (query.mysql !== undefined && backend?.speaks !== "mysql") return err(otherProtocol);
  // Nothing is asked and nothing changed: most statements, so without what the others take along.
  if (rewrites === undefined && writing.translator === undefined) {
    const own = inWordsOf(query, writing);
    if (!(own instanceof Promise)) return translated(query, own, limits);
    return own.then((sql) => translated(query, sql, limits));
  }
  const engineSql =
    rewrites === undefined ? inWordsOf(query, writing) : rewrittenWords(query, writing, rewrites);
  const changes = rewrites !== undefined || writing.translator !== undefined;
  const finish = (sql: EngineSql): Answer | Promise<Answer> =>
    changes && guards !== undefined && sql.ok && sql.value !== query.allowedSql
      ? guarded(query, sql.value, { guards, writing, limits })
      : translated(query, sql, limits);
  return engineSql instanceof Promise ? engineSql.then(finish) : finish(engineSql);
}

interface Guarding {
  readonly guards: Pick<Guards, "again">;
  readonly writing: Writing;
  readonly limits: QueryLimits;
}

/** Guards have judged the client's text; what was made of it may not be what they deny either. */
function guarded(
  query: Admitted,
  sql: string,
  { guards, writing, limits }: Guarding,
): Answer | Promise<Answer> {
  const { host, backend, signal } = writing;
  const dialect = backend?.dialect ?? "generic";
  const session = { ...query.session, dialect };
  const sent = { ...query, sql, statement: readStatement(sql, dialect), session };
  const steps = guards.again(query, sent);
  const finish = (refusal: GatewayError | undefined): Answer =>
    refusal === undefined ? translated(query, ok(sql), limits) : err(refusal);
  if (!isLong(sent)) return finish(inOneGo(steps));
  const client = {
    get over() {
      return signal.aborted;
    },
  };
  const { user } = session.identity;
  return host.slices
    .run({ steps, user, client })
    .then((refusal) => (signal.aborted ? err(abortError(signal)) : finish(refusal)));
}

/** Whether the engine takes the parameters as they are. Configuration may change between a frontend's look and the slot. */
function readsExpressions({ parameters, session }: Query, backend: Backend | undefined): boolean {
  if (backend?.dialect === session.dialect) return true;
  return parameters.every(({ expression }) => expression === undefined);
}

const onlyLiterals = gatewayError("query.unsupported", {
  message: "Only literals may be parameters: the engine does not read the client's dialect.",
});

/** Values that a client prepared for a PostgreSQL are no values anywhere else. */
const otherProtocol = gatewayError("query.unsupported", {
  message: "The engines of this session changed while the statement was on its way; send it again.",
});

function translated(
  query: Admitted,
  engineSql: EngineSql,
  limits: QueryLimits,
): Result<Translated, GatewayError> {
  if (!engineSql.ok) return engineSql;
  const maxExecutionMs = engineLimitOf(limits, query.slot);
  return ok(translatedTo(query, engineSql.value, maxExecutionMs));
}

async function rewrittenWords(
  query: Admitted,
  writing: Writing,
  rewrites: Rewrites,
): Promise<EngineSql> {
  const { backend } = writing;
  const { cluster } = query.slot;
  const place = { cluster, engine: backend?.engine ?? "", dialect: backend?.dialect ?? "generic" };
  const rewriting = { rewrites, place };
  const before = await rewritten(query, query.allowedSql, "before", rewriting);
  if (!before.ok) return before;
  const words = await inWordsOf({ ...query, allowedSql: before.value }, writing);
  return words.ok ? rewritten(query, words.value, "after", rewriting) : words;
}

/** The group's limit may have changed since the slot was leased, and whoever leased it counts on the old one. */
function engineLimitOf({ maxExecutionMs: own }: QueryLimits, { lease }: Slot): number | undefined {
  const granted = lease?.maxExecutionMs;
  if (own === undefined || granted === undefined) return own ?? granted;
  return Math.min(own, granted);
}
