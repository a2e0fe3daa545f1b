/** How the scopes of a Snowflake cluster are made, out of its config. */
import type { EngineLogins } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import type { DatabaseOptions } from "../../native/message.ts";
import type { AdbcConfig } from "../config.ts";
import { configAs, type CallerIdentity, type CallerMode } from "../identity.ts";
import { databaseOptions } from "../options.ts";
import { profileOf, snowflakeHome, type Names } from "../profile.ts";

/** How a cluster's scopes are made. */
export interface ScopePlan {
  readonly mode: "serviceAccount" | CallerMode;
  /** Under `passthrough` the account whose logins it verifies (`EngineLogins`). */
  readonly account?: Pick<EngineLogins, "account" | "realm"> | undefined;
  /** The cluster has a login of its own beside those of its callers. */
  readonly hasAccount: boolean;
  /** Catalogs that the cluster's options name: without a login of its own nobody can ask the engine. */
  readonly catalogs: readonly string[];
  /** Names that the cluster's own connections have, in the order of its `Choice`. */
  readonly home: Names;
  readonly idleMs: number;
  readonly countMax: number;
  /** Connections that share a process. */
  readonly connectionsPerProcess: number;
  /** Options of a database that is opened as a caller. */
  optionsAs(identity: CallerIdentity): Promise<Result<DatabaseOptions, string>>;
}

/** The plan. Options are made anew for each connection, because addresses change. */
export function scopePlanOf(cluster: string, config: AdbcConfig, { egress }: Host): ScopePlan {
  const mode = config.queryAuth?.type ?? "serviceAccount";
  const home = snowflakeHome(config.dbKwargs);
  const [, , database] = home;
  return {
    mode,
    account: mode === "passthrough" ? accountOf(config) : undefined,
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

/** The account, and with it where it is reached: the same name at another address is another account. */
function accountOf({
  dbKwargs,
  uri,
}: Pick<AdbcConfig, "dbKwargs" | "uri">): Pick<EngineLogins, "account" | "realm"> {
  const text = (key: string): string =>
    `${dbKwargs[`adbc.snowflake.sql.${key}`] ?? ""}`.toLowerCase();
  const [account, region] = [text("account"), text("region")];
  const name = region === "" ? account : `${account}.${region}`;
  return { account, realm: uri === undefined ? name : `${name}@${new URL(uri).host}` };
}
