/** Config of an ADBC cluster: a database reached through an ADBC driver, which is a shared library. */
import {
  clusterAuthSchema,
  clusterShape,
  clusterTlsSchema,
  healthCheckQuerySchema,
  type ClusterAuthKind,
} from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

/** Drivers that are known by name. Any other is a path of a library. */
export const driverNames = ["snowflake", "duckdb", "postgresql", "sqlite", "flightsql"] as const;
export type DriverName = (typeof driverNames)[number];

/** What each known driver takes. A driver that is not known takes what its makers say. */
interface DriverRules {
  /** Ways to log in. */
  readonly auth: readonly ClusterAuthKind[];
  /** Whether `tls` means something. */
  readonly tls: boolean;
  readonly uri: { readonly pattern: RegExp; readonly example: string } | undefined;
  /** Names of options, or what they begin with when the last character is a dot. */
  readonly options: readonly string[];
  readonly required: readonly string[];
}

const snowflake = "adbc.snowflake.sql.";
const flight = "adbc.flight.sql.";
const rpc = `${flight}rpc.`;

/** Options that name files of the host or other servers are left out on purpose. */
const rules: Readonly<Record<DriverName, DriverRules>> = {
  snowflake: {
    auth: ["basic", "bearer", "keyPair"],
    tls: false,
    uri: {
      pattern: /^https?:\/\/[^/?#@]+\/?$/,
      example: "https://account.snowflakecomputing.com",
    },
    options: [
      "account",
      "db",
      "schema",
      "warehouse",
      "role",
      "region",
      "client_option.app_name",
      "client_option.request_timeout",
      "client_option.use_high_precision",
      "client_option.max_timestamp_precision",
      "client_option.ocsp_fail_open_mode",
    ].map((name) => snowflake + name),
    required: [`${snowflake}account`],
  },
  duckdb: {
    auth: [],
    tls: false,
    uri: undefined,
    options: ["threads", "memory_limit", "access_mode"],
    required: [],
  },
  postgresql: {
    auth: ["basic"],
    tls: true,
    uri: {
      pattern:
        /^postgres(?:ql)?:\/\/[A-Za-z0-9.\-[\]:]+(?:\/[^?#/]*)?(?:\?(?:(?:sslmode|application_name|connect_timeout|options|target_session_attrs)=[^&]*&?)*)?$/,
      example: "postgresql://db.internal:5432/sales?sslmode=require",
    },
    options: ["adbc.postgresql.batch_size_hint_bytes"],
    required: [],
  },
  sqlite: { auth: [], tls: false, uri: undefined, options: [], required: [] },
  flightsql: {
    auth: ["basic", "bearer"],
    tls: true,
    uri: {
      pattern: /^grpc(?:\+tls|\+tcp)?:\/\/[^/?#@]+\/?$/,
      example: "grpc+tls://flight.internal:443",
    },
    options: [
      `${rpc}timeout_seconds.fetch`,
      `${rpc}timeout_seconds.query`,
      `${rpc}timeout_seconds.update`,
      `${rpc}with_cookie_middleware`,
      `${rpc}call_header.`,
      `${flight}client_option.authority`,
      `${flight}client_option.with_max_msg_size`,
    ],
    required: [],
  },
};

/** Keys under which a driver would be given a secret: those belong in `auth`, which is never shown. */
const secretKey = /passw|secret|token|private_key|privatekey|passphrase|credential|authorization/i;

const optionValue = z.union([z.string(), z.number(), z.boolean()]);

const adbcShape = z.strictObject({
  engine: z
    .literal("adbc")
    .meta({ title: "Engine", description: "A database behind an ADBC driver." }),
  ...clusterShape(["serviceAccount", "passthrough", "tokenExchange"]),
  driver: z
    .union([
      z.enum(driverNames),
      z.string().regex(/^\//, `must be ${driverNames.join(", ")} or an absolute path`),
    ])
    .meta({
      title: "Driver",
      description: `${driverNames.join(", ")}, or the path of a library in a folder of gateway.adbc.libraries.`,
      "x-library-path": true,
    }),
  entrypoint: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a C function")
    .optional()
    .meta({
      title: "Entry point",
      description: "Init function of a library given by path. Absent: AdbcDriverInit.",
    }),
  uri: z
    .string()
    .min(1)
    .optional()
    .meta({
      title: "Address",
      description:
        "Where the database is, without user and password: postgresql://host:port/database, grpc+tls://host:port, https://account.snowflakecomputing.com.",
      examples: ["postgresql://db.internal:5432/sales"],
    }),
  databasePath: z.string().min(1).optional().meta({
    title: "Database file",
    description: "File of a duckdb or sqlite database. Absent: `:memory:`.",
    "x-file-path": true,
  }),
  dbKwargs: z
    .record(z.string(), optionValue)
    .default({})
    .meta({
      title: "Driver options",
      description:
        "Options by the driver's own names. Passwords and tokens are given in `auth`, addresses in `uri`.",
      examples: [{ "adbc.snowflake.sql.account": "xy12345" }],
    }),
  poolSize: z.int().min(1).max(256).default(4).meta({
    title: "Connections",
    description:
      "Most statements and transactions at once; each has a thread or a process of its own. More wait.",
    "x-unit": "connections",
  }),
  auth: clusterAuthSchema(["basic", "bearer", "keyPair"]).optional(),
  tls: clusterTlsSchema.optional(),
  healthCheckQuery: healthCheckQuerySchema.optional(),
  scopedPoolIdleTimeoutSecs: z.int().min(1).default(900).meta({
    title: "Idle scopes",
    description:
      "Snowflake: connections of an identity, or of a place that a session went to, are closed this long after they were last asked for.",
    "x-unit": "seconds",
  }),
  scopedPoolMaxCount: z.int().min(1).default(500).meta({
    title: "Scopes",
    description:
      "Snowflake: identities and places that have connections at once, in each process. With one more the one that was asked for longest ago is let go.",
    "x-unit": "scopes",
  }),
  scopedPoolConnectionsPerProcess: z.int().min(1).max(64).default(16).meta({
    title: "Connections per process",
    description:
      "Snowflake: connections of such scopes that share a process of the driver. More take less memory; a crash of the driver ends the statements of all of them.",
    "x-unit": "connections",
  }),
});

type Shape = z.output<typeof adbcShape>;

export const adbcConfig = adbcShape
  .superRefine((config, context) => {
    for (const { path, message } of problemsOf(config)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  })
  .meta({ title: "ADBC", description: "A database behind an ADBC driver." });

export type AdbcConfig = z.output<typeof adbcConfig>;

/** The driver that a name or a library's file name stands for; undefined for a library that is not known. */
export function knownDriver(driver: string): DriverName | undefined {
  const file = driver.slice(driver.lastIndexOf("/") + 1).toLowerCase();
  return driverNames.find(
    (name) => file === name || new RegExp(`^(lib)?(adbc_driver_)?${name}[._-]`).test(file),
  );
}

const loopback = /^http:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::|\/|$)/;

interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

function problemsOf(config: Shape): readonly Problem[] {
  const known = knownDriver(config.driver);
  const secrets = Object.keys(config.dbKwargs)
    .filter((key) => secretKey.test(key))
    .map((key) => ({ path: ["dbKwargs", key], message: "looks like a secret; give it in auth" }));
  const entry =
    config.entrypoint !== undefined && driverNames.some((name) => name === config.driver)
      ? [{ path: ["entrypoint"], message: "is for libraries given by path" }]
      : [];
  const mode = config.queryAuth?.type ?? "serviceAccount";
  const identity =
    mode === "serviceAccount" || known === "snowflake"
      ? []
      : [{ path: ["queryAuth", "type"], message: `${mode} is for the driver snowflake` }];
  const own = known === undefined ? [] : knownProblems(known, config);
  const file =
    known === undefined && config.databasePath !== undefined
      ? [{ path: ["databasePath"], message: "is for duckdb and sqlite" }]
      : [];
  return [...secrets, ...entry, ...file, ...identity, ...own];
}

function knownProblems(name: DriverName, config: Shape): readonly Problem[] {
  const { auth, tls, options, required } = rules[name];
  const found: Problem[] = [...addressProblems(name, config)];
  const refuse = (path: readonly string[], message: string): void =>
    void found.push({ path, message });
  if (config.auth !== undefined && !auth.includes(config.auth.type)) {
    const have = auth.length === 0 ? "no logins" : `${auth.join(", ")} only`;
    refuse(["auth", "type"], `the driver ${name} has ${have}`);
  }
  if (config.tls !== undefined && !tls) {
    refuse(["tls"], `the driver ${name} takes no certificates of its own`);
  }
  for (const key of Object.keys(config.dbKwargs)) {
    const fits = options.some((one) => (one.endsWith(".") ? key.startsWith(one) : key === one));
    if (!fits) refuse(["dbKwargs", key], `the driver ${name} has no such option here: ${key}`);
  }
  for (const key of required) {
    if (!(key in config.dbKwargs)) refuse(["dbKwargs", key], "is required");
  }
  return found;
}

function addressProblems(name: DriverName, { uri, databasePath }: Shape): readonly Problem[] {
  const rule = rules[name].uri;
  if (rule === undefined) {
    if (uri !== undefined) return [problemOf("uri", `the driver ${name} has databasePath instead`)];
    if (databasePath?.startsWith("file:") !== true) return [];
    return [problemOf("databasePath", "must be a path, not a URI")];
  }
  if (databasePath !== undefined) return [problemOf("databasePath", `the driver ${name} has uri`)];
  if (uri === undefined) return name === "snowflake" ? [] : [problemOf("uri", "is required")];
  if (!rule.pattern.test(uri)) {
    return [problemOf("uri", `must be like ${rule.example}; user and password belong in auth`)];
  }
  if (!uri.startsWith("http:") || loopback.test(uri)) return [];
  return [problemOf("uri", "must be https: the login travels there")];
}

function problemOf(key: string, message: string): Problem {
  return { path: [key], message };
}
