/**
 * What a driver is opened with: address, credential and limits in its own options.
 *
 * Native drivers connect by themselves, so the limits on outgoing connections are held here:
 * PostgreSQL's driver is told the address that was checked, the others get a name whose addresses were
 * all checked just before.
 */
import { readFile } from "node:fs/promises";
import { lookup as systemLookup } from "node:dns";
import { secretText } from "@gateway/contract/config/secret.ts";
import { egressRefused, type Egress } from "@gateway/core/port/egress.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { DatabaseOptions, Option, SetupStatement } from "../native/message.ts";
import { inMemoryPath, realDatabasePath } from "../native/reach/sharing.ts";
import { knownDriver, type AdbcConfig } from "./config.ts";
import { profileOf, type Profile } from "./profile.ts";

/**
 * Snowflake's driver waits for a very long time unless both of its limits are set. The second one holds for
 * every request, and the service keeps a request for a running query for 45 s; a login that hangs
 * longer than the first one is ended with its process.
 */
const snowflakeLoginLimit = "10s";
const snowflakeClientLimit = "60s";
/** Seconds in which PostgreSQL must take a connection. */
const postgresConnectSecs = "10";

/** An option of PostgreSQL's driver that only its statements take. */
const batchHint = "adbc.postgresql.batch_size_hint_bytes";

/** How the cluster's driver is treated, with the options of its config that each statement is given. */
export function configuredProfile({
  driver,
  dbKwargs,
}: Pick<AdbcConfig, "driver" | "dbKwargs">): Profile {
  const profile = profileOf(knownDriver(driver));
  const hint = profile.name === "postgresql" ? dbKwargs[batchHint] : undefined;
  if (hint === undefined) return profile;
  const own: Option = [batchHint, `${hint}`];
  const statementOptions: Profile["statementOptions"] = (statement) => [
    ...profile.statementOptions(statement).filter(([key]) => key !== batchHint),
    own,
  ];
  return { ...profile, statementOptions };
}

export type Opening = Result<DatabaseOptions, string>;

/** The options of one database object, or why it may not be opened. Made anew for each connection, because addresses change. */
export async function databaseOptions(
  cluster: string,
  { name }: Profile,
  config: AdbcConfig,
  egress: Egress,
): Promise<Opening> {
  const kwargs = Object.entries(config.dbKwargs).map(([key, value]): Option => [key, `${value}`]);
  switch (name) {
    case "duckdb":
      return ok(duckDbOptions(config, kwargs));
    case "sqlite":
      return ok({ options: [["uri", sqliteUri(cluster, config)], ...kwargs], setup: [] });
    case "postgresql":
      return await postgresOptions(config, kwargs, egress);
    case "snowflake":
      return await snowflakeOptions(config, kwargs, egress);
    case "flightsql":
      return await flightOptions(config, kwargs, egress);
    case "other":
      return ok({ options: [...uriOf(config), ...login(config), ...kwargs], setup: [] });
  }
}

/** The same locks as those of the embedded engine: a client reaches no file and changes no setting. */
function duckDbOptions(config: AdbcConfig, kwargs: readonly Option[]): DatabaseOptions {
  const setup: readonly SetupStatement[] = [
    { sql: "SET GLOBAL TimeZone = 'UTC'" },
    { sql: "SET GLOBAL enable_external_access = false" },
    { sql: "SET GLOBAL lock_configuration = true" },
  ];
  const options: readonly Option[] = [
    ...kwargs,
    ["path", realDatabasePath(config.databasePath ?? inMemoryPath)],
    ["errors_as_json", "true"],
    ["arrow_lossless_conversion", "true"],
    ["temp_directory", ""],
    ["autoinstall_known_extensions", "false"],
    ["autoload_known_extensions", "false"],
    ["allow_community_extensions", "false"],
    ["allow_persistent_secrets", "false"],
  ];
  return { options, setup };
}

/** A database in memory is shared by the connections of its cluster, and by nobody else. */
function sqliteUri(cluster: string, { databasePath }: AdbcConfig): string {
  if (databasePath !== undefined && databasePath !== inMemoryPath) return databasePath;
  return `file:gateway-${cluster}?mode=memory&cache=shared`;
}

async function postgresOptions(
  config: AdbcConfig,
  kwargs: readonly Option[],
  egress: Egress,
): Promise<Opening> {
  const url = new URL(config.uri ?? "");
  const host = bare(url.hostname);
  const open = await openAddresses(host, egress);
  if (!open.ok) return open;
  const { auth, tls } = config;
  const parameters = url.searchParams;
  if (!parameters.has("connect_timeout")) parameters.set("connect_timeout", postgresConnectSecs);
  // The name is what the certificate is checked against; the addresses are where it connects.
  const name = tls?.serverName ?? host;
  const port = url.port === "" ? "5432" : url.port;
  parameters.set("host", open.value.map(() => name).join(","));
  parameters.set("hostaddr", open.value.join(","));
  parameters.set("port", open.value.map(() => port).join(","));
  if (tls !== undefined) {
    parameters.set("sslmode", "verify-full");
    parameters.set("sslrootcert", tls.caFile ?? "system");
  }
  const user =
    auth?.type === "basic"
      ? `${encodeURIComponent(auth.username)}:${encodeURIComponent(secretText(auth.password))}@`
      : "";
  // libpq reads a plus sign as itself.
  const query = parameters.toString().replaceAll("+", "%20");
  const uri = `postgresql://${user}${url.pathname === "" ? "/" : url.pathname}?${query}`;
  return ok({ options: [["uri", uri], ...databaseOnly(kwargs)], setup: [] });
}

/** Options of statements are not the database's. */
function databaseOnly(kwargs: readonly Option[]): readonly Option[] {
  return kwargs.filter(([key]) => key !== batchHint);
}

async function snowflakeOptions(
  config: AdbcConfig,
  kwargs: readonly Option[],
  egress: Egress,
): Promise<Opening> {
  const p = "adbc.snowflake.sql.";
  const options: Option[] = [
    ...kwargs,
    [`${p}client_option.login_timeout`, snowflakeLoginLimit],
    [`${p}client_option.client_timeout`, snowflakeClientLimit],
  ];
  const account = `${config.dbKwargs[`${p}account`] ?? ""}`;
  const url = new URL(config.uri ?? `https://${account}.snowflakecomputing.com`);
  const open = await openAddresses(bare(url.hostname), egress);
  if (!open.ok) return open;
  if (config.uri !== undefined) {
    const protocol = url.protocol.slice(0, -1);
    const port = url.port === "" ? (protocol === "http" ? "80" : "443") : url.port;
    options.push(
      [`${p}uri.host`, bare(url.hostname)],
      [`${p}uri.port`, port],
      [`${p}uri.protocol`, protocol],
    );
  }
  return ok({ options: [...options, ...snowflakeLogin(config)], setup: [] });
}

function snowflakeLogin({ auth }: AdbcConfig): readonly Option[] {
  const p = "adbc.snowflake.sql.";
  switch (auth?.type) {
    case undefined:
      return [];
    case "basic":
      return [
        ["username", auth.username],
        ["password", secretText(auth.password)],
      ];
    case "bearer":
      return [
        [`${p}auth_type`, "auth_oauth"],
        [`${p}client_option.auth_token`, secretText(auth.token)],
      ];
    case "keyPair": {
      const key: Option = [
        `${p}client_option.jwt_private_key_pkcs8_value`,
        secretText(auth.privateKeyPem),
      ];
      const phrase = auth.privateKeyPassphrase;
      return [
        [`${p}auth_type`, "auth_jwt"],
        ["username", auth.username],
        key,
        ...(phrase === undefined
          ? []
          : [[`${p}client_option.jwt_private_key_pkcs8_password`, secretText(phrase)] as const]),
      ];
    }
  }
}

async function flightOptions(
  config: AdbcConfig,
  kwargs: readonly Option[],
  egress: Egress,
): Promise<Opening> {
  const url = new URL((config.uri ?? "").replace(/^grpc(?:\+\w+)?/, "http"));
  const open = await openAddresses(bare(url.hostname), egress);
  if (!open.ok) return open;
  const { auth, tls } = config;
  const p = "adbc.flight.sql.";
  const options: Option[] = [...uriOf(config), ...kwargs];
  if (auth?.type === "bearer") {
    options.push([`${p}authorization_header`, `Bearer ${secretText(auth.token)}`]);
  } else {
    options.push(...login(config));
  }
  if (tls?.serverName !== undefined) {
    options.push([`${p}client_option.tls_override_hostname`, tls.serverName]);
  }
  if (tls?.caFile !== undefined) {
    try {
      options.push([`${p}client_option.tls_root_certs`, await readFile(tls.caFile, "utf8")]);
    } catch {
      return err(`${tls.caFile} can not be read`);
    }
  }
  return ok({ options, setup: [] });
}

function uriOf({ uri }: AdbcConfig): readonly Option[] {
  return uri === undefined ? [] : [["uri", uri]];
}

/** The names that ADBC itself gives to a user and a password. */
function login({ auth }: AdbcConfig): readonly Option[] {
  if (auth?.type !== "basic") return [];
  return [
    ["username", auth.username],
    ["password", secretText(auth.password)],
  ];
}

/** Addresses of a name that may be connected to; where one may not, none may. */
function openAddresses(
  host: string,
  { lookup = systemLookup }: Egress,
): Promise<Result<readonly string[], string>> {
  return new Promise((resolve) => {
    lookup(host, { all: true, whole: true }, (error, found) => {
      const refused = error !== null && "code" in error && error.code === egressRefused().code;
      if (refused) resolve(err("gateway.egress refuses the address"));
      else if (error !== null || typeof found === "string") resolve(err(`no address for ${host}`));
      else resolve(ok(found.map(({ address }) => address)));
    });
  });
}

/** A URL keeps the brackets of an address of version 6; neither look-ups nor drivers know them. */
function bare(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}
