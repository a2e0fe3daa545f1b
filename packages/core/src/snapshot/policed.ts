/**
 * What policies make of a routed query: allowed SQL or a refusal, and the order in which a script wants the members.
 *
 * Nothing is waited for where no script is asked and the text is short.
 */
import type { GroupConfig } from "@gateway/contract/config/group.ts";
import type { ScriptMember } from "@gateway/contract/script.ts";
import type { GroupMembers } from "../cluster/candidates.ts";
import { abortError, type GatewayError } from "../error.ts";
import { isLong, judgedNow, type Guards, type Passed } from "../guard/guards.ts";
import type { PolicyLog } from "../guard/told.ts";
import type { Host } from "../port/host.ts";
import type { Policed, Routed } from "../query/query.ts";
import { policedAs } from "../query/stages.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { SignalledClient } from "../tool/canceller.ts";
import { agentRefusal } from "./agentWrites.ts";

export interface Policing {
  readonly host: Pick<Host, "slices">;
  readonly log: PolicyLog;
  readonly signal: AbortSignal;
  readonly ask: AskScript;
  /** Attempts that run, by cluster. */
  readonly running: ReadonlyMap<string, number>;
}

/** The part of a group that policies look at. */
export interface PolicedGroup extends Pick<GroupMembers, "members"> {
  readonly config: Pick<GroupConfig, "agentWrites" | "strategy">;
  /** Undefined where no guard judges the group's queries. */
  readonly guards: Guards | undefined;
}

type Answer = Result<Policed, GatewayError>;

/** A promise only for a long text that guards have to read, and where a script is asked. */
export function policed(
  query: Routed,
  group: PolicedGroup,
  policing: Policing,
): Answer | Promise<Answer> {
  const { config, guards } = group;
  const { log } = policing;
  const refusal = agentRefusal(query, config.agentWrites);
  if (refusal !== undefined) {
    log.acted("agentWrites: denied");
    return err(refusal);
  }
  if (config.strategy.type === "script" || guards?.ask !== undefined) {
    return policedLater(query, group, policing);
  }
  if (guards === undefined) return ok(policedAs(query, query.sql));
  const passed = passedBy(guards, query, policing);
  return passed instanceof Promise
    ? passed.then((one) => policedOf(query, one))
    : policedOf(query, passed);
}

async function policedLater(
  query: Routed,
  group: PolicedGroup,
  policing: Policing,
): Promise<Answer> {
  const { guards } = group;
  const { signal, log } = policing;
  const asked = await guards?.ask?.(query, signal);
  if (signal.aborted) return err(abortError(signal));
  if (asked?.ok === false) {
    log.acted("guards: a script failed");
    return asked;
  }
  // What a service wrote is what all guards judge, and what access control is given.
  const judged = asked?.value.query ?? query;
  const passed = guards && (await passedBy(guards, judged, policing, asked?.value.said));
  if (passed?.ok === false) return passed;
  const order = await orderOf(query, group, policing);
  const { sql, guarded } = passed?.value ?? { sql: query.sql, guarded: undefined };
  return ok(policedAs(query, sql, guarded, order));
}

/**
 * Who is asked first is no question of what may run: where the script fails, members take turns. The failure is
 * counted and logged where scripts are asked.
 */
async function orderOf(
  query: Routed,
  { config: { strategy }, members }: PolicedGroup,
  { ask, running }: Policing,
): Promise<readonly string[] | undefined> {
  if (strategy.type !== "script") return undefined;
  const offered = members
    .filter((member) => member.usable())
    .map(({ cluster, engine }): ScriptMember => ({
      cluster,
      engine,
      running: running.get(cluster) ?? 0,
    }));
  // There is nothing to choose.
  if (offered.length < 2) return undefined;
  const { group } = query;
  const order = await ask("order", strategy.script, { query, group, beside: offered });
  return order.ok ? order.value : undefined;
}

function passedBy(
  guards: Guards,
  query: Routed,
  { host, log, signal }: Policing,
  said?: Parameters<Guards["judge"]>[2],
): Result<Passed, GatewayError> | Promise<Result<Passed, GatewayError>> {
  if (!isLong(query)) return judgedNow(guards, query, log, said);
  const client = new SignalledClient(signal);
  const { user } = query.session.identity;
  const steps = guards.judge(query, log, said);
  return host.slices
    .run({ steps, user, client })
    .then((passed) => passed ?? err(abortError(signal)));
}

function policedOf(query: Routed, passed: Result<Passed, GatewayError>): Answer {
  return passed.ok ? ok(policedAs(query, passed.value.sql, passed.value.guarded)) : passed;
}
