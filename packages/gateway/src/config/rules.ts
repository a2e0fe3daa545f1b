/** Rules of safety that span several parts of the config: who may listen where without verifying whom. */
import { isIPv4 } from "node:net";
import type { Path } from "./keys.ts";
import { textOf } from "./report.ts";
import type { RootConfig } from "./schema.ts";

/** One broken rule. */
export interface RuleProblem {
  readonly path: Path;
  readonly reason: string;
}

/** Every broken rule. */
export function safetyProblems(config: RootConfig): readonly RuleProblem[] {
  return [...missingAuth(config), ...nameOnlyAuth(config), ...cleartext(config)];
}

interface OpenListener {
  readonly path: Path;
  readonly host: string;
  readonly tls: boolean;
  readonly allowCleartext: boolean;
}

/** Without `auth` nobody is verified: allowed only while nobody from outside can connect. */
function missingAuth(config: RootConfig): readonly RuleProblem[] {
  if (config.auth !== undefined) return [];
  const open = listeners(config).find((listener) => !isLoopback(listener.host));
  if (open === undefined) return [];
  const where = `${textOf(open.path)} listens on ${open.host}`;
  const reason = `must be written because ${where}; provider none verifies nobody`;
  return [{ path: ["auth"], reason }];
}

/** Under provider `none` the name is the client's own claim, so nothing may depend on it. */
function nameOnlyAuth(config: RootConfig): readonly RuleProblem[] {
  if (verifiesUsers(config)) return [];
  const reason = "needs verified users, but auth.provider is none";
  const allowLists = Object.entries(config.clusterGroups).flatMap(([name, { authorization }]) =>
    authorization === undefined ? [] : [["clusterGroups", name, "authorization"]],
  );
  const identities = Object.entries(config.clusters).flatMap(([name, { queryAuth }]) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount"
      ? []
      : [["clusters", name, "queryAuth", "type"]],
  );
  return [...allowLists, ...identities].map((path) => ({ path, reason }));
}

function cleartext(config: RootConfig): readonly RuleProblem[] {
  if (!verifiesUsers(config)) return [];
  return listeners(config)
    .filter(({ host, tls, allowCleartext }) => !isLoopback(host) && !tls && !allowCleartext)
    .map(({ path }) => ({
      path: [...path, "tls"],
      reason: "is missing: credentials would be sent in clear text; or set allowCleartext: true",
    }));
}

function verifiesUsers(config: RootConfig): boolean {
  return (config.auth?.provider ?? "none") !== "none";
}

function listeners(config: RootConfig): readonly OpenListener[] {
  return Object.entries(config.gateway.frontends).flatMap(([kind, frontend]) => {
    if (frontend === undefined || !frontend.enabled) return [];
    const { host, tls, allowCleartext } = frontend;
    return [{ path: ["gateway", "frontends", kind], host, tls: tls !== undefined, allowCleartext }];
  });
}

/** Addresses that only this machine can reach. A name other than `localhost` may lead anywhere. */
export function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith("127.");
  return host.toLowerCase() === "localhost" || host === "::1";
}
