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
import type { Catalog } from "@gateway/core/port/sql/catalog.ts";
import type { Generation, Generations } from "@gateway/core/snapshot/generation.ts";
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
    using served = servedBy(configuration, generations);
    const catalog = await catalogOf(configured.value, served?.generation, host);
    const deadline = new AbortController();
    using _limit = host.clock.timer(explainMsMax, () =>
      deadline.abort(gatewayError("policy.unavailable")),
    );
    try {
      const engines = served && dialectsOf(group, served.generation);
      const { sql } = host;
      const { clock } = host;
      const parts = { policy, catalog: catalog?.catalog, sql, clock, engines: engines ?? [] };
      const question = questionOf(asked, group);
      const said = await explainAccess(access, question, parts, deadline.signal);
      return { kind: "explained", ...said, engines };
    } finally {
      await policy[Symbol.asyncDispose]?.();
      await catalog?.close();
    }
  };
}

type Access = ReturnType<typeof accessControlSchema.parse>;

interface Opened {
  readonly access: Access;
  readonly catalog: ReturnType<typeof catalogProviderSchema.parse> | undefined;
}

/** Closing it leaves one that a generation goes on using. */
async function catalogOf(
  { catalog: config }: Opened,
  served: Generation | undefined,
  host: StartOptions["host"],
): Promise<{ readonly catalog: Catalog; close(): Promise<void> } | undefined> {
  if (config === undefined) return undefined;
  if (config.provider === "engine") {
    const catalog = served?.catalog ?? nobodyKnows;
    return { catalog, close: () => Promise.resolve() };
  }
  const { openCatalog } = await import("@gateway/access/catalog/open.ts");
  const catalog = openCatalog(config, host, noClusters);
  return { catalog, close: async () => await catalog[Symbol.asyncDispose]?.() };
}

/** Only a process that serves the configuration has its clusters open. */
const nobodyKnows: Catalog = { nameParts: 2, table: () => ({ kind: "unavailable" }) };
const noClusters = { all: [], of: () => [] };

const notGiven = "holds a secret that is not given: write it, or a reference to it";

function savedIn(configuration: Pick<Configuration, "current">): ReturnType<typeof fileOf> {
  const built = configuration.current();
  return built === undefined ? {} : fileOf(objectsOfBody(built.bytes));
}

function isControlled({ clusterGroups }: Access, group: string): boolean {
  return clusterGroups?.includes(group) ?? true;
}

/** Undefined where this process serves none of that revision, and so does not know the engines. */
function servedBy(
  configuration: Pick<Configuration, "current">,
  generations: Pick<Generations, "hold">,
): ReturnType<typeof heldIn> {
  const held = heldIn(generations);
  const hash = configuration.current()?.revision.hash;
  if (held === undefined) return undefined;
  if (hash !== undefined && held.generation.revision.endsWith(`.${hash}`)) return held;
  held[Symbol.dispose]();
  return undefined;
}

function heldIn(generations: Pick<Generations, "hold">) {
  const held = generations.hold();
  return held.ok ? held.value : undefined;
}

function dialectsOf(group: string, generation: Generation): readonly Dialect[] {
  return [...new Set(generation.members(group).map(({ dialect }) => dialect ?? "generic"))];
}

function questionOf(asked: AccessAsked, group: string): Parameters<typeof explainAccess>[1] {
  const { sql, user, groups, roles, attributes, settings, dialect, catalog, schema } = asked;
  return { sql, user, groups, roles, attributes, settings, dialect, catalog, schema, group };
}
