/** How the scopes of a Snowflake cluster are made, out of its config. */
import type { Host } from "@gateway/core/port/host.ts";
import type { AdbcConfig } from "../config.ts";
import { configAs } from "../identity.ts";
import { databaseOptions } from "../options.ts";
import { profileOf, snowflakeHome } from "../profile.ts";
import type { ScopePlan } from "./scoped.ts";

/** The plan. Options are made anew for each connection, because addresses change. */
export function scopePlanOf(cluster: string, config: AdbcConfig, { egress }: Host): ScopePlan {
  const mode = config.queryAuth?.type ?? "serviceAccount";
  const home = snowflakeHome(config.dbKwargs);
  const [, , database] = home;
  return {
    mode,
    hasAccount: mode === "serviceAccount" || config.auth !== undefined,
    catalogs: database === undefined ? [] : [database],
    home,
    idleMs: config.scopedPoolIdleTimeoutSecs * 1_000,
    countMax: config.scopedPoolMaxCount,
    connectionsPerProcess: config.scopedPoolConnectionsPerProcess,
    optionsAs: (identity) =>
      databaseOptions(cluster, profileOf("snowflake"), configAs(config, identity), egress),
  };
}
