/** Rules of safety that span several parts of the config: who may listen where without verifying whom. */
import { isIPv4 } from "node:net";
import { nameOnlyAuth, verifiesUsers, type RuleProblem } from "@gateway/control/config/rules.ts";
import type { Path } from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/report.ts";
import type { RootConfig } from "./schema.ts";

/** Every broken rule. */
export function safetyProblems(config: RootConfig): readonly RuleProblem[] {
  return [
    ...missingAuth(config),
    ...nameOnlyAuth(config),
    ...cleartext(config),
    ...adminCleartext(config),
    ...roleProblems(config),
  ];
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

function cleartext(config: RootConfig): readonly RuleProblem[] {
  if (!verifiesUsers(config)) return [];
  return listeners(config)
    .filter(({ host, tls, allowCleartext }) => !isLoopback(host) && !tls && !allowCleartext)
    .map(({ path }) => ({
      path: [...path, "tls"],
      reason: "is missing: credentials would be sent in clear text; or set allowCleartext: true",
    }));
}

/** Passwords of the admin API and the fleet secret travel here. */
function adminCleartext({ gateway: { adminApi } }: RootConfig): readonly RuleProblem[] {
  const { enabled, host, tls, allowCleartext } = adminApi;
  if (!enabled || isLoopback(host) || tls !== undefined || allowCleartext) return [];
  const reason = `is missing: passwords and secrets would be sent in clear text on ${host}; or bind 127.0.0.1, or set allowCleartext: true behind a proxy that ends TLS`;
  return [{ path: ["gateway", "adminApi", "tls"], reason }];
}

/** What a role can not be without, and what it has no use for. */
function roleProblems({ gateway }: RootConfig): readonly RuleProblem[] {
  const { role, adminApi, workerApi } = gateway;
  const served = workerApi?.enabled === true;
  const problems: RuleProblem[] = [];
  if (served && !adminApi.enabled) {
    const reason = "must be enabled: workers are served on the admin listener";
    problems.push({ path: ["gateway", "adminApi", "enabled"], reason });
  }
  if (role === "controlPlane" && !served) {
    const reason = "must be enabled: a controlPlane serves workers; otherwise use role standalone";
    problems.push({ path: ["gateway", "workerApi"], reason });
  }
  if (served && workerApi.sharedSecret === undefined) {
    const reason = "is missing: workers are served to whoever holds it";
    problems.push({ path: ["gateway", "workerApi", "sharedSecret"], reason });
  }
  if (role === "standalone" && served) {
    const reason = "is for role controlPlane: a standalone gateway serves no workers";
    problems.push({ path: ["gateway", "workerApi"], reason });
  }
  return problems;
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
