/** Opens what a configuration names (backends, the authenticator) and compiles it to a generation. */
import { createHash } from "node:crypto";
import { noneAuthenticator } from "@gateway/access/client/none.ts";
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
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
import type { RootConfig } from "./config/schema.ts";
import type { StartError } from "./running.ts";

export interface OpenParts {
  readonly host: Host;
  readonly capacity: Capacity;
  /** What databases in memory are filled with. */
  readonly contents: Contents;
}

/** Opens every enabled cluster. Answers each that can not be opened, with the others closed again. */
export async function openGeneration(
  config: RootConfig,
  { host, capacity, contents }: OpenParts,
): Promise<Result<Generation, readonly StartError[]>> {
  const opened = await Promise.all(
    Object.entries(config.clusters)
      .filter(([, cluster]) => cluster.enabled)
      .map(([name, cluster]) => openCluster(name, cluster, host, contents)),
  );
  const backends = opened.flatMap((one) => (one.ok ? [one.value] : []));
  const failures = opened.flatMap((one) => (one.ok ? [] : [one.error]));
  if (failures.length > 0) {
    await Promise.all(backends.map((backend) => backend[Symbol.asyncDispose]()));
    return err(failures);
  }
  const operators = {
    groups: config.auth?.operatorGroups ?? [],
    roles: config.auth?.operatorRoles ?? [],
  };
  return ok(
    compileSnapshot(config, {
      host,
      backends: new Map(backends.map((backend) => [backend.cluster, backend])),
      authenticator: authenticatorOf(config.auth, host),
      authorizer: allowListAuthorizer(config.clusterGroups, operators),
      revision: revisionOf(config),
      changed: () => capacity.wake(),
    }),
  );
}

async function openCluster(
  name: string,
  config: RootConfig["clusters"][string],
  host: Host,
  contents: Contents,
): Promise<Result<Backend, StartError>> {
  const { open } = await engines[config.engine].load();
  const opened = await open(name, config, host, contents);
  if (opened.ok) return opened;
  return err({ cluster: name, reason: opened.error.detail ?? opened.error.message });
}

function authenticatorOf(auth: RootConfig["auth"], host: Host): Authenticator {
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

/** A file has no place in a log of revisions; the hash of its content names it in records. */
function revisionOf(config: RootConfig): string {
  const { gateway: _process, ...snapshot } = config;
  return `sha256:${createHash("sha256").update(JSON.stringify(snapshot)).digest("hex")}`;
}
