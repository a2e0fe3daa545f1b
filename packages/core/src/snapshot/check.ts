/**
 * Checks the parts of a configuration against each other: every name that is used exists, every regular
 * expression compiles. It reports every problem at once, so that one edit can correct the file.
 *
 * It is not about shapes: the schemas have checked those before.
 */
import { scanEstimatingEngines } from "@gateway/contract/config/guardrail.ts";
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import type { CatalogProviderConfig } from "@gateway/contract/config/catalogProvider.ts";
import type { GroupConfig } from "@gateway/contract/config/group.ts";
import type { GuardConfig, GuardrailsConfig } from "@gateway/contract/config/guardrail.ts";
import type { ConditionConfig, RouterConfig } from "@gateway/contract/config/router.ts";
import { expressionProblem } from "../police/expression.ts";
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import type { ScriptConfig, ScriptUse } from "@gateway/contract/config/script.ts";
import type { TranslationConfig } from "@gateway/contract/config/translation.ts";
import { compileRegex } from "../regex/regex.ts";
import { unreachable } from "../result.ts";
import { catalogProblems } from "./catalog/check.ts";

/** One thing that is wrong. `path` leads to it from the root, as zod's issues have it. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** The parts that refer to each other. */
export interface SnapshotParts {
  readonly clusters: Readonly<
    Record<string, { readonly engine: string; readonly queryAuth?: QueryAuth | undefined }>
  >;
  readonly clusterGroups: Readonly<Record<string, GroupConfig>>;
  readonly routers: readonly RouterConfig[];
  readonly routingFallback?: string | undefined;
  readonly guardrails?: GuardrailsConfig | undefined;
  readonly scripts?: ScriptMap | undefined;
  readonly translation?: TranslationParts | undefined;
  readonly accessControl?: AccessControlConfig | undefined;
  readonly catalogProvider?: CatalogProviderConfig | undefined;
}

type TranslationParts = Pick<TranslationConfig, "scripts"> &
  Partial<Pick<TranslationConfig, "mode" | "clusterGroups" | "schemaResolutionTimeoutMs">>;
type ScriptMap = Readonly<Record<string, Pick<ScriptConfig, "use">>>;

type Path = ConfigProblem["path"];

/** What may be named. */
interface Known {
  readonly groups: ReadonlySet<string>;
  readonly scripts: ScriptMap;
}

/** Every problem, in the order of the file; empty when there is none. */
export function checkSnapshot(config: SnapshotParts): readonly ConfigProblem[] {
  const engines = new Map(
    Object.entries(config.clusters).map(([name, { engine }]) => [name, engine]),
  );
  const groups = new Set(Object.keys(config.clusterGroups));
  const { routingFallback, scripts = {} } = config;
  return [
    ...Object.entries(config.clusterGroups).flatMap(([name, group]) => [
      ...groupProblems(group, engines, ["clusterGroups", name]),
      ...(group.strategy.type === "script"
        ? scriptProblems(group.strategy.script, "order", scripts, [
            "clusterGroups",
            name,
            "strategy",
          ])
        : []),
    ]),
    ...config.routers.flatMap((router, index) =>
      routerProblems(router, { groups, scripts }, ["routers", index]),
    ),
    ...(routingFallback === undefined
      ? []
      : unknownGroup(routingFallback, groups, ["routingFallback"])),
    ...guardProblems(config.guardrails?.guards ?? [], { groups, scripts }),
    ...scanProblems(config, engines),
    ...rewriteProblems(config, { groups, scripts }),
    ...translationProblems(config, groups),
    ...accessProblems(config.accessControl, groups),
    ...catalogProblems(config),
  ];
}

function guardProblems(
  guards: readonly GuardConfig[],
  { groups, scripts }: Known,
): readonly ConfigProblem[] {
  const names = new Set<string>();
  return guards.flatMap((guard, index) => {
    const at = ["guardrails", "guards", index];
    const { name, clusterGroups = [], conditions = [] } = guard;
    const twice = names.has(name);
    names.add(name);
    return [
      ...(twice
        ? [{ path: [...at, "name"], reason: `${JSON.stringify(name)} is there twice` }]
        : []),
      ...clusterGroups.flatMap((group, place) =>
        unknownGroup(group, groups, [...at, "clusterGroups", place]),
      ),
      ...conditionProblems(conditions, scripts, [...at, "conditions"]),
      ...(guard.type === "queryRegex" ? regexProblems(guard, at) : []),
      ...(guard.type === "script" ? scriptProblems(guard.script, "judge", scripts, at) : []),
    ];
  });
}

/** Behind a policy nothing may be written: what access control made of a text is what was proven of it. */
function rewriteProblems(
  { translation, accessControl }: SnapshotParts,
  { groups, scripts }: Known,
): readonly ConfigProblem[] {
  const isPoliced = (group: string): boolean =>
    accessControl !== undefined && (accessControl.clusterGroups?.includes(group) ?? true);
  return (translation?.scripts ?? []).flatMap(({ script, clusterGroups }, index) => {
    const at = ["translation", "scripts", index];
    const policed = [...(clusterGroups ?? groups)].find(isPoliced);
    return [
      ...scriptProblems(script, "rewrite", scripts, at),
      ...(clusterGroups ?? []).flatMap((group, place) =>
        unknownGroup(group, groups, [...at, "clusterGroups", place]),
      ),
      ...(policed === undefined
        ? []
        : [
            {
              path: at,
              reason: `would change statements that accessControl judged, of ${policed}`,
            },
          ]),
    ];
  });
}

function translationProblems(
  { translation, accessControl }: SnapshotParts,
  groups: ReadonlySet<string>,
): readonly ConfigProblem[] {
  if (translation === undefined) return [];
  const { mode = "off", clusterGroups } = translation;
  const unknown = (clusterGroups ?? []).flatMap((group, place) =>
    unknownGroup(group, groups, ["translation", "clusterGroups", place]),
  );
  if (mode === "off" || accessControl === undefined) return unknown;
  const isPoliced = (group: string): boolean =>
    accessControl.clusterGroups?.includes(group) ?? true;
  const policed = [...(clusterGroups ?? groups)].find(isPoliced);
  if (policed === undefined) return unknown;
  const reason = `would translate statements that accessControl judged, of ${policed}; name other groups at translation.clusterGroups`;
  return [...unknown, { path: ["translation", "mode"], reason }];
}

function accessProblems(
  access: AccessControlConfig | undefined,
  groups: ReadonlySet<string>,
): readonly ConfigProblem[] {
  if (access === undefined) return [];
  const at = ["accessControl"];
  const names = new Set<string>();
  return [
    ...(access.clusterGroups ?? []).flatMap((group, place) =>
      unknownGroup(group, groups, [...at, "clusterGroups", place]),
    ),
    ...(access.provider === "rules" ? access.rules : []).flatMap((rule, index) => {
      const path = [...at, "rules", index];
      const { name, rowFilter, masks = {} } = rule;
      const twice = names.has(name);
      names.add(name);
      return [
        ...(twice
          ? [{ path: [...path, "name"], reason: `${JSON.stringify(name)} is there twice` }]
          : []),
        ...(rowFilter === undefined ? [] : expressionProblems(rowFilter, [...path, "rowFilter"])),
        ...Object.entries(masks).flatMap(([column, mask]) =>
          expressionProblems(mask, [...path, "masks", column]),
        ),
      ];
    }),
  ];
}

function expressionProblems(text: string, path: Path): readonly ConfigProblem[] {
  const reason = expressionProblem(text);
  return reason === undefined ? [] : [{ path, reason }];
}

function groupProblems(
  group: GroupConfig,
  engines: ReadonlyMap<string, string>,
  path: Path,
): readonly ConfigProblem[] {
  const members = group.members.flatMap((member, index): readonly ConfigProblem[] => {
    const at = [...path, "members", index];
    if (group.members.indexOf(member) < index) {
      return [{ path: at, reason: `${JSON.stringify(member)} is listed twice` }];
    }
    return unknownName(member, engines, "cluster", at);
  });
  return [...members, ...strategyProblems(group, engines, [...path, "strategy"])];
}

function strategyProblems(
  { strategy, members }: GroupConfig,
  engines: ReadonlyMap<string, string>,
  path: Path,
): readonly ConfigProblem[] {
  switch (strategy.type) {
    case "roundRobin":
    case "leastLoaded":
    case "failover":
    case "script":
      return [];
    case "weighted": {
      const known = new Set(members);
      return Object.keys(strategy.weights).flatMap((name) =>
        unknownName(name, known, "member of the group", [...path, "weights", name]),
      );
    }
    case "engineAffinity": {
      const used = new Set(members.flatMap((member) => engines.get(member) ?? []));
      return strategy.preference.flatMap((engine, index) =>
        unknownName(engine, used, "engine among the members", [...path, "preference", index]),
      );
    }
    default:
      return unreachable(strategy);
  }
}

function routerProblems(
  router: RouterConfig,
  { groups, scripts }: Known,
  path: Path,
): readonly ConfigProblem[] {
  const targets = (map: Readonly<Record<string, unknown>>, key: string) =>
    Object.entries(map).flatMap(([name, group]) =>
      typeof group === "string" ? unknownGroup(group, groups, [...path, key, name]) : [],
    );
  switch (router.type) {
    case "protocolBased":
      return targets(router.protocols, "protocols");
    case "header":
      return targets(router.headerValueToGroup, "headerValueToGroup");
    case "userGroup":
      return [
        ...targets(router.userToGroup, "userToGroup"),
        ...targets(router.groupToGroup, "groupToGroup"),
      ];
    case "queryRegex":
      return router.rules.flatMap((rule, index) => {
        const at = [...path, "rules", index];
        const target = rule.targetGroup;
        return [
          ...regexProblems(rule, at),
          ...(target === undefined ? [] : unknownGroup(target, groups, [...at, "targetGroup"])),
        ];
      });
    case "tags":
      return router.rules.flatMap((rule, index) =>
        unknownGroup(rule.targetGroup, groups, [...path, "rules", index, "targetGroup"]),
      );
    case "compound":
      return [
        ...conditionProblems(router.conditions, scripts, [...path, "conditions"]),
        ...unknownGroup(router.targetGroup, groups, [...path, "targetGroup"]),
      ];
    case "script":
      return [
        ...scriptProblems(router.script, "route", scripts, path),
        ...router.targetGroups.flatMap((group, index) =>
          unknownGroup(group, groups, [...path, "targetGroups", index]),
        ),
      ];
    default:
      return unreachable(router);
  }
}

function conditionProblems(
  conditions: readonly ConditionConfig[],
  scripts: ScriptMap,
  path: Path,
): readonly ConfigProblem[] {
  return conditions.flatMap((condition, index) => {
    const at = [...path, index];
    if (condition.type === "queryRegex") return regexProblems(condition, at);
    if (condition.type === "script") return scriptProblems(condition.script, "match", scripts, at);
    if (condition.type !== "compound") return [];
    return conditionProblems(condition.conditions, scripts, [...at, "conditions"]);
  });
}

/** The script exists and is for this place; `path` leads to whatever refers to it. */
function scriptProblems(
  name: string,
  use: ScriptUse,
  scripts: ScriptMap,
  path: Path,
): readonly ConfigProblem[] {
  const at = [...path, "script"];
  // Names come from the file, and every object has a `constructor`.
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  if (script === undefined)
    return unknownName(name, new Map(Object.entries(scripts)), "script", at);
  if (script.use === use) return [];
  return [{ path: at, reason: `needs a script of the use ${use}; this one's is ${script.use}` }];
}

function regexProblems(
  { regex, caseSensitive }: { readonly regex: string; readonly caseSensitive: boolean },
  path: Path,
): readonly ConfigProblem[] {
  const compiled = compileRegex(regex, { ignoreCase: !caseSensitive });
  if (compiled.ok) return [];
  const { at, reason } = compiled.error;
  return [{ path: [...path, "regex"], reason: `${reason} (at character ${at + 1})` }];
}

function unknownGroup(
  name: string,
  groups: ReadonlySet<string>,
  path: Path,
): readonly ConfigProblem[] {
  return unknownName(name, groups, "cluster group", path);
}

/** Most names that a reason lists. */
const namesShownMax = 10;

function unknownName(
  name: string,
  known: Pick<ReadonlySet<string>, "has" | "keys">,
  what: string,
  path: Path,
): readonly ConfigProblem[] {
  // Thousands of groups name thousands of clusters, and nearly all names are right.
  if (known.has(name)) return [];
  const names = [...known.keys()];
  const shown = names.slice(0, namesShownMax).join(", ");
  const more = names.length > namesShownMax ? ", …" : "";
  const hint = names.length === 0 ? "" : `; known: ${shown}${more}`;
  return [{ path, reason: `there is no ${what} ${JSON.stringify(name)}${hint}` }];
}

/**
 * Guards that ask engines how much a statement would read judge no group with an engine that can not say so. One problem for
 * each guard and group, with the first cluster that is in its way.
 */
function scanProblems(
  { guardrails, clusterGroups }: Pick<SnapshotParts, "guardrails" | "clusterGroups">,
  engines: ReadonlyMap<string, string>,
): readonly ConfigProblem[] {
  return (guardrails?.guards ?? []).flatMap((guard, index) => {
    if (guard.type !== "maxScanBytes") return [];
    return (guard.clusterGroups ?? Object.keys(clusterGroups)).flatMap((group) => {
      const members = Object.hasOwn(clusterGroups, group) ? clusterGroups[group]?.members : [];
      const other = members?.find((name) => !estimates(engines.get(name)));
      if (other === undefined) return [];
      const named = guard.clusterGroups?.indexOf(group) ?? -1;
      const at = ["guardrails", "guards", index];
      const reason = `the group ${group} has the cluster ${other} of the engine ${engines.get(other) ?? ""}, which does not say before a statement runs how many bytes it would read`;
      return [{ path: named < 0 ? [...at, "type"] : [...at, "clusterGroups", named], reason }];
    });
  });
}

/** A name that leads to no cluster is a problem of its own. */
function estimates(engine: string | undefined): boolean {
  return engine === undefined || scanEstimatingEngines.has(engine);
}
