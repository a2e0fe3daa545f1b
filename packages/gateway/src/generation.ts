/** Opens what a configuration names (backends, the authenticator) and compiles it to a generation. */
import { noneAuthenticator } from "@gateway/access/client/none.ts";
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
import type { SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Authenticator } from "@gateway/core/port/authenticator.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { compileSnapshot } from "@gateway/core/snapshot/compile.ts";
import type { Generation } from "@gateway/core/snapshot/generation.ts";
import { engines } from "@gateway/engines/catalog.ts";
import type { Contents } from "@gateway/engines/descriptor.ts";
import type { StartError } from "./running.ts";

export interface OpenParts {
  readonly host: Host;
  readonly capacity: Capacity;
  /** What databases in memory are filled with. */
  readonly contents: Contents;
}

/** A configuration whose backends are open; what is left to do can not fail. */
export interface OpenedConfig {
  /** `revision`: `epoch.sequence.hash`, written into every record. */
  compile(revision: string): Generation;
  /** Closes the backends of a configuration that is not compiled after all. */
  discard(): Promise<void>;
}

/** Opens every enabled cluster. Answers each that can not be opened, with the others closed again. */
export async function openConfig(
  config: SnapshotConfig,
  { host, capacity, contents }: OpenParts,
): Promise<Result<OpenedConfig, readonly StartError[]>> {
  const opened = await Promise.all(
    Object.entries(config.clusters)
      .filter(([, cluster]) => cluster.enabled)
      .map(([name, cluster]) => openCluster(name, cluster, { host, contents })),
  );
  const backends = opened.flatMap((one) => (one.ok ? [one.value] : []));
  const failures = opened.flatMap((one) => (one.ok ? [] : [one.error]));
  const closeBackends = async (): Promise<void> => {
    await Promise.all(backends.map((backend) => backend[Symbol.asyncDispose]()));
  };
  if (failures.length > 0) {
    await closeBackends();
    return err(failures);
  }
  const operators = {
    groups: config.auth?.operatorGroups ?? [],
    roles: config.auth?.operatorRoles ?? [],
  };
  // A large configuration is taken up in several turns, so that queries are served in between.
  const authorizer = allowListAuthorizer(config.clusterGroups, operators);
  await nextTurn();
  const authenticator = authenticatorOf(config.auth, host);
  await nextTurn();
  const compile = (revision: string): Generation =>
    compileSnapshot(config, {
      host,
      backends: new Map(backends.map((backend) => [backend.cluster, backend])),
      authenticator,
      authorizer,
      revision,
      changed: () => capacity.wake(),
    });
  return ok({
    compile,
    discard: async () => {
      await closeBackends();
      await authenticator[Symbol.asyncDispose]?.();
    },
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Opens one cluster by its engine's adapter. */
export async function openCluster(
  name: string,
  config: SnapshotConfig["clusters"][string],
  { host, contents }: Pick<OpenParts, "host" | "contents">,
): Promise<Result<Backend, StartError>> {
  const { open } = await engines[config.engine].load();
  const opened = await open(name, config, host, contents);
  if (opened.ok) return opened;
  return err({ cluster: name, reason: opened.error.detail ?? opened.error.message });
}

function authenticatorOf(
  auth: SnapshotConfig["auth"],
  host: Host,
): Authenticator & Partial<AsyncDisposable> {
  if (auth === undefined) return noneAuthenticator();
  switch (auth.provider) {
    case "none":
      return noneAuthenticator();
    case "static":
      return staticAuthenticator(auth, host);
    default:
      return unreachable(auth);
  }
}
