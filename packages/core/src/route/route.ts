/**
 * Which cluster group a query goes to.
 *
 * One ordered list of routers, the first match wins. A match is final: when its group is disabled or
 * the caller may not use it, the query is refused and does not slip through to a later router.
 * A session that chose its group goes there, unless the first router that matches denies.
 * Without a match `routingFallback` is taken if the caller may use it, else the first group the
 * caller may use by `order`, then by name.
 */
import type { RoutingStep } from "@gateway/contract/record.ts";
import type { RouterConfig } from "@gateway/contract/config/router.ts";
import { abortError, gatewayError, type GatewayError } from "../error.ts";
import type { Authorizer } from "../port/authorizer.ts";
import type { Query, Routed } from "../query/query.ts";
import { routedTo } from "../query/stages.ts";
import { err, ok, unreachable, type Result } from "../result.ts";
import { compoundRule } from "./rule/compound.ts";
import { headerRule } from "./rule/header.ts";
import { protocolRule } from "./rule/protocol.ts";
import { queryRegexRule } from "./rule/queryRegex.ts";
import type { AskScript } from "./rule/ask.ts";
import { noMatch, type LaterRule, type RuleDecision } from "./rule/rule.ts";
import { scriptRule } from "./rule/script.ts";
import { tagsRule } from "./rule/tags.ts";
import { userGroupRule } from "./rule/userGroup.ts";

/** What routing is compiled from. Names were checked before (snapshot/check.ts). */
export interface RoutesConfig {
  readonly routers: readonly RouterConfig[];
  readonly routingFallback?: string | undefined;
  readonly clusterGroups: Readonly<
    Record<string, { readonly enabled: boolean; readonly order: number }>
  >;
}

export interface Routes {
  /**
   * Chooses the group and appends what each step said to `trace`, also when it refuses: with
   * `route.denied` (a rule denies), `route.forbidden` (the caller may not use the matched group),
   * `route.noGroup` (the matched group is disabled, or no group is left) or the signal's reason.
   */
  route(query: Query, trace: RoutingStep[], signal: AbortSignal): Routing;
}

/** A promise only where a script or an authorizer has to be waited for. */
export type Routing = Result<Routed, GatewayError> | Promise<Result<Routed, GatewayError>>;

/** Compiles the routers, once per generation. */
export function compileRoutes(
  config: RoutesConfig,
  authorizer: Authorizer,
  ask: AskScript,
): Routes {
  return new CompiledRoutes(config, authorizer, ask);
}

interface CompiledRouter {
  readonly step: string;
  readonly rule: LaterRule;
  /** Shared by all queries, so that a router that does not match allocates nothing. */
  readonly passed: RoutingStep;
  /** Of its last match. Mostly the next one is the same, and its record knows it by identity. */
  last: { readonly decision: Match; readonly said: RoutingStep } | undefined;
}

type Match = Exclude<RuleDecision, { kind: "none" }>;

class CompiledRoutes implements Routes {
  readonly #routers: readonly CompiledRouter[];
  readonly #config: RoutesConfig;
  readonly #authorizer: Authorizer;
  /** Made for the first query that no router matches: thousands take milliseconds to sort. */
  #fallbacks: readonly string[] | undefined;
  /** That a router named last, of those that are enabled: mostly the next one is the same. */
  #lastEnabled: string | undefined;
  #lastFallback:
    | { readonly group: string; readonly allowed: boolean; readonly said: RoutingStep }
    | undefined;

  constructor(config: RoutesConfig, authorizer: Authorizer, ask: AskScript) {
    this.#routers = config.routers.map((router, index) => {
      const step = `${router.type}[${index}]`;
      const passed = { step, outcome: "no match" };
      return { step, rule: ruleOf(router, ask), passed, last: undefined };
    });
    this.#config = config;
    this.#authorizer = authorizer;
  }

  route(query: Query, trace: RoutingStep[], signal: AbortSignal): Routing {
    for (let index = 0; index < this.#routers.length; index += 1) {
      const decision = this.#routers[index]?.rule(query) ?? noMatch;
      if (decision instanceof Promise) {
        return this.#later(query, { from: index, decision }, trace, signal);
      }
      const routed = this.#decided(query, { index, decision }, trace, signal);
      if (routed !== undefined) return routed;
    }
    return this.#afterAll(query, trace, signal);
  }

  /** The routers from the first one that has to be waited for. */
  async #later(
    query: Query,
    first: { readonly from: number; readonly decision: ReturnType<LaterRule> },
    trace: RoutingStep[],
    signal: AbortSignal,
  ): Promise<Result<Routed, GatewayError>> {
    for (let index = first.from; index < this.#routers.length; index += 1) {
      const asked = index === first.from ? first.decision : this.#routers[index]?.rule(query);
      const answer = asked instanceof Promise ? await asked : ok(asked ?? noMatch);
      if (signal.aborted) return err(abortError(signal));
      if (!answer.ok) {
        trace.push({ step: this.#stepOf(index), outcome: "failed" });
        return answer;
      }
      const routed = this.#decided(query, { index, decision: answer.value }, trace, signal);
      if (routed !== undefined) return routed;
    }
    return this.#afterAll(query, trace, signal);
  }

  /** No router matched, or the client chose the group and none denied. */
  #afterAll(query: Query, trace: RoutingStep[], signal: AbortSignal): Routing {
    const { chosenGroup } = query.session;
    if (chosenGroup === undefined) return this.#unmatched(query, trace, signal);
    trace.push({ step: "chosen", outcome: `group ${chosenGroup}` });
    return this.#matched(query, chosenGroup, trace, signal);
  }

  #fallbackSaid(group: string, allowed: boolean): RoutingStep {
    const last = this.#lastFallback;
    if (last?.group === group && last.allowed === allowed) return last.said;
    const outcome = allowed ? `group ${group}` : `${group} is not allowed`;
    const said = { step: "fallback", outcome };
    this.#lastFallback = { group, allowed, said };
    return said;
  }

  #saidOf(index: number, decision: Match): RoutingStep {
    const router = this.#routers[index];
    const last = router?.last;
    if (last !== undefined && isAlike(last.decision, decision)) return last.said;
    const said = { step: this.#stepOf(index), outcome: outcomeOf(decision) };
    if (router !== undefined) router.last = { decision, said };
    return said;
  }

  #stepOf(index: number): string {
    return this.#routers[index]?.step ?? "";
  }

  /** Undefined where the router does not match. */
  #decided(
    query: Query,
    { index, decision }: { readonly index: number; readonly decision: RuleDecision },
    trace: RoutingStep[],
    signal: AbortSignal,
  ): Routing | undefined {
    if (decision.kind === "none") {
      const passed = this.#routers[index]?.passed;
      if (passed !== undefined) trace.push(passed);
      return undefined;
    }
    trace.push(this.#saidOf(index, decision));
    if (decision.kind === "deny") return err(denied(decision.error));
    if (query.session.chosenGroup !== undefined) return this.#afterAll(query, trace, signal);
    return this.#matched(query, decision.group, trace, signal);
  }

  #matched(query: Query, group: string, trace: RoutingStep[], signal: AbortSignal): Routing {
    const asked = this.#authorizer.mayUse(query.session.identity, group, signal);
    const going = { query, group, trace, signal };
    if (typeof asked === "boolean") return this.#judged(asked, going);
    return asked.then((allowed) => this.#judged(allowed, going));
  }

  #judged(allowed: boolean, { query, group, trace, signal }: Going): Result<Routed, GatewayError> {
    if (signal.aborted) return err(abortError(signal));
    if (!allowed) {
      trace.push({ step: "authorization", outcome: `${group} is not allowed` });
      return err(gatewayError("route.forbidden"));
    }
    if (group !== this.#lastEnabled && !isEnabled(this.#config, group)) {
      trace.push({ step: "group", outcome: `${group} is disabled` });
      return err(gatewayError("route.noGroup"));
    }
    this.#lastEnabled = group;
    return ok(routedTo(query, group, trace));
  }

  /** The first group that is allowed, beginning with number `first`. */
  #unmatched(query: Query, trace: RoutingStep[], signal: AbortSignal, first = 0): Routing {
    const fallbacks = (this.#fallbacks ??= fallbacksOf(this.#config));
    for (let index = first; index < fallbacks.length; index += 1) {
      const group = fallbacks[index] ?? "";
      const asked = this.#authorizer.mayUse(query.session.identity, group, signal);
      const going = { query, group, trace, signal };
      if (typeof asked !== "boolean") {
        return asked.then(
          (allowed) =>
            this.#fellBack(allowed, going) ?? this.#unmatched(query, trace, signal, index + 1),
        );
      }
      const routed = this.#fellBack(asked, going);
      if (routed !== undefined) return routed;
    }
    trace.push({ step: "fallback", outcome: "no group is left" });
    return err(gatewayError("route.noGroup"));
  }

  #fellBack(
    allowed: boolean,
    { query, group, trace, signal }: Going,
  ): Result<Routed, GatewayError> | undefined {
    if (signal.aborted) return err(abortError(signal));
    trace.push(this.#fallbackSaid(group, allowed));
    return allowed ? ok(routedTo(query, group, trace)) : undefined;
  }
}

interface Going {
  readonly query: Query;
  readonly group: string;
  readonly trace: RoutingStep[];
  readonly signal: AbortSignal;
}

/** Names of groups come from routers, and every object has a `constructor`. */
function isEnabled({ clusterGroups }: RoutesConfig, group: string): boolean {
  return Object.hasOwn(clusterGroups, group) && clusterGroups[group]?.enabled === true;
}

/** Enabled groups in the order they are tried without a match. */
function fallbacksOf(config: RoutesConfig): readonly string[] {
  const { clusterGroups, routingFallback } = config;
  const ordered = Object.entries(clusterGroups)
    .filter(([, group]) => group.enabled)
    .toSorted(
      ([a, { order: orderA }], [b, { order: orderB }]) => orderA - orderB || (a < b ? -1 : 1),
    )
    .map(([name]) => name);
  if (routingFallback === undefined || !isEnabled(config, routingFallback)) return ordered;
  return [routingFallback, ...ordered.filter((name) => name !== routingFallback)];
}

function ruleOf(router: RouterConfig, ask: AskScript): LaterRule {
  switch (router.type) {
    case "protocolBased":
      return protocolRule(router.protocols);
    case "header":
      return headerRule(router.headerName, router.headerValueToGroup);
    case "userGroup":
      return userGroupRule(router.userToGroup, router.groupToGroup);
    case "queryRegex":
      return queryRegexRule(router.rules);
    case "tags":
      return tagsRule(router.rules);
    case "compound":
      return compoundRule(router, ask);
    case "script":
      return scriptRule(router.script, router.targetGroups, ask);
    default:
      return unreachable(router);
  }
}

/** Whether both are told in the same words. */
function isAlike(some: Match, other: Match): boolean {
  const group = some.kind === "deny" ? undefined : some.group;
  return group === (other.kind === "deny" ? undefined : other.group) && some.rule === other.rule;
}

function outcomeOf(decision: Match): string {
  const outcome = decision.kind === "deny" ? "denied" : `group ${decision.group}`;
  return decision.rule === undefined ? outcome : `rule ${decision.rule}: ${outcome}`;
}

function denied(text: string | undefined): GatewayError {
  return gatewayError("route.denied", text === undefined ? {} : { message: text });
}
