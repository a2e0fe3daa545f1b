/**
 * Guards that are asked about what an engine will be sent, once that is known and before it runs: on the slot, so what
 * they refuse has waited for one.
 */
import { abortError, type GatewayError } from "../error.ts";
import type { Identified, Query } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readStatement } from "../sql/statement.ts";
import { scanSaid, type AskScan } from "./scan.ts";
import type { Guards } from "./guards.ts";
import { toldBy, unavailableBy, type PolicyLog } from "./told.ts";

export interface LateAsked {
  /** Of the query's group; undefined where the configuration has none for it any more. */
  readonly guards: Pick<Guards, "hooks" | "messages"> | undefined;
  /** Of the engine. */
  readonly dialect: Dialect;
  readonly askScan: AskScan;
  readonly log: PolicyLog;
  readonly signal: AbortSignal;
}

/** What the client is warned of, or why the statement does not run. Undefined where nobody is asked. */
export function lateSaid(
  query: Identified,
  asked: LateAsked,
): Promise<Result<readonly string[], GatewayError>> | undefined {
  return query.guarded?.late === undefined ? undefined : allSaid(query, asked);
}

/** The engine is asked last: what services refuse costs it nothing. */
async function allSaid(
  query: Identified,
  asked: LateAsked,
): Promise<Result<readonly string[], GatewayError>> {
  const services = await servicesSaid(query, asked);
  if (!services.ok) return services;
  const scans = await scanSaid(query, query.guarded?.late?.scans ?? [], asked);
  return scans.ok ? ok([...services.value, ...scans.value]) : scans;
}

async function servicesSaid(
  query: Identified,
  { guards, dialect, log, signal }: LateAsked,
): Promise<Result<readonly string[], GatewayError>> {
  const warnings: string[] = [];
  const { group, slot } = query;
  for (const name of query.guarded?.late?.services ?? []) {
    const hook = guards?.hooks.get(name);
    // A session may hold a configuration that does not have the guard that judged its statement.
    if (hook === undefined) return err(unavailableBy(name, gone));
    if (hook.stages.includes("before") && query.engineSql === query.sql) continue;
    const sent = sentAs(query, dialect);
    const said = await hook.ask({ query: sent, group, cluster: slot.cluster }, signal);
    if (signal.aborted) return err(abortError(signal));
    if (said !== null && "rewrite" in said) throw new Error("a text was taken behind policies");
    const told = toldBy({ name, message: guards?.messages.get(name) }, said, log);
    if (told === undefined) continue;
    if (!("warning" in told)) return err(told);
    warnings.push(told.warning);
  }
  return ok(warnings);
}

const gone = "The configuration changed while the statement was on its way; send it again.";

/** The statement as its engine reads it. */
function sentAs(query: Identified, dialect: Dialect): Query {
  const { engineSql, session } = query;
  const statement = readStatement(engineSql, dialect);
  return { ...query, sql: engineSql, statement, session: { ...session, dialect } };
}
