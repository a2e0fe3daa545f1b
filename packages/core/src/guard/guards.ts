/**
 * The guard rails of one cluster group, compiled once per generation, and what they say of a statement.
 *
 * They see the client's text before a slot is taken. Where a guard has to understand a statement and does not, it
 * refuses. A guard keeps honest clients from mistakes; it knows words, no functions and no views, and is no
 * border between users.
 */
import type { GuardConfig } from "@gateway/contract/config/guardrail.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import type { Guarded, Query, QueryLimits } from "../query/query.ts";
import { compileRegex } from "../regex/regex.ts";
import { err, ok, unreachable, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { asksScript, conditionsOf } from "../route/rule/compound.ts";
import { inOneGo, type Steps } from "../sql/reading/steps.ts";
import type { Dialect } from "../sql/dialect.ts";
import { longTextUnits, readingsBy, type Reading } from "../sql/reading/reading.ts";
import { limitedTo } from "../sql/shape/limit.ts";
import { tablesReading } from "../sql/shape/predicates.ts";
import { isOfSession, kindsOf, onlyReads } from "./kinds.ts";
import { predicateRule, rowKinds } from "./predicate.ts";
import { holds, saidBy, scriptsOf, type AskedGuard, type ScriptsSaid } from "./scripts.ts";

/** What guards let through: the text for the engine, and what they add to it. */
export interface Passed {
  readonly sql: string;
  readonly guarded: Guarded | undefined;
}

/** Told what each guard did, for the query's record. */
export interface PolicyLog {
  acted(action: string): void;
}

export interface Guards {
  /**
   * Judges a query. Refuses with `policy.denied`. Steps, because a long text takes long to read. `said`: what `ask`
   * answered, where it is there.
   */
  judge(query: Query, log: PolicyLog, said?: ScriptsSaid): Steps<Result<Passed, GatewayError>>;
  /**
   * Asks the guards that deny by a text alone about what became of the client's for its engine: `sent`, in the engine's
   * dialect. Which guards count is said by the query itself; one whose conditions ask a script is not asked again.
   */
  again(query: Query, sent: Query): Steps<GatewayError | undefined>;
  /** Asks the scripts of the guards before they judge. Absent where none has one. */
  readonly ask?: (query: Query) => Promise<Result<ScriptsSaid, GatewayError>>;
}

/** What one guard says: nothing, or why the statement does not pass. */
type Judge = (query: Query) => Steps<string | undefined> | string | undefined;

interface CompiledGuard extends AskedGuard {
  readonly message: string | undefined;
  readonly work:
    | { readonly kind: "script" }
    | { readonly kind: "judge"; readonly warns: boolean; readonly judge: Judge }
    | { readonly kind: "time"; readonly maxExecutionMs: number }
    | { readonly kind: "rows"; readonly maxRows: number; readonly rewrites: boolean };
}

/** The guards of a group, whose own limits are `limits`. Undefined where none judges it. Patterns were checked before. */
export function compileGuards(
  guards: readonly GuardConfig[],
  name: string,
  limits: QueryLimits,
  ask: AskScript,
): Guards | undefined {
  const own = guards
    .filter(({ clusterGroups }) => clusterGroups?.includes(name) ?? true)
    .map((guard) => compiled(guard, ask));
  if (own.length === 0) return undefined;
  const group = { guards: own, limits, limitedTo: limitReadings() };
  const judge: Guards["judge"] = (query, log, said) => judged(group, query, log, said);
  const again: Guards["again"] = (query, sent) => judgedAgain(own, query, sent);
  const asks = scriptsOf(own, name, ask);
  return asks === undefined ? { judge, again } : { judge, again, ask: asks };
}

/** Whether the guards have to read the text in slices. */
export function isLong({ sql }: Pick<Query, "sql">): boolean {
  return sql.length > longTextUnits;
}

/** All of it at once, for a short text. */
export function judgedNow(
  guards: Guards,
  query: Query,
  log: PolicyLog,
  said?: ScriptsSaid,
): Result<Passed, GatewayError> {
  return inOneGo(guards.judge(query, log, said));
}

interface GuardedGroup {
  readonly guards: readonly CompiledGuard[];
  readonly limits: QueryLimits;
  readonly limitedTo: LimitReadings;
}

/** Queries with a LIMIT written in, remembered for as long as the configuration is. */
type LimitReadings = (maxRows: number) => (dialect: Dialect) => Reading<string | undefined>;

/** There are as many as limits in the configuration. */
function limitReadings(): LimitReadings {
  const made = new Map<number, ReturnType<LimitReadings>>();
  return (maxRows) => {
    let readings = made.get(maxRows);
    if (readings === undefined) {
      readings = readingsBy((sql: string, dialect: Dialect) => limitedTo(sql, dialect, maxRows));
      made.set(maxRows, readings);
    }
    return readings;
  };
}

/** What the guards that were asked so far say. */
interface Verdict {
  readonly warnings: string[];
  maxExecutionMs: number | undefined;
  maxRows: number | undefined;
  /** Rows of a LIMIT that has to be written. */
  writtenRows: number | undefined;
}

function* judged(
  { guards, limits, limitedTo: readings }: GuardedGroup,
  query: Query,
  log: PolicyLog,
  said: ScriptsSaid | undefined,
): Steps<Result<Passed, GatewayError>> {
  if (isOfSession(query.statement)) return ok({ sql: query.sql, guarded: undefined });
  const { maxExecutionMs, maxRows } = limits;
  const verdict: Verdict = { warnings: [], maxExecutionMs, maxRows, writtenRows: undefined };
  for (const guard of guards) {
    if (!holds(guard, query, said)) continue;
    const refused = yield* judgedBy(guard, { query, said }, verdict, log);
    if (refused !== undefined) return err(refused);
  }
  const { writtenRows } = verdict;
  const sql =
    writtenRows === undefined ? query.sql : yield* limitedText(query, readings(writtenRows));
  if (sql === undefined) {
    log.acted("guards: denied: no place for a LIMIT was found");
    return err(gatewayError("policy.denied", noPlace));
  }
  return ok({ sql, guarded: guardedOf(verdict, limits, sql !== query.sql) });
}

function* judgedAgain(
  guards: readonly CompiledGuard[],
  query: Query,
  sent: Query,
): Steps<GatewayError | undefined> {
  if (isOfSession(query.statement)) return undefined;
  for (const guard of guards) {
    const { name, message, work, asksScript: asks } = guard;
    if (work.kind !== "judge" || work.warns || asks || !holds(guard, query, undefined)) continue;
    const said = work.judge(sent);
    const reason = typeof said === "object" ? yield* said : said;
    if (reason === undefined) continue;
    const hint = `The guard ${name} of the configuration denies what would be sent to the engine.`;
    return gatewayError("policy.denied", { message: message ?? reason, hint });
  }
  return undefined;
}

/** Undefined where nothing is added to a query whose text stays. */
function guardedOf(
  { warnings, maxExecutionMs, maxRows }: Verdict,
  limits: QueryLimits,
  written: boolean,
): Guarded | undefined {
  const lowered = maxExecutionMs !== limits.maxExecutionMs || maxRows !== limits.maxRows;
  if (!written && !lowered && warnings.length === 0) return undefined;
  return { warnings, limits: { ...limits, maxExecutionMs, maxRows } };
}

/** One guard's refusal; what else it says goes into the verdict. */
function* judgedBy(
  { name, message, work }: CompiledGuard,
  { query, said: scripts }: { readonly query: Query; readonly said: ScriptsSaid | undefined },
  verdict: Verdict,
  log: PolicyLog,
): Steps<GatewayError | undefined> {
  switch (work.kind) {
    case "script": {
      const verdictOf = saidBy(scripts, name);
      if (verdictOf === null) return undefined;
      const denies = "deny" in verdictOf;
      const reason = denies ? verdictOf.deny : verdictOf.warn;
      log.acted(`guard ${name}: ${denies ? "denied" : "warned"}: ${reason}`);
      if (denies) return denied(name, message ?? reason);
      verdict.warnings.push(`${message ?? reason} (guard ${name})`);
      return undefined;
    }
    case "judge": {
      const said = work.judge(query);
      const reason = typeof said === "object" ? yield* said : said;
      if (reason === undefined) return undefined;
      const text = message ?? reason;
      log.acted(`guard ${name}: ${work.warns ? "warned" : "denied"}: ${reason}`);
      if (!work.warns) return denied(name, text);
      verdict.warnings.push(`${text} (guard ${name})`);
      return undefined;
    }
    case "time":
      verdict.maxExecutionMs = lower(verdict.maxExecutionMs, work.maxExecutionMs);
      log.acted(`guard ${name}: at most ${work.maxExecutionMs / 1_000} s`);
      return undefined;
    case "rows":
      if (work.rewrites) verdict.writtenRows = lower(verdict.writtenRows, work.maxRows);
      verdict.maxRows = lower(verdict.maxRows, work.maxRows);
      log.acted(`guard ${name}: at most ${work.maxRows} rows`);
      return undefined;
    default:
      return unreachable(work);
  }
}

function lower(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other);
}

const noPlace = {
  message: "Results are limited here, and where this query's LIMIT would stand was not found.",
  hint: "End the query with a LIMIT of its own: a plain number, and nothing but an OFFSET behind it.",
};

/** Only queries get a LIMIT; rows of other statements are counted by whoever passes them on. */
function* limitedText(
  query: Query,
  readings: ReturnType<LimitReadings>,
): Steps<string | undefined> {
  const { kind, tag, firstWord, doubt } = query.statement;
  const isQuery = kind === "select" && tag !== "SELECT INTO" && firstWord !== "SUMMARIZE";
  if (!isQuery) return query.sql;
  if (doubt !== undefined) return undefined;
  const reading = readings(query.session.dialect);
  if (isLong(query)) yield* reading.ahead(query.sql);
  return reading(query.sql);
}

function denied(name: string, message: string): GatewayError {
  return gatewayError("policy.denied", {
    message,
    hint: `The guard ${name} of the configuration denies it.`,
  });
}

function compiled(config: GuardConfig, ask: AskScript): CompiledGuard {
  const { name, message, conditions } = config;
  return {
    name,
    message,
    conditions: conditions === undefined ? undefined : conditionsOf("all", conditions, ask),
    asksScript: conditions !== undefined && asksScript(conditions),
    script: config.type === "script" ? config.script : undefined,
    work: workOf(config),
  };
}

function workOf(config: GuardConfig): CompiledGuard["work"] {
  switch (config.type) {
    case "timeLimit":
      return { kind: "time", maxExecutionMs: config.maxExecutionSecs * 1_000 };
    case "rowLimit":
      return { kind: "rows", maxRows: config.maxRows, rewrites: config.action === "rewrite" };
    case "script":
      return { kind: "script" };
    case "readOnly":
    case "statementKinds":
    case "queryRegex":
    case "requirePredicate":
      return { kind: "judge", warns: config.action === "warn", judge: judgeOf(config) };
    default:
      return unreachable(config);
  }
}

type Judging = Exclude<GuardConfig, { type: "timeLimit" | "rowLimit" | "script" }>;

function judgeOf(config: Judging): Judge {
  switch (config.type) {
    case "readOnly":
      return ({ statement }) => {
        if (onlyReads(statement)) return undefined;
        return statement.doubt === undefined
          ? "Only statements that read may run here, and this one may write."
          : `Only statements that read may run here, and ${inDoubt}.`;
      };
    case "statementKinds":
      return kindsJudge(config);
    case "queryRegex":
      return regexJudge(config);
    case "requirePredicate":
      return predicateJudge(config);
    default:
      return unreachable(config);
  }
}

const inDoubt = "engines may read this text in different ways";

function kindsJudge({ allow, deny }: Extract<Judging, { type: "statementKinds" }>): Judge {
  const allowed = new Set<string>(allow);
  const forbidden = new Set<string>(deny);
  return ({ statement }) => {
    const kinds = kindsOf(statement);
    if (kinds === undefined) {
      return "Only known kinds of statements may run here, and what this one does is not known.";
    }
    const wrong = kinds.find((kind) =>
      allow === undefined ? forbidden.has(kind) : !allowed.has(kind),
    );
    if (wrong === undefined) return undefined;
    return wrong === kinds[0]
      ? `Statements of the kind ${wrong} may not run here.`
      : `Statements of the kind ${wrong} may not run here, and this one may hold one.`;
  };
}

/** UTF-16 units that are searched. */
const searchedMax = 65_536;

function regexJudge(config: Extract<Judging, { type: "queryRegex" }>): Judge {
  const regex = compileRegex(config.regex, { ignoreCase: !config.caseSensitive });
  if (!regex.ok) throw new Error(`a pattern passed the check: ${regex.error.reason}`);
  return ({ sql }) => {
    if (sql.length > searchedMax)
      return "The text of this statement is too long for a guard to search.";
    return regex.value.test(sql) ? "The text of this statement is not allowed here." : undefined;
  };
}

function predicateJudge(config: Extract<Judging, { type: "requirePredicate" }>): Judge {
  const isBare = predicateRule(config);
  const { columns } = config;
  return function* (query): Steps<string | undefined> {
    const { statement, session, sql } = query;
    if (!rowKinds.has(statement.kind) && statement.doubt === undefined) return undefined;
    const reading = tablesReading(session.dialect);
    if (isLong(query)) yield* reading.ahead(sql);
    const isKnown = statement.kind !== "unknown" && statement.doubt === undefined;
    const reads = isKnown ? reading(sql) : undefined;
    if (reads === undefined) {
      return "Some tables are read here with a condition only, and this statement is not understood.";
    }
    const bare = reads.find(isBare);
    if (bare === undefined) return undefined;
    const asked = columns === undefined ? "" : ` on ${columns.join(" or ")}`;
    return `The table ${bare.path.join(".")} is read here with a condition${asked} only: the WHERE beside it must hold one, in each branch of an OR.`;
  };
}
