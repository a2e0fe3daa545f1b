/**
 * What scripts and web services say of a query, asked before the guards judge it: judging goes in steps on the main
 * thread, and they answer from elsewhere.
 *
 * Services that may write another text are asked first, in their order, and everybody else sees what they leave. Every
 * script and service of a guard whose conditions hold is asked, also behind one that will refuse. A script that fails
 * refuses the query.
 */
import { scriptSqlMax } from "@gateway/contract/script.ts";
import { abortError, type GatewayError } from "../error.ts";
import type { Query } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import type { LaterCondition } from "../route/rule/rule.ts";
import { readStatement } from "../sql/statement.ts";
import { wrongIn } from "./changed.ts";
import { isOfSession } from "./kinds.ts";
import type { GuardSaid, Hook } from "./webhook.ts";

/** The part of a guard that may have to be waited for. */
export interface AskedGuard {
  readonly name: string;
  readonly conditions: LaterCondition | undefined;
  /** Whether one of the conditions is a script. */
  readonly asksScript: boolean;
  /** The script that judges; undefined for every other guard. */
  readonly script: string | undefined;
  /** The service that judges; undefined for every other guard. */
  readonly hook: Hook | undefined;
}

interface One {
  readonly holds: boolean;
  readonly answer: GuardSaid;
  /** It wrote the text that everybody else was asked about. */
  readonly rewrote?: true;
}

/** By name of the guard; those that nobody has to be asked for are not here. */
export type GuardsSaid = ReadonlyMap<string, One>;

/** What was said, and of which text: the client's, or what services made of it. */
export interface Answers<Q extends Query> {
  readonly said: GuardsSaid;
  readonly query: Q;
}

export type AskGuards = <Q extends Query>(
  query: Q,
  signal: AbortSignal,
) => Promise<Result<Answers<Q>, GatewayError>>;

/** Asks for the guards of a group; undefined where nobody has to be asked. */
export function askerOf(
  guards: readonly AskedGuard[],
  group: string,
  ask: AskScript,
): AskGuards | undefined {
  const asking = guards.filter((guard) => guard.asksScript || asksSomebody(guard));
  if (asking.length === 0) return undefined;
  const inOrder = [
    ...asking.filter(({ hook }) => hook?.rewrites === true),
    ...asking.filter(({ hook }) => hook?.rewrites !== true),
  ];
  return async (query, signal) => {
    const said = new Map<string, One>();
    let asked = query;
    if (isOfSession(query.statement)) return ok({ said, query });
    for (const guard of inOrder) {
      const one = await askedOf(guard, { query: asked, group, ask, signal });
      if (signal.aborted) return err(abortError(signal));
      if (!one.ok) return one;
      said.set(guard.name, one.value);
      if (one.value.sql !== undefined) asked = writtenAnew(asked, one.value.sql);
    }
    return ok({ said, query: asked });
  };
}

interface Asking {
  readonly query: Query;
  readonly group: string;
  readonly ask: AskScript;
  readonly signal: AbortSignal;
}

async function askedOf(
  { name, conditions, script, hook }: AskedGuard,
  { query, group, ask, signal }: Asking,
): Promise<Result<One & { readonly sql?: string }, GatewayError>> {
  const asked = conditions?.(query) ?? true;
  const held = typeof asked === "boolean" ? ok(asked) : await asked;
  if (!held.ok) return held;
  if (!held.value) return ok({ holds: false, answer: null });
  if (script !== undefined) {
    const answer = await judgement(script, { query, group }, ask);
    return answer.ok ? ok({ holds: true, answer: answer.value }) : answer;
  }
  // Nothing of a listing's text reaches an engine.
  if (hook?.stages.includes("before") !== true || query.lists === true) {
    return ok({ holds: true, answer: null });
  }
  const answer = await hook.ask({ query, group }, signal);
  if (answer === null || !("rewrite" in answer)) return ok({ holds: true, answer });
  return ok(rewriting(name, query, answer.rewrite));
}

/** A script sees the beginning of a long text, which says nothing about its end. */
async function judgement(
  script: string,
  { query, group }: Pick<Asking, "query" | "group">,
  ask: AskScript,
): Promise<Result<GuardSaid, GatewayError>> {
  if (query.sql.length > scriptSqlMax) return ok({ deny: tooLong });
  return ask("judge", script, { query, group });
}

const tooLong = "The text of this statement is too long for a script to see.";

/** What a service wrote has to do what the client asked for. */
function rewriting(name: string, query: Query, sql: string): One & { readonly sql?: string } {
  if (sql === query.sql) return { holds: true, answer: null };
  const { dialect } = query.session;
  const wrong = wrongIn(query.sql, sql, { texts: dialect, placeholders: dialect });
  if (wrong === undefined) return { holds: true, answer: null, rewrote: true, sql };
  return { holds: true, answer: { deny: `The service of the guard ${name} ${wrong}.` } };
}

function writtenAnew<Q extends Query>(query: Q, sql: string): Q {
  return { ...query, sql, statement: readStatement(sql, query.session.dialect) };
}

/** Whether the guard judges the query. */
export function holds(guard: AskedGuard, query: Query, said: GuardsSaid | undefined): boolean {
  const { name, conditions, asksScript } = guard;
  // It was decided when it was asked, maybe about a text that is another by now.
  if (asksScript || asksSomebody(guard)) return found(said, name).holds;
  const held = conditions?.(query) ?? true;
  if (typeof held !== "boolean")
    throw new Error("a condition asks a script and was not asked before");
  return held;
}

export function saidBy(said: GuardsSaid | undefined, name: string): Omit<One, "holds"> {
  return found(said, name);
}

function asksSomebody({ script, hook }: AskedGuard): boolean {
  return script !== undefined || hook !== undefined;
}

/** Its absence is a bug, and no leave to pass. */
function found(said: GuardsSaid | undefined, name: string): One {
  const one = said?.get(name);
  if (one === undefined) throw new Error(`nobody was asked for the guard ${name}`);
  return one;
}
