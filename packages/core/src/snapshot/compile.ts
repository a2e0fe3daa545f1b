/**
 * From a checked configuration and its opened backends to a generation.
 *
 * Everything that depends only on config is made here once: routes, allow lists, strategies, limits.
 * Opening backends and reading files happen before, outside the core.
 */
import { capacityWaitTimeoutMs, type GroupConfig } from "@gateway/contract/config/group.ts";
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import type { TranslationConfig } from "@gateway/contract/config/translation.ts";
import type { RouterConfig } from "@gateway/contract/config/router.ts";
import { circuitBreaker, type Breaker } from "../cluster/breakers.ts";
import { candidateSource, type GroupMembers } from "../cluster/candidates.ts";
import { FirstAnswers } from "../cluster/firstAnswers.ts";
import { watchBackend, type Watch } from "../cluster/health.ts";
import { strategyOf } from "../cluster/strategy.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import { onFirstUse, type FirstUse } from "../tool/firstUse.ts";
import type { Authenticator } from "../port/authenticator.ts";
import type { AuthContext } from "../query/identity.ts";
import type { AdmitRequest } from "../port/capacity.ts";
import type { Authorizer } from "../port/authorizer.ts";
import type { Backend } from "../port/backend.ts";
import type { Host } from "../port/host.ts";
import type { Catalog } from "../port/sql/catalog.ts";
import type { Policy } from "../port/sql/policy.ts";
import { catalogsOf } from "../query/reached.ts";
import type { ScriptConfig } from "@gateway/contract/config/script.ts";
import type { Scripts } from "../script/scripts.ts";
import type { TokenExchange } from "../port/tokenExchange.ts";
import type { Policed, QueryLimits, Routed } from "../query/query.ts";
import { goingTo } from "../query/stages.ts";
import { err, ok, type Result } from "../result.ts";
import { compileGuards, type Guards } from "../guard/guards.ts";
import { lateSaid } from "../guard/late.ts";
import type { AskScan } from "../guard/scan.ts";
import type { GuardService } from "../port/sql/guardService.ts";
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import type { GuardrailsConfig } from "@gateway/contract/config/guardrail.ts";
import { askLocal, askScripts, noLocal, type AskScript } from "../route/rule/ask.ts";
import { compileRoutes, type Routing } from "../route/route.ts";
import { withEngineLogins, withinRealm } from "./engineLogins.ts";
import type { ClusterHealth, Generation } from "./generation.ts";
import { compileIdentities } from "./identities.ts";
import { judgesTexts, policingOf, type ControlledGroup } from "./policing.ts";
import { compileRewrites, ofUnknownGroups, type RewriteParts, type Rewrites } from "./rewrites.ts";
import { forEngine } from "./translate.ts";
import { translatorOf, type Translator } from "./translator.ts";

/** The part of the configuration that lives in a snapshot. */
export interface SnapshotConfig {
  readonly clusters: Readonly<
    Record<
      string,
      {
        readonly maxRunningQueries?: number | undefined;
        readonly queryAuth?: QueryAuth | undefined;
      }
    >
  >;
  readonly clusterGroups: Readonly<Record<string, GroupConfig>>;
  readonly routers: readonly RouterConfig[];
  readonly routingFallback?: string | undefined;
  readonly guardrails?: GuardrailsConfig | undefined;
  readonly scripts?: Readonly<Record<string, ScriptConfig>> | undefined;
  readonly translation?: TranslationConfig | undefined;
  readonly accessControl?: AccessControlConfig | undefined;
}

export interface CompileParts {
  readonly host: Host;
  /** Opened backends of every enabled cluster, by name. */
  readonly backends: ReadonlyMap<string, Backend>;
  /** For clusters under `tokenExchange`, by name. Closed with the backends. */
  readonly exchanges?: ReadonlyMap<string, TokenExchange>;
  /** Releases the backends; another generation may go on using some of them. */
  closeBackends(): Promise<void>;
  /** The scripts of the configuration, open; absent where it has none. */
  readonly scripts?: Scripts | undefined;
  /** Of the policy server under `accessControl`; absent where it names none. */
  readonly policy?: (Policy & Partial<AsyncDisposable>) | undefined;
  /** Web services of guards, by the guard's name; absent where no guard asks one. */
  readonly guardServices?: ReadonlyMap<string, GuardService> | undefined;
  /** Of the catalog provider; absent where the configuration names none. */
  readonly catalog?: (Catalog & Partial<AsyncDisposable>) | undefined;
  readonly authenticator: Authenticator & Partial<AsyncDisposable>;
  readonly authorizer: Authorizer & Partial<AsyncDisposable>;
  readonly revision: string;
  /** True when records hold their texts without values: long texts are then read ahead for that as well. */
  readonly recordsMasked?: boolean;
  /** Called when a cluster became usable or stopped being so: `() => capacity.wake()`. */
  changed(): void;
}

interface CompiledGroup extends GroupMembers, ControlledGroup {
  readonly name: string;
  readonly config: GroupConfig;
  readonly breakers: ReadonlyMap<string, Breaker>;
  readonly limits: QueryLimits;
  /** Undefined where no guard judges the group's queries. */
  readonly guards: Guards | undefined;
  /** Undefined where no script changes the group's statements. */
  readonly rewrites: Rewrites | undefined;
  /** Undefined where the group's statements are sent in their clients' own words. */
  readonly translator: Translator | undefined;
  readonly waitTimeoutMs: number;
  readonly defaultTags: readonly (readonly [string, string])[];
}

/** Makes a generation and begins to watch its backends. `config` passed `checkSnapshot`. */
export function compileSnapshot(config: SnapshotConfig, parts: CompileParts): Generation {
  const { host, backends, authorizer, policy, catalog } = parts;
  warnOfUnknownGroups(config, host);
  const authenticator = withEngineLogins(parts.authenticator, backends);
  const watches = watchesOf(parts);
  const learning = new FirstAnswers([...watches.values()], host.clock);
  const ask = askScripts(parts.scripts, host);
  const running = new Map<string, number>();
  const translator = translatorOf(config.translation, host, catalog);
  const groups = onFirstUse(config.clusterGroups, (name, group) =>
    compileGroup(name, group, { config, parts, watches, ask, translator }),
  );
  const identities = compileIdentities(config.clusters, parts);
  const within = withinRealm(authorizer, config.clusterGroups, backends);
  const routes = compileRoutes(config, within, ask);
  const policingParts = { host, ask, running, policy, catalog };
  const policing = policingOf(config.accessControl, policingParts, (name) => found(groups, name));
  return {
    revision: parts.revision,
    judgesTexts: judgesTexts(config, host),
    authenticator,
    authorizer,
    renew: (identity) => renewed(identity, host, authenticator),
    route: (asked, trace, signal) => {
      const identity = renewed(asked.session.identity, host, authenticator);
      if (identity === undefined) return err(gatewayError("auth.expired"));
      const query = askedBy(asked, identity);
      return taggedIn(routes.route(query, trace, signal), groups);
    },
    tagged: (query) => taggedAs(query, found(groups, query.group)),
    police: policing.police,
    shown: policing.shown,
    catalog,
    admission: (query, excluded) => admissionOf(query, found(groups, query.group), excluded),
    translate: (query, signal) => {
      const group = found(groups, query.group);
      const limits = query.guarded?.limits ?? group.limits;
      const { rewrites, translator: own, guards } = group;
      const backend = backends.get(query.slot.cluster);
      const recordsMasked = parts.recordsMasked === true;
      const writing = { host, backend, signal, recordsMasked, translator: own };
      return forEngine(query, writing, { limits, rewrites, guards });
    },
    identify: identities.identify,
    late: (query, told, signal) => {
      if (query.guarded?.late === undefined) return undefined;
      const { guards } = found(groups, query.group);
      const dialect = backends.get(query.slot.cluster)?.dialect ?? "generic";
      const askScan: AskScan = (asked) => told.askScan(asked);
      return lateSaid(query, { guards, dialect, askScan, log: told.log, signal });
    },
    audience: (query) =>
      policing.audience(query, identities.audience(query, found(groups, query.group).members)),
    backend: (cluster) => found(backends, cluster),
    backends: () => [...backends.values()],
    members: (group) => found(groups, group).members.map(({ cluster }) => found(backends, cluster)),
    // Asked anew each time: a backend learns its catalogs after it was opened.
    catalogs: () => catalogsOf([...backends.values()]),
    health: () => healthOf(watches, groups, backends),
    learned: () => learning.pending,
    limits: (group) => found(groups, group).limits,
    attempt: attemptsOf(groups, watches, running),
    close: async () => {
      learning[Symbol.dispose]();
      stopWatching(watches, groups);
      await closeParts(parts);
    },
  };
}

/** `running`: attempts by cluster, which strategies are told of. */
function attemptsOf(
  groups: Pick<FirstUse<CompiledGroup>, "get">,
  watches: ReadonlyMap<string, Watch>,
  running: Map<string, number>,
): Generation["attempt"] {
  return (group, cluster) => {
    const end = found(groups, group).breakers.get(cluster)?.begin();
    running.set(cluster, (running.get(cluster) ?? 0) + 1);
    return (outcome) => {
      running.set(cluster, (running.get(cluster) ?? 0) - 1);
      end?.(outcome);
      if (outcome === "failed") watches.get(cluster)?.suspect();
    };
  };
}

function warnOfUnknownGroups(
  { clusterGroups }: SnapshotConfig,
  { localRewrites, log }: CompileParts["host"],
): void {
  for (const unknown of ofUnknownGroups(localRewrites, clusterGroups)) {
    log.write("warn", "translation.unknownGroup", unknown);
  }
}

function taggedIn(routed: Routing, groups: Pick<FirstUse<CompiledGroup>, "get">): Routing {
  if (routed instanceof Promise) return routed.then((one) => taggedIn(one, groups));
  if (!routed.ok) return routed;
  const tagged = taggedAs(routed.value, found(groups, routed.value.group));
  return tagged === routed.value ? routed : ok(tagged);
}

function askedBy<Q extends { readonly session: { readonly identity: AuthContext } }>(
  asked: Q,
  identity: AuthContext,
): Q {
  const { session } = asked;
  return identity === session.identity ? asked : { ...asked, session: { ...session, identity } };
}

function watchesOf(parts: CompileParts): ReadonlyMap<string, Watch> {
  const watches = new Map<string, Watch>();
  for (const [name, backend] of parts.backends) {
    watches.set(
      name,
      watchBackend(backend, parts.host, () => parts.changed()),
    );
  }
  return watches;
}

/** Of groups that no query went to yet no breaker was made, so none can be open. */
function healthOf(
  watches: ReadonlyMap<string, Watch>,
  groups: FirstUse<CompiledGroup>,
  backends: ReadonlyMap<string, Backend>,
): readonly ClusterHealth[] {
  const breakers = new Map<string, Record<string, Breaker["state"]>>();
  for (const { name, breakers: own } of groups.made()) {
    for (const [cluster, { state }] of own) {
      breakers.set(cluster, { ...breakers.get(cluster), [name]: state });
    }
  }
  return [...watches].map(([cluster, { state }]) => ({
    cluster,
    engine: backends.get(cluster)?.engine ?? "",
    state,
    breakers: breakers.get(cluster) ?? {},
  }));
}

function stopWatching(watches: ReadonlyMap<string, Watch>, groups: FirstUse<CompiledGroup>): void {
  for (const watch of watches.values()) watch[Symbol.dispose]();
  for (const { breakers } of groups.made()) {
    for (const breaker of breakers.values()) breaker[Symbol.dispose]();
  }
}

async function closeParts(parts: CompileParts): Promise<void> {
  await parts.closeBackends();
  await parts.scripts?.[Symbol.asyncDispose]();
  await parts.policy?.[Symbol.asyncDispose]?.();
  await parts.catalog?.[Symbol.asyncDispose]?.();
  for (const service of parts.guardServices?.values() ?? []) await service[Symbol.asyncDispose]?.();
  await parts.authenticator[Symbol.asyncDispose]?.();
  await parts.authorizer[Symbol.asyncDispose]?.();
}

function admissionOf(
  query: Policed,
  group: CompiledGroup,
  excluded: ReadonlySet<string>,
): Result<AdmitRequest, GatewayError> {
  const source = candidateSource(group, excluded, query.order);
  if (source.kind === "none") return err(gatewayError("cluster.unavailable"));
  return ok({
    query,
    group: query.group,
    weight: group.config.weight,
    maxQueued: group.config.maxQueuedQueries,
    waitTimeoutMs: group.waitTimeoutMs,
    maxRunningPerUser: group.config.maxRunningPerUser,
    candidates: source.candidates,
  });
}

function renewed(
  identity: AuthContext,
  host: Host,
  authenticator: Authenticator,
): AuthContext | undefined {
  const { expiresAtMs } = identity;
  const expired = expiresAtMs !== undefined && host.clock.unixMs() >= expiresAtMs;
  if (expired) return undefined;
  // No provider of clients knows users of the admin API, which looks them up with each request.
  return identity.method === "admin" ? identity : authenticator.renew(identity);
}

interface GroupContext {
  readonly config: SnapshotConfig;
  readonly parts: CompileParts;
  readonly watches: ReadonlyMap<string, Watch>;
  readonly ask: AskScript;
  readonly translator: Translator | undefined;
}

function compileGroup(name: string, group: GroupConfig, context: GroupContext): CompiledGroup {
  const { config, parts, watches, ask, translator } = context;
  const breakers = new Map<string, Breaker>();
  // A disabled cluster was not opened; the group goes on with the others.
  const open = group.members.flatMap((member) => {
    const backend = parts.backends.get(member);
    return backend === undefined ? [] : [{ cluster: backend.cluster, backend }];
  });
  for (const { cluster } of open) {
    if (group.circuitBreaker === undefined) continue;
    const labels = { group: name, cluster };
    breakers.set(
      cluster,
      circuitBreaker(group.circuitBreaker, labels, parts.host, () => parts.changed()),
    );
  }
  const limits = limitsOf(group);
  return {
    name,
    config: group,
    breakers,
    members: open.map(({ cluster, backend }) => ({
      cluster,
      engine: backend.engine,
      clusterCap: config.clusters[cluster]?.maxRunningQueries,
      usable: () => watches.get(cluster)?.usable() ?? false,
      runningMax: () => breakers.get(cluster)?.runningMax() ?? Number.POSITIVE_INFINITY,
    })),
    dialects: [...new Set(open.map(({ backend }) => backend.dialect ?? "generic"))],
    maxRunning: group.maxRunningQueries,
    strategy: strategyOf(group.strategy),
    limits,
    guards: compileGuards(config.guardrails?.guards ?? [], name, limits, {
      ask,
      services: parts.guardServices,
    }),
    rewrites: compileRewrites(rewriteParts(config, name, { ask, host: parts.host }), name),
    translator: translates(config, name) ? translator : undefined,
    waitTimeoutMs: capacityWaitTimeoutMs(group),
    defaultTags: Object.entries(group.defaultTags),
  };
}

function rewriteParts(
  { translation, accessControl }: SnapshotConfig,
  group: string,
  { ask, host }: { readonly ask: AskScript; readonly host: Host },
): RewriteParts {
  const { localRewrites: local } = host;
  const policed = isPoliced(accessControl, group);
  return {
    translation,
    policed,
    ask,
    local,
    askLocal: local === undefined ? noLocal : askLocal(local, host),
  };
}

/** Never behind a policy: what access control made of a text is what was proven of it. The check refuses such a configuration; here it would have no effect. */
function translates({ translation, accessControl }: SnapshotConfig, group: string): boolean {
  return !isPoliced(accessControl, group) && (translation?.clusterGroups?.includes(group) ?? true);
}

function isPoliced(accessControl: SnapshotConfig["accessControl"], group: string): boolean {
  return accessControl !== undefined && (accessControl.clusterGroups?.includes(group) ?? true);
}

function limitsOf({ maxExecutionSecs, maxRows, maxTransactionSecs }: GroupConfig): QueryLimits {
  return {
    maxExecutionMs: maxExecutionSecs === undefined ? undefined : maxExecutionSecs * 1_000,
    maxRows,
    maxTransactionMs: maxTransactionSecs === undefined ? undefined : maxTransactionSecs * 1_000,
  };
}

/** Tags of the group, where the client set none of that name. */
function taggedAs(query: Routed, { defaultTags, name }: CompiledGroup): Routed {
  if (defaultTags.length === 0) return goingTo(query, name);
  const tags = new Map([...defaultTags, ...query.session.tags]);
  return { ...query, group: name, session: { ...query.session, tags } };
}

/** A name that the check of the snapshot found; its absence is a bug. */
function found<Value>(known: Pick<FirstUse<Value>, "get">, name: string): Value {
  const value = known.get(name);
  if (value === undefined) throw new Error(`not in this generation: ${name}`);
  return value;
}
