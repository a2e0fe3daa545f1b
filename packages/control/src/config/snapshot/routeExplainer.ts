/**
 * Route explain over what is served now: compiled once per revision, opening nothing.
 *
 * The generation that this process serves asks OpenFGA. Where it serves none of that revision
 * (a function, or a change that is not active yet) a yes is left open instead of being guessed.
 */
import type { Authorizer } from "@gateway/core/port/authorizer.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { askScripts, noScripts } from "@gateway/core/route/rule/ask.ts";
import {
  routeExplainer as explainerOf,
  type ExplainedBy,
  type RouteExplanation,
  type RouteQuestion,
} from "@gateway/core/route/explain.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { Configuration } from "../configuration.ts";
import { fileOf } from "../file.ts";
import { fileSchema, type FileConfig } from "../objects.ts";
import { objectsOfBody } from "./build.ts";

type Explain = (question: RouteQuestion) => Promise<RouteExplanation>;
type ExplainBy = (by: Authorizer | undefined) => Explain;
/** Where the scripts of routers run; absent in a function, where a query that meets one is refused. */
type ScriptPlace = Pick<Host, "scripts" | "log" | "metrics">;

/** Answers `config.notReady` as the refusal while there is no configuration. `generations`: what this process serves, if it serves. */
export function routeExplainer(
  configuration: Pick<Configuration, "current">,
  generations?: Pick<Generations, "hold">,
  host?: ScriptPlace,
): Explain {
  let compiled: { readonly hash: string; readonly explainBy: ExplainBy } | undefined;
  return async (question) => {
    const built = configuration.current();
    if (built === undefined) {
      const message = "The gateway has no active configuration yet.";
      return { group: undefined, refusal: { code: "config.notReady", message }, trace: [] };
    }
    const { hash } = built.revision;
    if (compiled?.hash !== hash) compiled = { hash, explainBy: explainFor(built.bytes, host) };
    const held = generations?.hold();
    using hold = held?.ok === true ? held.value : undefined;
    const isServed = hold?.generation.revision.endsWith(`.${hash}`) === true;
    return await compiled.explainBy(isServed ? hold.generation.authorizer : undefined)(question);
  };
}

function explainFor(bytes: Uint8Array, host: ScriptPlace | undefined): ExplainBy {
  // It was checked when it was written; what no longer parses was refused by `refresh` already.
  const config = fileSchema.parse(fileOf(objectsOfBody(bytes)));
  const operators = {
    groups: config.auth?.operatorGroups ?? [],
    roles: config.auth?.operatorRoles ?? [],
  };
  const lists = allowListAuthorizer(config.clusterGroups, operators);
  const listsDecide = config.authorization.provider === "none";
  const explainerBy = (by: Omit<ExplainedBy, "ask">): Explain =>
    Object.keys(config.scripts).length === 0
      ? explainerOf(config, { ...by, ask: noScripts })
      : (question) => withScripts(config, by, host, question);
  const byLists = explainerBy({ authorizer: lists, complete: listsDecide });
  let last: { readonly by: Authorizer; readonly explain: Explain } | undefined;
  return (authorizer) => {
    if (listsDecide || authorizer === undefined) return byLists;
    const by = { authorizer, complete: true };
    if (last?.by !== authorizer) last = { by: authorizer, explain: explainerBy(by) };
    return last.explain;
  };
}

/** Opens the scripts for one question: few are asked, and what is open for queries is not this process's everywhere. */
async function withScripts(
  config: FileConfig,
  by: Omit<ExplainedBy, "ask">,
  host: ScriptPlace | undefined,
  question: RouteQuestion,
): Promise<RouteExplanation> {
  const opened = await host?.scripts?.open(config.scripts);
  if (host === undefined || opened?.ok !== true) {
    return explainerOf(config, { ...by, ask: noScripts })(question);
  }
  await using scripts = opened.value;
  return await explainerOf(config, { ...by, ask: askScripts(scripts, host) })(question);
}
