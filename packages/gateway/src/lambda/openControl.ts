/**
 * Opens the control plane of a function: Neon's driver, the schema judged, the configuration read, and
 * the same app that a container serves.
 *
 * No queries run here, no cluster can be tested, nothing follows the store in the background.
 */
import { hashInline, matchesInline } from "@gateway/access/client/static/inline.ts";
import { controlApp } from "@gateway/control/app.ts";
import type { ControlDeps } from "@gateway/control/deps.ts";
import {
  openConfiguration,
  type OpenConfigurationRefusal,
  type OwnedConfiguration,
} from "@gateway/control/config/open.ts";
import { keyRing } from "@gateway/control/config/secret/keyRing.ts";
import { secretRefsAllowedDefault } from "@gateway/control/config/secret/references.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import type { Migration } from "@gateway/control/store/migrate/migration.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok } from "@gateway/core/result.ts";
import { objectLimits } from "../judge/objectLimits.ts";
import type { Callers } from "./callers.ts";
import type { Open, OpenRefusal } from "./opening.ts";
import { judgeSchema } from "./schema.ts";
import { syntaxOnly } from "./scriptSyntax.ts";
import type { FunctionSettings } from "./settings.ts";

export type FunctionHost = Omit<Host, "threads" | "slices" | "random" | "egress">;

export interface ControlParts {
  readonly settings: FunctionSettings;
  readonly host: FunctionHost;
  readonly callers: Callers;
  readonly database: Database;
  /** The program's, oldest first. */
  readonly migrations: readonly Migration[];
}

export function controlOpening(parts: ControlParts): Open {
  const { settings, host, database, migrations } = parts;
  // A function has no config file, whose paths and references would be allowed as well.
  const secretRefs = { allow: secretRefsAllowedDefault };
  const files = { allow: settings.fileFolders };
  const adbc = { libraries: [], drivers: settings.adbcDrivers };
  const limits = objectLimits({ gateway: { secrets: secretRefs, files, adbc } }, {});
  return async () => {
    const store = drizzleStore(database, { clock: host.clock });
    // Asked at the same time, because each takes a few round trips. If the schema does not fit,
    // what was read is thrown away.
    const [fits, opened] = await Promise.all([
      judgeSchema(database, migrations),
      openConfiguration({
        store,
        keys: keyRing(settings.encryptionKeys, host.randomBytes),
        clock: host.clock,
        log: host.log,
        metrics: host.metrics,
        judge: Object.assign((file: unknown) => limits.judge(file), { leases: true }),
        secretRefsAllowed: limits.secretRefsAllowed,
        scripts: syntaxOnly,
        follow: false,
        judgedWhen: "asked",
      }),
    ]);
    if (!fits.ok) return fits;
    if (!opened.ok) return err(refusalOf(opened.error));
    return ok({ config: opened.value, control: appOf(parts, store, opened.value) });
  };
}

function appOf(
  { settings, host, callers }: ControlParts,
  store: Store,
  config: OwnedConfiguration,
) {
  const { fleetSecrets } = settings;
  return controlApp({
    store,
    config,
    clock: host.clock,
    log: host.log,
    metrics: host.metrics,
    randomBytes: host.randomBytes,
    passwords: { hash: hashInline, matches: matchesInline },
    caller: (request) => callers.of(request),
    queries: undefined,
    links: undefined,
    signOn: undefined,
    console: undefined,
    clusterHealth: undefined,
    explainRoute: explainerLater(config),
    explainAccess: undefined,
    testCluster: undefined,
    scripts: undefined,
    workerApi: fleetSecrets === undefined ? undefined : { secrets: fleetSecrets },
    // Its settings are few and of the platform; a fleet to be drilled has a control plane as a process.
    drills: false,
    host: "function",
    // The platform freezes and ends instances without a word.
    stopping: new AbortController().signal,
  });
}

function refusalOf(refusal: OpenConfigurationRefusal): OpenRefusal {
  switch (refusal.code) {
    case "missingKeys":
      return { code: "sealed", detail: `keys ${refusal.keyIds.join(", ")} are not configured` };
    case "unreadable":
      return { code: "sealed", detail: refusal.detail };
    case "unavailable":
      return { code: "unavailable", detail: refusal.detail };
  }
}

/** Few ask, and it brings the shapes of all objects. */
function explainerLater(config: OwnedConfiguration): ControlDeps["explainRoute"] {
  const load = async () => {
    const { routeExplainer } = await import("@gateway/control/config/snapshot/routeExplainer.ts");
    return routeExplainer(config);
  };
  let explain: ReturnType<typeof load> | undefined;
  return async (question) => (await (explain ??= load()))(question);
}
