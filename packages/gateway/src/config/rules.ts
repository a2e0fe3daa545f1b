/** Rules of safety that span several parts of the config: who may listen where without verifying whom. */
import { isIPv4 } from "node:net";
import {
  nameOnlyAuth,
  unlimitedGroups,
  type RuleProblem,
} from "@gateway/control/config/check/rules.ts";
import type { Path } from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/check/report.ts";
import { roleProblems } from "./roleRules.ts";
import type { GatewayConfig, RootConfig } from "./schema.ts";

/** Every broken rule. */
export function safetyProblems(config: RootConfig): readonly RuleProblem[] {
  const { gateway } = config;
  // A worker's users and clusters come with the snapshot, which is judged when it is activated.
  const own =
    gateway.role === "worker"
      ? []
      : [...nameOnlyAuth(config), ...authProblems(gateway, config.auth?.provider)];
  const leased = leasesSlots(gateway) ? unlimitedGroups(config) : [];
  return [...own, ...leased, ...adminCleartext(gateway), ...roleProblems(gateway)];
}

/** Whether workers lease the slots of this process's configuration. */
export function leasesSlots({ role, workerApi }: GatewayConfig): boolean {
  return role === "controlPlane" && workerApi?.enabled === true;
}

/** What the listeners of a process require of `auth`. `provider` is undefined where `auth` is not written. */
export function authProblems(
  gateway: Pick<GatewayConfig, "frontends">,
  provider: string | undefined,
): readonly RuleProblem[] {
  return provider === undefined ? missingAuth(gateway) : cleartext(gateway, provider);
}

interface OpenListener {
  readonly path: Path;
  readonly host: string;
  readonly tls: boolean;
  readonly allowCleartext: boolean;
}

/** Without `auth` nobody is verified: allowed only while nobody from outside can connect. */
function missingAuth(gateway: Pick<GatewayConfig, "frontends">): readonly RuleProblem[] {
  const open = listeners(gateway).find((listener) => !isLoopback(listener.host));
  if (open === undefined) return [];
  const where = `${textOf(open.path)} listens on ${open.host}`;
  const reason = `must be written because ${where}; provider none verifies nobody`;
  return [{ path: ["auth"], reason }];
}

function cleartext(
  gateway: Pick<GatewayConfig, "frontends">,
  provider: string,
): readonly RuleProblem[] {
  if (provider === "none") return [];
  return listeners(gateway)
    .filter(({ host, tls, allowCleartext }) => !isLoopback(host) && !tls && !allowCleartext)
    .map(({ path }) => ({
      path: [...path, "tls"],
      reason: "is missing: credentials would be sent in clear text; or set allowCleartext: true",
    }));
}

/** Passwords of the admin API and the fleet secret travel here. */
function adminCleartext({ adminApi }: GatewayConfig): readonly RuleProblem[] {
  const { enabled, host, tls, allowCleartext } = adminApi;
  if (!enabled || isLoopback(host) || tls !== undefined || allowCleartext) return [];
  const reason = `is missing: passwords and secrets would be sent in clear text on ${host}; or bind 127.0.0.1, or set allowCleartext: true behind a proxy that ends TLS`;
  return [{ path: ["gateway", "adminApi", "tls"], reason }];
}

function listeners({ frontends }: Pick<GatewayConfig, "frontends">): readonly OpenListener[] {
  return Object.entries(frontends).flatMap(([kind, frontend]) => {
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
