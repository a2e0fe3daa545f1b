/**
 * Which keys each role needs, and which it refuses. A key that the role does not read is refused,
 * because it would promise something that nobody does.
 */
import type { RuleProblem } from "@gateway/control/config/check/rules.ts";
import { peerAddress, urlFault } from "./addresses.ts";
import type { GatewayConfig } from "./schema.ts";
import { workerKeyNames } from "./workerKeys.ts";

export function roleProblems(gateway: GatewayConfig): readonly RuleProblem[] {
  return gateway.role === "worker" ? workerProblems(gateway) : ownerProblems(gateway);
}

function ownerProblems(gateway: GatewayConfig): readonly RuleProblem[] {
  const { role, adminApi, workerApi } = gateway;
  const served = workerApi?.enabled === true;
  const problems = workerKeyNames
    .filter((key) => gateway[key] !== undefined && !(key === "stateDir" && onServer(gateway)))
    .map((key) => problem([key], reasonOf(key)));
  if (served && !adminApi.enabled) {
    const reason = "must be enabled: workers are served on the admin listener";
    problems.push(problem(["adminApi", "enabled"], reason));
  }
  if (gateway.drills && !adminApi.enabled) {
    problems.push(problem(["drills"], "needs adminApi.enabled: drills begin at the admin API"));
  }
  if (role === "controlPlane" && !served) {
    const reason = "must be enabled: a controlPlane serves workers; otherwise use role standalone";
    problems.push(problem(["workerApi"], reason));
  }
  if (served && workerApi.sharedSecret === undefined) {
    const reason = "is missing: workers are served to whoever holds it";
    problems.push(problem(["workerApi", "sharedSecret"], reason));
  }
  if (gateway.relay !== undefined && workerApi?.sharedSecret === undefined) {
    const reason = "needs workerApi.sharedSecret: gateways prove to each other that they have it";
    problems.push(problem(["relay"], reason));
  }
  if (role === "standalone" && served) {
    const reason = "is for role controlPlane: a standalone gateway serves no workers";
    problems.push(problem(["workerApi"], reason));
  }
  return problems;
}

/**
 * Whether the database is a server. Only then queries are counted in `stateDir`: an embedded
 * database counts them in its own folder, and one in memory keeps no records to compare them with.
 */
function onServer({ persistence: { type } }: GatewayConfig): boolean {
  return type === "postgres" || type === "neon";
}

function reasonOf(key: string): string {
  return key === "stateDir" ? "is for role worker, or for a database server" : "is for role worker";
}

function workerProblems(gateway: GatewayConfig): readonly RuleProblem[] {
  const { controlPlane, history, lastGood, stateDir } = gateway;
  const problems: RuleProblem[] = [];
  if (gateway.drills) {
    const reason =
      "is for the control plane of a fleet: it says for all workers whether drills run";
    problems.push(problem(["drills"], reason));
  }
  if (controlPlane === undefined) {
    problems.push(problem(["controlPlane"], "is missing: a worker gets its configuration there"));
  } else {
    const fault = urlFault(controlPlane.url, controlPlane.allowInsecureHttp);
    if (fault !== undefined) problems.push(problem(["controlPlane", "url"], fault));
    const peers = controlPlane.peerBootstrap;
    if (peers !== undefined && peerAddress(peers.address) === undefined) {
      const path = ["controlPlane", "peerBootstrap", "address"];
      problems.push(problem(path, "must be host:port"));
    }
  }
  problems.push(...processProblems(gateway));
  if (stateDir === undefined && lastGood?.enabled === true) {
    problems.push(problem(["stateDir"], "is missing: lastGood keeps the configuration there"));
  }
  if (stateDir === undefined && history?.spool === "disk") {
    problems.push(problem(["stateDir"], "is missing: history.spool keeps records there"));
  }
  return problems;
}

/** What several processes behind the same listeners can not have. */
function processProblems({ processes = 1, coordination, frontends }: GatewayConfig) {
  if (processes === 1) return [];
  const problems: RuleProblem[] = [];
  if (coordination?.mode === "local") {
    const reason = "must be controlPlane with several processes: limits would hold in each alone";
    problems.push(problem(["coordination", "mode"], reason));
  }
  for (const [kind, frontend] of Object.entries(frontends)) {
    if (frontend?.enabled !== true || frontend.port !== 0) continue;
    const reason = "must not be 0 with several processes: they share it";
    problems.push(problem(["frontends", kind, "port"], reason));
  }
  return problems;
}

function problem(path: readonly string[], reason: string): RuleProblem {
  return { path: ["gateway", ...path], reason };
}
