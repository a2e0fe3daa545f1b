/**
 * The dry run of access control: over the configuration that is served, or over one that nobody has saved. A policy
 * server is opened for the question and closed behind it, under this process's own limits of secrets and addresses.
 */
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import type { ConfigFault, Configuration } from "@gateway/control/config/configuration.ts";
import { fileOf } from "@gateway/control/config/file.ts";
import { fileJsonSchema } from "@gateway/control/config/fileJsonSchema.ts";
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
  const opened = (unsaved: unknown): Result<Opened | undefined, readonly ConfigFault[]> => {
    const saved = savedIn(configuration);
    const access = unsaved ?? saved["accessControl"];
    if (access === undefined) return ok(undefined);
    const rules = { schema: fileJsonSchema(), resolves };
    const parts = { accessControl: access, catalogProvider: saved["catalogProvider"] };
    const resolved = resolveSecrets(parts, environment, rules);
    if (!resolved.ok) return resolved;
    const { accessControl, catalogProvider } = resolved.value as Readonly<Record<string, unknown>>;
    const parsed = accessControlSchema.safeParse(accessControl);
    // Everything else was judged before: what is left is a secret that is kept and not shown.
    if (!parsed.success) return err([{ path: "accessControl", reason: notGiven }]);
    const catalog = catalogProviderSchema.optional().safeParse(catalogProvider);
    if (!catalog.success) return err([{ path: "catalogProvider", reason: notGiven }]);
    return ok({ access: parsed.data, catalog: catalog.data });
  };
  return async (asked, group) => {
    const { accessControl: unsaved } = asked;
    const faults = unsaved === undefined ? [] : await configuration.validate(setting, unsaved);
    if (faults.length > 0) return { kind: "faults", faults };
    const configured = opened(unsaved);
    if (!configured.ok) return { kind: "faults", faults: configured.error };
    if (configured.value === undefined || !isControlled(configured.value.access, group)) {
      return { kind: "uncontrolled" };
    }
    const { access } = configured.value;
    const { policyOf } = await import("@gateway/access/policy/open.ts");
    const policy = policyOf(access, host);
    const catalog = await catalogOf(configured.value, host);
    const deadline = new AbortController();
    using _limit = host.clock.timer(explainMsMax, () =>
      deadline.abort(gatewayError("policy.unavailable")),
    );
    try {
      const engines = dialectsOf(group, configuration, generations);
      const { sql } = host;
      const parts = { policy, catalog, sql, clock: host.clock, engines: engines ?? [] };
      const question = questionOf(asked, group);
      const said = await explainAccess(access, question, parts, deadline.signal);
      return { kind: "explained", ...said, engines };
    } finally {
      await policy[Symbol.asyncDispose]?.();
      await catalog?.[Symbol.asyncDispose]?.();
    }
  };
}

type Access = ReturnType<typeof accessControlSchema.parse>;

interface Opened {
  readonly access: Access;
  readonly catalog: ReturnType<typeof catalogProviderSchema.parse> | undefined;
}

async function catalogOf({ catalog }: Opened, host: StartOptions["host"]) {
  if (catalog === undefined) return undefined;
  const { openCatalog } = await import("@gateway/access/catalog/open.ts");
  return openCatalog(catalog, host);
}

const notGiven = "holds a secret that is not given: write it, or a reference to it";

function savedIn(configuration: Pick<Configuration, "current">): ReturnType<typeof fileOf> {
  const built = configuration.current();
  return built === undefined ? {} : fileOf(objectsOfBody(built.bytes));
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
