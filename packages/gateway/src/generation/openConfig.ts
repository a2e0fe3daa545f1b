/**
 * Opens what a configuration names (backends, the authenticator) and compiles it to a generation. Each provider is
 * loaded when a configuration names it: with their libraries they are megabytes of a gateway at rest.
 */
import { noneAuthenticator } from "@gateway/access/client/none.ts";
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
import type { CommonClusterConfig } from "@gateway/contract/config/cluster.ts";
import type { SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Authenticator } from "@gateway/core/port/authenticator.ts";
import type { Authorizer } from "@gateway/core/port/authorizer.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Scripts } from "@gateway/core/script/scripts.ts";
import type { TokenExchange } from "@gateway/core/port/tokenExchange.ts";
import type { Redaction } from "@gateway/core/record/redact.ts";
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { compileSnapshot, type CompileParts } from "@gateway/core/snapshot/compile.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { engines } from "@gateway/engines/catalog.ts";
import type { Contents, EngineDescriptor } from "@gateway/engines/descriptor.ts";
import { openCatalogOf } from "./openCatalog.ts";
import { OpenBackends } from "./openBackends.ts";
import type { StartError } from "../starting.ts";

export interface OpenParts {
  readonly host: Host;
  /** Told when a cluster may be used again. */
  readonly capacity: Pick<Capacity, "wake">;
  /** Those that are open already, and how to open others. */
  readonly backends: OpenBackends;
  /** What records of the configuration tell; nothing is read for them where it is not said. */
  readonly redaction?: Redaction | undefined;
}

/** A configuration whose backends are open; what is left to do can not fail. */
export interface OpenedConfig {
  /** `revision`: `epoch.sequence.hash`, written into every record. */
  compile(revision: string): Generation;
  /** Closes the backends of a configuration that is not compiled after all. */
  discard(): Promise<void>;
}

/** Opens every enabled cluster that is not open yet. Answers each that can not be opened, with the others closed again. */
export async function openConfig(
  config: SnapshotConfig,
  { host, capacity, backends: shared, redaction }: OpenParts,
): Promise<Result<OpenedConfig, readonly StartError[]>> {
  // A large configuration is taken up in several turns, so that queries are served in between.
  await nextTurn();
  const enabled = Object.keys(config.clusters).flatMap((name) => {
    const cluster = config.clusters[name];
    return cluster?.enabled === true ? [[name, cluster] as const] : [];
  });
  await nextTurn();
  const opened = await Promise.all(enabled.map(([name, cluster]) => shared.hold(name, cluster)));
  const held = opened.flatMap((one) => (one.ok ? [one.value] : []));
  const scripts = await openScripts(config, host);
  const backends = held.map(({ backend }) => backend);
  const catalog = await openCatalogOf(config, backends, host);
  const failures = [
    ...opened.flatMap((one) => (one.ok ? [] : [one.error])),
    ...(scripts.ok ? [] : scripts.error),
    ...(catalog.ok ? [] : catalog.error),
  ];
  const closeBackends = async (): Promise<void> => {
    await Promise.all(held.map((one) => one[Symbol.asyncDispose]()));
  };
  if (failures.length > 0 || !scripts.ok || !catalog.ok) {
    await closeBackends();
    if (catalog.ok) await catalog.value?.[Symbol.asyncDispose]?.();
    if (scripts.ok) await scripts.value?.[Symbol.asyncDispose]();
    return err(failures);
  }
  const lists = allowListAuthorizer(config.clusterGroups, operatorsOf(config));
  const authorizer = await authorizerOf(config.authorization, lists, host);
  const policy = await policyServer(config.accessControl, host);
  const guardServices = await guardServicesOf(config.guardrails, host);
  await nextTurn();
  const authenticator = await authenticatorOf(config.auth, host);
  await nextTurn();
  const compile = (revision: string): Generation =>
    compileSnapshot(config, {
      host,
      backends: new Map(backends.map((backend) => [backend.cluster, backend])),
      exchanges: new Map(
        held.flatMap(({ backend, exchange }) =>
          exchange === undefined ? [] : [[backend.cluster, exchange] as const],
        ),
      ),
      closeBackends,
      scripts: scripts.value,
      policy,
      catalog: catalog.value,
      guardServices,
      authenticator,
      authorizer,
      revision,
      recordsMasked: redaction === "maskLiterals",
      changed: () => capacity.wake(),
    });
  return ok({
    compile,
    discard: async () => {
      await closeBackends();
      await scripts.value?.[Symbol.asyncDispose]();
      await policy?.[Symbol.asyncDispose]?.();
      await catalog.value?.[Symbol.asyncDispose]?.();
      for (const one of guardServices?.values() ?? []) await one[Symbol.asyncDispose]?.();
      await authenticator[Symbol.asyncDispose]?.();
      await authorizer[Symbol.asyncDispose]?.();
    },
  });
}

function operatorsOf({ auth }: SnapshotConfig): Parameters<typeof allowListAuthorizer>[1] {
  return { groups: auth?.operatorGroups ?? [], roles: auth?.operatorRoles ?? [] };
}

/** Undefined where the configuration has none: nothing is loaded for it then. */
async function openScripts(
  { scripts }: SnapshotConfig,
  host: Host,
): Promise<Result<Scripts | undefined, readonly StartError[]>> {
  if (Object.keys(scripts).length === 0) return ok(undefined);
  const opened = await host.scripts?.open(scripts);
  if (opened?.ok === true) return opened;
  const faults = opened?.error.map(({ name, reason }) => `scripts.${name}: ${reason}`);
  return err((faults ?? ["scripts do not run here"]).map((reason) => ({ part: "config", reason })));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The backends of a process, opened by their engines' adapters. `contents`: what databases in memory are filled with. */
export function openBackends(parts: {
  readonly host: Host;
  readonly contents: Contents;
}): OpenBackends {
  return new OpenBackends(async (name, config) => {
    const opened = await openCluster(name, config, parts);
    if (!opened.ok) return opened;
    return ok({ backend: opened.value, exchange: await exchangeOf(name, config, parts.host) });
  });
}

async function exchangeOf(
  name: string,
  { queryAuth }: CommonClusterConfig,
  host: Host,
): Promise<TokenExchange | undefined> {
  if (queryAuth?.type !== "tokenExchange") return undefined;
  const { tokenExchange } = await import("@gateway/access/exchange/exchange.ts");
  return tokenExchange(name, queryAuth, host);
}

/** Opens one cluster by its engine's adapter. */
export async function openCluster(
  name: string,
  config: SnapshotConfig["clusters"][string],
  { host, contents }: { readonly host: Host; readonly contents: Contents },
): Promise<Result<Backend, StartError>> {
  // The schema of the config was picked by its `engine`, so the two belong together.
  const descriptor = engines[config.engine] as EngineDescriptor<typeof config>;
  const { open } = await descriptor.load();
  const opened = await open(name, config, host, contents);
  if (opened.ok) return opened;
  return err({ cluster: name, reason: opened.error.detail ?? opened.error.message });
}

async function authorizerOf(
  authorization: SnapshotConfig["authorization"],
  lists: Authorizer,
  host: Host,
): Promise<Authorizer & Partial<AsyncDisposable>> {
  switch (authorization.provider) {
    case "none":
      return lists;
    case "openfga": {
      const { openFgaAuthorizer } = await import("@gateway/access/group/openfga.ts");
      return openFgaAuthorizer(authorization.openfga, lists, host);
    }
    default:
      return unreachable(authorization);
  }
}

/** Undefined where no server decides. */
async function policyServer(
  accessControl: SnapshotConfig["accessControl"],
  host: Host,
): Promise<CompileParts["policy"]> {
  if (accessControl === undefined || accessControl.provider === "rules") return undefined;
  const { policyOf } = await import("@gateway/access/policy/open.ts");
  return policyOf(accessControl, host);
}

/** Undefined where no guard asks a web service. */
async function guardServicesOf(
  guardrails: SnapshotConfig["guardrails"],
  host: Host,
): Promise<CompileParts["guardServices"]> {
  const asking = (guardrails?.guards ?? []).flatMap((one) => (one.type === "webhook" ? [one] : []));
  if (asking.length === 0) return undefined;
  const { guardService } = await import("@gateway/access/guard/webhook.ts");
  return new Map(asking.map((guard) => [guard.name, guardService(guard, host)]));
}

async function authenticatorOf(
  auth: SnapshotConfig["auth"],
  host: Host,
): Promise<Authenticator & Partial<AsyncDisposable>> {
  if (auth === undefined) return noneAuthenticator();
  switch (auth.provider) {
    case "none":
      return noneAuthenticator();
    case "static":
      return staticAuthenticator(auth, host);
    case "oidc": {
      const { oidcAuthenticator } = await import("@gateway/access/client/oidc/oidc.ts");
      return oidcAuthenticator(auth, host);
    }
    case "ldap": {
      const { ldapAuthenticator } = await import("@gateway/access/client/ldap/ldap.ts");
      return ldapAuthenticator(auth, host);
    }
    default:
      return unreachable(auth);
  }
}
