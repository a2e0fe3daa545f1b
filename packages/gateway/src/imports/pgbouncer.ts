/**
 * A configuration of PgBouncer as one of the gateway: databases become clusters with a group each, the list of users
 * becomes static logins, and what has no place here is said instead of lost.
 */
import type { Entry, Ini, ListedUser } from "./ini.ts";
import { readPairs } from "./ini.ts";
import { carried, dropped, isSilent } from "./pgbouncerKeys.ts";
import { usersOf, type Hashes } from "./pgbouncerUsers.ts";

/** The config as data, and what its reader has to know or do. */
export interface Imported {
  readonly document: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/** What an import reads beside the file. */
export interface ImportParts {
  readonly ini: Ini;
  /** The users of `auth_file`; undefined where it could not be read. */
  readonly users: readonly ListedUser[] | undefined;
  readonly hashes: Hashes;
}

type Tree = Record<string, unknown>;

/** PgBouncer's own defaults, where the gateway has others. */
const defaults = { port: "6432", clients: "100", pool: "20", waitSecs: "120" } as const;

export async function importedFrom({ ini, users, hashes }: ImportParts): Promise<Imported> {
  const warnings: string[] = ini.unread.map(
    (line) => `line ${line}: not read; files are not included`,
  );
  const settings = settingsOf(ini.sections.get("pgbouncer") ?? [], warnings);
  const databases = (ini.sections.get("databases") ?? []).flatMap((entry) =>
    databaseOf(entry, settings, warnings),
  );
  for (const { key, line } of ini.sections.get("users") ?? [])
    warnings.push(`line ${line}: limits of user ${key}: use maxRunningPerUser of a cluster group`);
  for (const { line } of ini.sections.get("peers") ?? [])
    warnings.push(`line ${line}: [peers]: several processes are a fleet: see docs/workers.md`);
  if (databases.length === 0) warnings.push("there is no database that could be carried over");
  const [first] = databases;
  const document: Tree = {
    gateway: gatewayOf(settings, warnings),
    auth: await authOf({ settings, users, hashes }, databases, warnings),
    clusters: Object.fromEntries(databases.map(({ name, cluster }) => [name, cluster])),
    clusterGroups: Object.fromEntries(databases.map(({ name, group }) => [name, group])),
    ...routersOf(databases, warnings),
    ...(first === undefined ? {} : { routingFallback: first.name }),
  };
  return { document, warnings };
}

/** Looks a setting up; an empty one counts as absent, as in PgBouncer. */
type Settings = (key: string) => string | undefined;

function settingsOf(entries: readonly Entry[], warnings: string[]): Settings {
  const found = new Map<string, string>();
  for (const { key, value, line } of entries) {
    if (carried.has(key)) found.set(key, value);
    else {
      const reason = dropped.get(key) ?? "PgBouncer's setting is not known here";
      if (!isSilent(reason)) warnings.push(`line ${line}: ${key}: ${reason}`);
    }
  }
  return (key) => (found.get(key) === "" ? undefined : found.get(key));
}

function gatewayOf(settings: Settings, warnings: string[]): Tree {
  const [address = "127.0.0.1", ...more] = (settings("listen_addr") ?? "127.0.0.1")
    .split(",")
    .map((one) => one.trim());
  if (more.length > 0) warnings.push(`listen_addr: ${address} only; a listener has one address`);
  const maxMessageBytes = secondsOf(settings("max_packet_size"));
  const idle = secondsOf(settings("idle_transaction_timeout"));
  const tls = listenerTls(settings, warnings);
  const loopback = /^(127\.|::1$|localhost$)/.test(address);
  if (tls === undefined && !loopback)
    warnings.push("client_tls_sslmode: passwords travel in clear; allowCleartext says so");
  return {
    frontends: {
      postgresWire: {
        host: address === "*" ? "0.0.0.0" : address,
        port: Number(settings("listen_port") ?? defaults.port),
        maxConnections: Number(settings("max_client_conn") ?? defaults.clients),
        maxConnectionsPerAddress: Number(settings("max_client_conn") ?? defaults.clients),
        ...(maxMessageBytes === undefined || maxMessageBytes > 1_073_741_824
          ? {}
          : { maxMessageBytes: Math.max(maxMessageBytes, 65_536) }),
        ...(tls === undefined ? {} : { tls }),
        ...(tls === undefined && !loopback ? { allowCleartext: true } : {}),
      },
    },
    ...(idle === undefined ? {} : { idleInTransactionSecs: Math.min(idle, 86_400) }),
  };
}

function listenerTls(settings: Settings, warnings: string[]): Tree | undefined {
  const mode = settings("client_tls_sslmode") ?? "disable";
  const certFile = settings("client_tls_cert_file");
  const keyFile = settings("client_tls_key_file");
  if (mode === "disable") return undefined;
  if (certFile === undefined || keyFile === undefined) {
    warnings.push("client_tls_sslmode: certificate and key are both needed; written without TLS");
    return undefined;
  }
  if (mode === "allow" || mode === "prefer")
    warnings.push(
      `client_tls_sslmode = ${mode}: beyond loopback passwords are taken over TLS only`,
    );
  const ca = settings("client_tls_ca_file");
  const asks = mode === "verify-ca" || mode === "verify-full";
  const only13 = settings("client_tls_protocols") === "tlsv1.3";
  return {
    certFile,
    keyFile,
    ...(asks && ca !== undefined ? { clientCaFile: ca } : {}),
    ...(only13 ? { minVersion: "1.3" } : {}),
  };
}

interface Database {
  readonly name: string;
  readonly cluster: Tree;
  readonly group: Tree;
}

function databaseOf(entry: Entry, settings: Settings, warnings: string[]): readonly Database[] {
  const { key: name, value, line } = entry;
  const say = (text: string): void => void warnings.push(`line ${line}: ${name}: ${text}`);
  const pairs = readPairs(value);
  if (pairs === undefined) return (say("its connection string can not be read"), []);
  if (name === "*") return (say("a database of any name has no counterpart: name each"), []);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))
    return (say("the name of a cluster is letters, digits, dots, dashes and underscores"), []);
  const host = pairs.get("host") ?? "";
  if (host.startsWith("/")) return (say("the gateway reaches servers over TCP only"), []);
  if (host === "") say("without a host PgBouncer uses a Unix socket; written as localhost");
  for (const key of pairs.keys()) if (!databaseKeys.has(key)) say(`${key} is not carried over`);
  const database = pairs.get("dbname") ?? name;
  if (database !== name) say(`clients have to name the server's own database, ${database}`);
  const port = pairs.get("port") ?? "5432";
  const hosts = (host === "" ? "localhost" : host).split(",").map((one) => `${one.trim()}:${port}`);
  const size = Number(pairs.get("pool_size") ?? settings("default_pool_size") ?? defaults.pool);
  const mode = pairs.get("pool_mode") ?? settings("pool_mode") ?? "session";
  const most = pairs.get("max_db_connections") ?? settings("max_db_connections") ?? "0";
  const cluster = {
    engine: "postgresql",
    hosts,
    database,
    poolMode: mode,
    poolSize: Math.min(Math.max(size, 1), 1_024),
    ...(Number(most) > 0 ? { maxRunningQueries: Number(most) } : {}),
    ...loginOf(name, pairs, settings, say),
    ...timesOf(settings),
  };
  return [{ name, cluster, group: groupOf(name, size, settings) }];
}

const databaseKeys: ReadonlySet<string> = new Set(
  "host port dbname user password pool_size pool_mode max_db_connections".split(" "),
);

/** As whom the server is reached, and how its certificate is checked. */
function loginOf(
  name: string,
  pairs: ReadonlyMap<string, string>,
  settings: Settings,
  say: (text: string) => void,
): Tree {
  const mode = settings("server_tls_sslmode") ?? "prefer";
  const ca = settings("server_tls_ca_file");
  const certFile = settings("server_tls_cert_file");
  const keyFile = settings("server_tls_key_file");
  const encrypts = mode === "require" || mode === "verify-ca" || mode === "verify-full";
  if (mode === "require" || mode === "verify-ca")
    say(`server_tls_sslmode = ${mode}: here the certificate and its name are checked`);
  const files = ca === undefined ? {} : { caFile: ca };
  const own = certFile === undefined || keyFile === undefined ? {} : { certFile, keyFile };
  const user = pairs.get("user");
  if (user !== undefined) {
    if (mode === "prefer" || mode === "allow")
      say(
        `server_tls_sslmode = ${mode}: written without TLS, which the gateway either uses or not`,
      );
    const variable = variableOf(name);
    say(`the password of ${user} is read from the variable ${variable}`);
    return {
      auth: { type: "basic", username: user, password: { secretRef: `env:${variable}` } },
      ...(encrypts ? { tls: { ...files, ...own } } : {}),
    };
  }
  say(
    "without a user each client logs in to the server as itself: passthrough, over TLS, with a connection for each " +
      "statement or transaction; name a user to share connections",
  );
  return { queryAuth: { type: "passthrough" }, tls: { ...files, ...own } };
}

function variableOf(name: string): string {
  return `GATEWAY_SECRET_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

function timesOf(settings: Settings): Tree {
  const idle = secondsOf(settings("server_idle_timeout"));
  const connect = secondsOf(settings("server_connect_timeout"));
  const check = settings("server_check_query");
  return {
    ...(idle === undefined ? {} : { idleTimeoutSecs: Math.min(idle, 86_400) }),
    ...(connect === undefined ? {} : { connectTimeoutSecs: Math.min(connect, 300) }),
    ...(check === undefined ? {} : { healthCheckQuery: check }),
  };
}

function groupOf(name: string, size: number, settings: Settings): Tree {
  const perUser = secondsOf(settings("max_user_connections"));
  const query = secondsOf(settings("query_timeout"));
  const transaction = secondsOf(settings("transaction_timeout"));
  const wait = secondsOf(settings("query_wait_timeout") ?? defaults.waitSecs);
  return {
    members: [name],
    maxRunningQueries: Math.max(size, 1),
    ...(perUser === undefined ? {} : { maxRunningPerUser: perUser }),
    ...(wait === undefined ? {} : { capacityWaitTimeoutSecs: Math.min(wait, 86_400) }),
    ...(query === undefined ? {} : { maxExecutionSecs: query }),
    ...(transaction === undefined ? {} : { maxTransactionSecs: transaction }),
  };
}

/** Whole seconds or another count; 0 and what is no number are PgBouncer's word for none. */
function secondsOf(text: string | undefined): number | undefined {
  const value = Math.ceil(Number(text ?? 0));
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

function routersOf(databases: readonly Database[], warnings: string[]): Tree {
  const [first, ...others] = databases;
  if (first === undefined || others.length === 0) return {};
  warnings.push(
    `several databases: statements go to ${first.name} unless their session has the tag database, as in ` +
      `options=-cgateway.tags=database:${others[0]?.name ?? ""}; routers can also choose by user and group`,
  );
  const rules = others.map(({ name }) => ({ tags: { database: name }, targetGroup: name }));
  return { routers: [{ type: "tags", rules }] };
}

async function authOf(
  { settings, users, hashes }: Pick<ImportParts, "users" | "hashes"> & { settings: Settings },
  databases: readonly Database[],
  warnings: string[],
): Promise<Tree> {
  const type = settings("auth_type") ?? "md5";
  if (type === "any" || type === "trust") {
    warnings.push(`auth_type = ${type}: without passwords the gateway listens on loopback only`);
    return { provider: "none" };
  }
  if (!["md5", "scram-sha-256", "plain"].includes(type))
    warnings.push(`auth_type = ${type}: written as logins with a password: see docs/login.md`);
  if (users === undefined)
    warnings.push(`auth_file: ${settings("auth_file") ?? "not named"}: no users were read`);
  // A client that logs in by SCRAM never shows the password that would be passed on.
  const passes = databases.some(({ cluster }) => cluster["queryAuth"] !== undefined);
  const kept = passes ? { ...hashes, scram: undefined } : hashes;
  return {
    provider: "static",
    staticUsers: { users: await usersOf(users ?? [], kept, warnings) },
  };
}
