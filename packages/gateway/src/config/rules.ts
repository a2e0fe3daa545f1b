/** Rules of safety that span several parts of the config: who may listen where without verifying whom. */
import type { ConfigProblem } from "./report.ts";
import type { RootConfig } from "./schema.ts";

/** Every broken rule. */
export function safetyProblems(config: RootConfig): readonly ConfigProblem[] {
  return [...missingAuth(config), ...nameOnlyAuth(config), ...cleartext(config)];
}

interface OpenListener {
  readonly path: string;
  readonly host: string;
  readonly tls: boolean;
  readonly allowCleartext: boolean;
}

/** Without `auth` nobody is verified: allowed only while nobody from outside can connect. */
function missingAuth(config: RootConfig): readonly ConfigProblem[] {
  if (config.auth !== undefined) return [];
  return listeners(config)
    .filter((listener) => !isLoopback(listener.host))
    .map(({ path, host }) => ({
      path: "auth",
      reason: `must be written because ${path} listens on ${host}; provider none verifies nobody`,
    }))
    .slice(0, 1);
}

/** Under provider `none` the name is the client's own claim, so nothing may depend on it. */
function nameOnlyAuth(config: RootConfig): readonly ConfigProblem[] {
  if ((config.auth?.provider ?? "none") !== "none") return [];
  const groups = Object.entries(config.clusterGroups)
    .filter(([, group]) => group.authorization !== undefined)
    .map(([name]) => `clusterGroups.${name}.authorization`);
  return groups.map((path) => ({
    path,
    reason: "needs verified users, but auth.provider is none",
  }));
}

function cleartext(config: RootConfig): readonly ConfigProblem[] {
  if ((config.auth?.provider ?? "none") === "none") return [];
  return listeners(config)
    .filter(({ host, tls, allowCleartext }) => !isLoopback(host) && !tls && !allowCleartext)
    .map(({ path }) => ({
      path: `${path}.tls`,
      reason: "is missing: credentials would be sent in clear text; or set allowCleartext: true",
    }));
}

function listeners(config: RootConfig): readonly OpenListener[] {
  return Object.entries(config.gateway.frontends).flatMap(([kind, frontend]) => {
    if (frontend === undefined || !frontend.enabled) return [];
    const { host, tls, allowCleartext } = frontend;
    return [{ path: `gateway.frontends.${kind}`, host, tls: tls !== undefined, allowCleartext }];
  });
}

/** Addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
