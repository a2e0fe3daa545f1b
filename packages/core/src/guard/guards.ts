/**
 * The guard rails of one cluster group, compiled once per generation, and what they say of a statement.
 *
 * They see the client's text before a slot is taken. Where a guard has to understand a statement and does not, it
 * refuses. A guard keeps honest clients from mistakes; it knows words, no functions and no views, and is no
 * border between users.
 */
import type { GuardConfig } from "@gateway/contract/config/guardrail.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import type { GuardService } from "../port/sql/guardService.ts";
import type { Guarded, Query, QueryLimits, ScanLimit } from "../query/query.ts";
import { err, ok, unreachable, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { asksScript, conditionsOf } from "../route/rule/compound.ts";
import { inOneGo, type Steps } from "../sql/reading/steps.ts";
import type { Dialect } from "../sql/dialect.ts";
import { longTextUnits, readingsBy, type Reading } from "../sql/reading/reading.ts";
import { limitedTo } from "../sql/shape/limit.ts";
import {
  askerOf,
  holds,
  saidBy,
  type AskedGuard,
  type AskGuards,
  type GuardsSaid,
} from "./asked.ts";
import { judgeOf, type Judge } from "./judges.ts";
import { isOfSession } from "./kinds.ts";
import { scanLimitOf } from "./scan.ts";
import { deniedBy, toldBy, warningOf, type PolicyLog } from "./told.ts";
import { hookOf, type Hook } from "./webhook.ts";

/** What guards let through: the text for the engine, and what they add to it. */
export interface Passed {
  readonly sql: string;
  readonly guarded: Guarded | undefined;
}

export interface Guards {
  /**
   * Judges a query: the one that `ask` answered, with what it said, where it is there. Refuses with `policy.denied`, and
   * with `policy.unavailable` where a service could not be asked. Steps, because a long text takes long to read.
   */
  judge(query: Query, log: PolicyLog, said?: GuardsSaid): Steps<Result<Passed, GatewayError>>;
  /**
   * Asks the guards that deny by a text alone about what became of the client's for its engine: `sent`, in the engine's
   * dialect. Which guards count is said by the query itself; one whose conditions ask a script is not asked again.
   */
  again(query: Query, sent: Query): Steps<GatewayError | undefined>;
  /** Asks the scripts and services of the guards before they judge. Absent where none has one. */
  readonly ask?: AskGuards;
  /** The services of guards that are asked about the engine's text, by the guard's name. */
  readonly hooks: ReadonlyMap<string, Hook>;
  /** What clients read in place of the guards' own words, by the guard's name. */
  readonly messages: ReadonlyMap<string, string>;
}

/** Who is asked for guards that do not judge themselves. */
export interface GuardAsks {
  readonly ask: AskScript;
  /** Of the guards that ask a web service, by name; absent where there are none. */
  readonly services?: ReadonlyMap<string, GuardService> | undefined;
}

interface CompiledGuard extends AskedGuard {
  readonly message: string | undefined;
  readonly work:
    | { readonly kind: "asked" }
    | { readonly kind: "judge"; readonly warns: boolean; readonly judge: Judge }
    | { readonly kind: "scan"; readonly limit: ScanLimit }
    | { readonly kind: "time"; readonly maxExecutionMs: number }
    | { readonly kind: "rows"; readonly maxRows: number; readonly rewrites: boolean };
}

/** The guards of a group, whose own limits are `limits`. Undefined where none judges it. Patterns were checked before. */
export function compileGuards(
  guards: readonly GuardConfig[],
  name: string,
  limits: QueryLimits,
  asks: GuardAsks,
): Guards | undefined {
  const own = guards
    .filter(({ clusterGroups }) => clusterGroups?.includes(name) ?? true)
    .map((guard) => compiled(guard, asks));
  if (own.length === 0) return undefined;
  const group = { guards: own, limits, limitedTo: limitReadings() };
  const judge: Guards["judge"] = (query, log, said) => judged(group, query, log, said);
  const again: Guards["again"] = (query, sent) => judgedAgain(own, query, sent);
  const hooks = new Map(own.flatMap((guard) => (guard.hook ? [[guard.name, guard.hook]] : [])));
  const ask = askerOf(own, name, asks.ask);
  const messages = new Map(
    own.flatMap((guard) => (guard.message ? [[guard.name, guard.message]] : [])),
  );
  const made = { judge, again, hooks, messages };
  return ask === undefined ? made : { ...made, ask };
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
  said?: GuardsSaid,
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
  /** Guards whose services are asked about the engine's text. */
  readonly services: string[];
  /** Limits that the engine is asked about. */
  readonly scans: ScanLimit[];
  maxExecutionMs: number | undefined;
  maxRows: number | undefined;
  /** Rows of a LIMIT that has to be written. */
  writtenRows: number | undefined;
}

function* judged(
  { guards, limits, limitedTo: readings }: GuardedGroup,
  query: Query,
  log: PolicyLog,
  said: GuardsSaid | undefined,
): Steps<Result<Passed, GatewayError>> {
  if (isOfSession(query.statement)) return ok({ sql: query.sql, guarded: undefined });
  const { maxExecutionMs, maxRows } = limits;
  const verdict: Verdict = {
    warnings: [],
    services: [],
    scans: [],
    maxExecutionMs,
    maxRows,
    writtenRows: undefined,
  };
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
  { warnings, services, scans, maxExecutionMs, maxRows }: Verdict,
  limits: QueryLimits,
  written: boolean,
): Guarded | undefined {
  const lowered = maxExecutionMs !== limits.maxExecutionMs || maxRows !== limits.maxRows;
  const late = services.length + scans.length === 0 ? undefined : { services, scans };
  if (!written && !lowered && warnings.length === 0 && late === undefined) return undefined;
  return { warnings, limits: { ...limits, maxExecutionMs, maxRows }, late };
}

/** One guard's refusal; what else it says goes into the verdict. */
function* judgedBy(
  { name, message, work, hook }: CompiledGuard,
  { query, said }: { readonly query: Query; readonly said: GuardsSaid | undefined },
  verdict: Verdict,
  log: PolicyLog,
): Steps<GatewayError | undefined> {
  switch (work.kind) {
    case "asked": {
      if (hook?.stages.includes("after") === true) verdict.services.push(name);
      const { answer, rewrote } = saidBy(said, name);
      if (rewrote === true) log.acted(`guard ${name}: rewrote the statement`);
      const told = toldBy({ name, message }, answer, log);
      if (told === undefined) return undefined;
      if (!("warning" in told)) return told;
      verdict.warnings.push(told.warning);
      return undefined;
    }
    case "judge": {
      const judging = work.judge(query);
      const reason = typeof judging === "object" ? yield* judging : judging;
      if (reason === undefined) return undefined;
      const text = message ?? reason;
      log.acted(`guard ${name}: ${work.warns ? "warned" : "denied"}: ${reason}`);
      if (!work.warns) return deniedBy(name, text);
      verdict.warnings.push(warningOf(name, text));
      return undefined;
    }
    case "scan":
      verdict.scans.push(work.limit);
      return undefined;
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

function compiled(config: GuardConfig, { ask, services }: GuardAsks): CompiledGuard {
  const { name, message, conditions } = config;
  return {
    name,
    message,
    conditions: conditions === undefined ? undefined : conditionsOf("all", conditions, ask),
    asksScript: conditions !== undefined && asksScript(conditions),
    script: config.type === "script" ? config.script : undefined,
    hook: config.type === "webhook" ? hookOf(config, serviceOf(name, services)) : undefined,
    work: workOf(config),
  };
}

function serviceOf(name: string, services: GuardAsks["services"]): GuardService {
  const service = services?.get(name);
  if (service === undefined) throw new Error(`no service was opened for the guard ${name}`);
  return service;
}

function workOf(config: GuardConfig): CompiledGuard["work"] {
  switch (config.type) {
    case "timeLimit":
      return { kind: "time", maxExecutionMs: config.maxExecutionSecs * 1_000 };
    case "rowLimit":
      return { kind: "rows", maxRows: config.maxRows, rewrites: config.action === "rewrite" };
    case "maxScanBytes":
      return { kind: "scan", limit: scanLimitOf(config) };
    case "script":
    case "webhook":
      return { kind: "asked" };
    case "readOnly":
    case "statementKinds":
    case "queryRegex":
    case "requirePredicate":
      return { kind: "judge", warns: config.action === "warn", judge: judgeOf(config) };
    default:
      return unreachable(config);
  }
}
