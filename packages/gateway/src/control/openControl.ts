/**
 * Opens what the roles with a store are made of: database, migrations, keys, configuration. Also for
 * commands on the host, beside a running gateway or without one.
 */
import type { ConfigFault } from "@gateway/control/config/configuration.ts";
import { valueAt } from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/check/report.ts";
import {
  openConfiguration,
  type OpenConfigurationRefusal,
  type OwnedConfiguration,
} from "@gateway/control/config/open.ts";
import { keyRing } from "@gateway/control/config/secret/keyRing.ts";
import type { Database } from "@gateway/control/store/database.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { authProblems, leasesSlots } from "../config/rules.ts";
import type { RootConfig } from "../config/schema.ts";
import { sealingSecrets } from "./keys.ts";
import { checkDatabase, migrateDatabase } from "./migrations.ts";
import { openDatabase, reachDatabase } from "./openStore.ts";
import { objectLimits } from "../judge/objectLimits.ts";

export interface ControlParts {
  readonly store: Store;
  readonly configuration: OwnedConfiguration;
}

export interface OpenControlOptions {
  readonly config: RootConfig;
  /** The file as written; what it names on this host is allowed to objects. */
  readonly document: unknown;
  readonly host: Host;
  /** Folder of the bundle, which holds the migrations. */
  readonly bundle: URL;
  /** `serve` owns the database and may migrate it; `reach` goes through whoever owns it. */
  readonly access: "serve" | "reach";
}

/** Answers why it can not be opened, for the operator, with nothing left open. */
export async function openControl(
  options: OpenControlOptions,
): Promise<Result<ControlParts, string>> {
  const { config, host } = options;
  const secrets = sealingSecrets(config.gateway.persistence, host);
  if (!secrets.ok) return err(`gateway.persistence.encryptionKey: ${secrets.error}`);
  const store = await openStore(options);
  if (!store.ok) return store;
  const limits = objectLimits(config, options.document);
  const opened = await openConfiguration({
    store: store.value,
    keys: keyRing(secrets.value, (length) => host.randomBytes(length)),
    clock: host.clock,
    log: host.log,
    metrics: host.metrics,
    judge: Object.assign(
      (file: unknown) => [...limits.judge(file), ...exposed(config.gateway, file)],
      { leases: leasesSlots(config.gateway) },
    ),
    scripts: host.scripts,
    secretRefsAllowed: limits.secretRefsAllowed,
  });
  if (!opened.ok) {
    await store.value[Symbol.asyncDispose]();
    return err(`gateway.persistence: ${openRefusalText(opened.error)}`);
  }
  return ok({ store: store.value, configuration: opened.value });
}

async function openStore(options: OpenControlOptions): Promise<Result<Store, string>> {
  const { config, host, bundle, access } = options;
  const { persistence } = config.gateway;
  if (persistence.type === "inMemory") {
    const { memoryStore } = await import("@gateway/control/store/memory.ts");
    return ok(memoryStore(host.clock));
  }
  const open = access === "serve" ? openDatabase : reachDatabase;
  const { drizzleStore } = await import("@gateway/control/store/drizzle.ts");
  const database = await open(persistence, host);
  if (!database.ok) return err(`gateway.persistence: ${database.error}`);
  const ready =
    access === "serve" && persistence.autoMigrate
      ? await migrated(database.value, bundle)
      : await checkDatabase(database.value, bundle);
  if (ready.ok) return ok(drizzleStore(database.value, { clock: host.clock }));
  await database.value[Symbol.asyncDispose]();
  return err(`gateway.persistence: ${ready.error}`);
}

async function migrated(database: Database, bundle: URL): Promise<Result<void, string>> {
  const applied = await migrateDatabase(database, bundle);
  if (!applied.ok) return applied;
  if (applied.value.length > 0) await database.renew?.();
  return ok(undefined);
}

/** Ends both, the configuration first. */
export async function closeControl({ store, configuration }: ControlParts): Promise<void> {
  await configuration[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
}

function openRefusalText(refusal: OpenConfigurationRefusal): string {
  switch (refusal.code) {
    case "missingKeys":
      return `rows are sealed with keys that encryptionKey does not hold: ${refusal.keyIds.join(", ")}`;
    case "unavailable":
      return `the database is not available (${refusal.detail})`;
    default:
      return `the configuration in the database can not be read (${refusal.code})`;
  }
}

/** This process's own listeners would take these users' passwords. */
function exposed(gateway: RootConfig["gateway"], file: unknown): readonly ConfigFault[] {
  const provider = valueAt(file, ["auth", "provider"]);
  return authProblems(gateway, typeof provider === "string" ? provider : undefined).map(
    ({ path, reason }) => ({ path: textOf(path), reason }),
  );
}
