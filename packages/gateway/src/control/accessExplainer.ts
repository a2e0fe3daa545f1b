/**
 * The dry run of access control: over the configuration that is served, or over one that nobody has saved. A policy
 * server is opened for the question and closed behind it, under this process's own limits of secrets and addresses.
 */
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import type { ConfigFault, Configuration } from "@gateway/control/config/configuration.ts";
import { fileOf } from "@gateway/control/config/file.ts";
import { fileJsonSchema } from "@gateway/control/config/objects.ts";
import { objectsOfBody } from "@gateway/control/config/snapshot/build.ts";
import type { AccessAsked, ControlDeps } from "@gateway/control/deps.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { explainAccess } from "@gateway/core/police/explain.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { resolveSecrets } from "../config/secrets.ts";
import { objectLimits } from "../judge/objectLimits.ts";
import type { StartOptions } from "../starting.ts";

/** A statement with many tables, and a server that answers none of them, must not hold the caller. */
const explainMsMax = 15_000;
const setting = { kind: "setting", name: "accessControl" } as const;

export function accessExplainer(
  { config, document, host, environment }: StartOptions,
  configuration: Pick<Configuration, "current" | "validate">,
  generations: Pick<Generations, "hold">,
): NonNullable<ControlDeps["explainAccess"]> {
  const { resolves } = objectLimits(config, document);
  const opened = (unsaved: unknown): Result<Access | undefined, readonly ConfigFault[]> => {
    const access = unsaved ?? savedIn(configuration);
    if (access === undefined) return ok(undefined);
    const rules = { schema: fileJsonSchema(), resolves };
    const resolved = resolveSecrets({ accessControl: access }, environment, rules);
    if (!resolved.ok) return resolved;
    const { accessControl } = resolved.value as { readonly accessControl: unknown };
    const parsed = accessControlSchema.safeParse(accessControl);
    // Everything else was judged before: what is left is a secret that is kept and not shown.
    return parsed.success ? ok(parsed.data) : err([{ path: "accessControl", reason: notGiven }]);
  };
  return async (asked, group) => {
    const { accessControl: unsaved } = asked;
    const faults = unsaved === undefined ? [] : await configuration.validate(setting, unsaved);
    if (faults.length > 0) return { kind: "faults", faults };
    const access = opened(unsaved);
    if (!access.ok) return { kind: "faults", faults: access.error };
    if (access.value === undefined || !isControlled(access.value, group)) {
      return { kind: "uncontrolled" };
    }
    const { policyOf } = await import("@gateway/access/policy/open.ts");
    const policy = policyOf(access.value, host);
    const deadline = new AbortController();
    using _limit = host.clock.timer(explainMsMax, () =>
      deadline.abort(gatewayError("policy.unavailable")),
    );
    try {
      const engines = dialectsOf(group, configuration, generations);
      const { sql } = host;
      const parts = { policy, sql, clock: host.clock, engines: engines ?? [] };
      const said = await explainAccess(
        access.value,
        questionOf(asked, group),
        parts,
        deadline.signal,
      );
      return { kind: "explained", ...said, engines };
    } finally {
      await policy[Symbol.asyncDispose]?.();
    }
  };
}

type Access = ReturnType<typeof accessControlSchema.parse>;

const notGiven = "holds a secret that is not given: write it, or a reference to it";

function savedIn(configuration: Pick<Configuration, "current">): unknown {
  const built = configuration.current();
  if (built === undefined) return undefined;
  return fileOf(objectsOfBody(built.bytes))["accessControl"];
}

function isControlled({ clusterGroups }: Access, group: string): boolean {
  return clusterGroups?.includes(group) ?? true;
}

/** Undefined where this process serves none of that revision, and so does not know the engines. */
function dialectsOf(
  group: string,
  configuration: Pick<Configuration, "current">,
  generations: Pick<Generations, "hold">,
): readonly Dialect[] | undefined {
  const held = generations.hold();
  if (!held.ok) return undefined;
  using hold = held.value;
  const { generation } = hold;
  const hash = configuration.current()?.revision.hash;
  if (hash === undefined || !generation.revision.endsWith(`.${hash}`)) return undefined;
  return [...new Set(generation.members(group).map(({ dialect }) => dialect ?? "generic"))];
}

function questionOf(asked: AccessAsked, group: string): Parameters<typeof explainAccess>[1] {
  const { sql, user, groups, roles, attributes, settings, dialect, catalog, schema } = asked;
  return { sql, user, groups, roles, attributes, settings, dialect, catalog, schema, group };
}
