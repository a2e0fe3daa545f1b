/** From `gateway.persistence` to an open database or store. Migrates nothing; see migrations.ts. */
import { connectPglite, openPglite } from "@gateway/control/store/driver/pglite.ts";
import type { Database } from "@gateway/control/store/database.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { PersistenceConfig } from "../config/persistence.ts";
import { plainSecret } from "../config/secrets.ts";

export type DatabaseConfig = Exclude<PersistenceConfig, { type: "inMemory" }>;

/** Opens the database of this process, or says why it can not. A driver that is not asked for is not loaded. */
export async function openDatabase(
  config: DatabaseConfig,
  host: Host,
): Promise<Result<Database, string>> {
  switch (config.type) {
    case "pglite": {
      const opened = await openPglite({ path: config.path, host });
      if (opened.ok) return opened;
      const { error } = opened;
      return err(error.code === "inUse" ? inUse(config.path) : `${config.path}: ${error.detail}`);
    }
    case "postgres": {
      const { openPostgres } = await import("@gateway/control/store/driver/postgres.ts");
      const { connectionsMax } = config;
      return ok(openPostgres({ url: plainSecret(config.url), connectionsMax, host }));
    }
    case "neon": {
      const { openNeon } = await import("@gateway/control/store/driver/neon.ts");
      const { connectionsMax } = config;
      return ok(openNeon({ url: plainSecret(config.url), connectionsMax, host }));
    }
  }
}

/** For a command beside a running gateway: a PGlite folder that is in use is reached through its holder. */
export async function reachDatabase(
  config: DatabaseConfig,
  host: Host,
): Promise<Result<Database, string>> {
  if (config.type === "pglite") {
    const connected = await connectPglite({ path: config.path });
    if (connected.ok) return connected;
  }
  return openDatabase(config, host);
}

function inUse(path: string): string {
  return `${path} is held by another process; two gateways need a PostgreSQL server`;
}
