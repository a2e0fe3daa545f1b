/**
 * What scripts say of a query, asked before the guards judge it: judging goes in steps on the main thread, and
 * scripts run elsewhere.
 *
 * Every script of a guard whose conditions hold is asked, also behind one that will refuse. A script that fails
 * refuses the query.
 */
import { scriptSqlMax, type ScriptAnswers } from "@gateway/contract/script.ts";
import type { GatewayError } from "../error.ts";
import type { Query } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import type { LaterCondition } from "../route/rule/rule.ts";
import { isOfSession } from "./kinds.ts";

/** The part of a guard that may have to be waited for. */
export interface AskedGuard {
  readonly name: string;
  readonly conditions: LaterCondition | undefined;
  /** Whether one of the conditions is a script. */
  readonly asksScript: boolean;
  /** The script that judges; undefined for every other guard. */
  readonly script: string | undefined;
}

interface Said {
  readonly holds: boolean;
  readonly answer: ScriptAnswers["judge"];
}

/** By name of the guard; those that no script has to do with are not here. */
export type ScriptsSaid = ReadonlyMap<string, Said>;

/** Asks the scripts of the guards of a group; undefined where there are none. */
export function scriptsOf(
  guards: readonly AskedGuard[],
  group: string,
  ask: AskScript,
): ((query: Query) => Promise<Result<ScriptsSaid, GatewayError>>) | undefined {
  const asking = guards.filter(({ asksScript, script }) => asksScript || script !== undefined);
  if (asking.length === 0) return undefined;
  return async (query) => {
    const said = new Map<string, Said>();
    if (isOfSession(query.statement)) return ok(said);
    for (const { name, conditions, script } of asking) {
      const asked = conditions?.(query) ?? true;
      const held = typeof asked === "boolean" ? ok(asked) : await asked;
      if (!held.ok) return held;
      if (!held.value || script === undefined) {
        said.set(name, { holds: held.value, answer: null });
        continue;
      }
      const answer = await judgement(script, { query, group }, ask);
      if (!answer.ok) return err(answer.error);
      said.set(name, { holds: true, answer: answer.value });
    }
    return ok(said);
  };
}

/** A script sees the beginning of a long text, which says nothing about its end. */
async function judgement(
  script: string,
  { query, group }: { readonly query: Query; readonly group: string },
  ask: AskScript,
): Promise<Result<ScriptAnswers["judge"], GatewayError>> {
  if (query.sql.length > scriptSqlMax) return ok({ deny: tooLong });
  return ask("judge", script, { query, group });
}

const tooLong = "The text of this statement is too long for a script to see.";

/** Whether the guard judges the query. */
export function holds(
  { name, conditions, asksScript }: AskedGuard,
  query: Query,
  said: ScriptsSaid | undefined,
): boolean {
  if (conditions === undefined) return true;
  if (asksScript) return found(said, name).holds;
  const held = conditions(query);
  if (typeof held !== "boolean")
    throw new Error("a condition asks a script and was not asked before");
  return held;
}

export function saidBy(said: ScriptsSaid | undefined, name: string): ScriptAnswers["judge"] {
  return found(said, name).answer;
}

/** Its absence is a bug, and no leave to pass. */
function found(said: ScriptsSaid | undefined, name: string): Said {
  const one = said?.get(name);
  if (one === undefined) throw new Error(`the script of a guard was not asked: ${name}`);
  return one;
}
