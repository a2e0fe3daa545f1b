/**
 * The gateway's own config, as containers get it. Plain values: SST is not known here, so that a test
 * reads these with the gateway's schema.
 *
 * Secrets are references. Their values arrive as environment variables that the platform fills in
 * when a container starts, and are in no task definition.
 */

/** Drivers that the image can be built with (infra/adbc/requirements.txt). */
export const adbcDriverNames = ["flightsql", "postgresql", "snowflake", "sqlite"] as const;

export type ControlHost = "functions" | "container";

/** How many at least and at most. */
export interface Limits {
  readonly min: number;
  readonly max: number;
}

/** Where a container finds each secret. */
export const variables = {
  databaseUrl: "GATEWAY_DATABASE_URL",
  encryptionKey: "GATEWAY_ENCRYPTION_KEY",
  encryptionKeyPrevious: "GATEWAY_ENCRYPTION_KEY_PREVIOUS",
  fleetSecret: "GATEWAY_FLEET_SECRET",
  fleetSecretPrevious: "GATEWAY_FLEET_SECRET_PREVIOUS",
  certificate: "GATEWAY_CERTIFICATE",
  privateKey: "GATEWAY_PRIVATE_KEY",
} as const;

/** As the gateway and its functions ask for them (packages/gateway/src/lambda/settings.ts). */
export const encryptionKeyCharsMin = 16;
export const fleetSecretCharsMin = 32;

/** Values of a secret that is a list, the current one first. */
export const itemsOf = (list: string): readonly string[] =>
  list.split(",").map((item) => item.trim());

/** The admin API, the worker API and operations. */
export const adminPort = 9000;

/** What workers serve. All of them are plain TCP to the load balancer: TLS ends in the worker. */
export const frontendPorts = {
  trinoHttp: 8080,
  postgresWire: 5432,
  mysqlWire: 3306,
  flightSql: 50051,
  snowflakeHttp: 8443,
  clickhouseHttp: 8123,
  mcp: 8811,
} as const;

/** Workers pass polls of each other's queries on here. No client and no balancer reaches it. */
export const relayPort = 9001;

/**
 * How long one invocation of the control plane's function may take. A stream ends with its position
 * before that, and the worker asks again from there.
 */
export const functionTimeoutSecs = 300;

/** How long the upkeep of a control plane of functions may take; longer than entry/upkeep.ts sweeps. */
export const upkeepTimeoutMinutes = 10;

/** Of everything that writes a log. */
export const logRetention = "1 month" as const;

/** Less than the 30 seconds after which the platform kills a container that was told to stop. */
export const drainSecs = 25;

const folder = "/tmp/gateway";
const files = {
  config: `${folder}/gateway.yaml`,
  certificate: `${folder}/tls.crt`,
  privateKey: `${folder}/tls.key`,
} as const;

const fromEnvironment = (name: string) => ({ secretRef: `env:${name}` });

export interface ControlPlaneSettings {
  /** Where the load balancer ends TLS. */
  readonly domain: string;
  /** Addresses of the load balancer: what it says of a client's address is believed. */
  readonly range: string;
  /** Whether a previous key, or fleet secret, is set beside the current one. */
  readonly rotating: { readonly encryptionKey: boolean; readonly fleetSecret: boolean };
  /** Of the stage; what is absent has the gateway's default. */
  readonly retention: Readonly<Record<string, number>>;
  readonly adbcDrivers?: readonly string[] | undefined;
}

export function controlPlaneConfig(settings: ControlPlaneSettings) {
  const { domain, range, rotating, retention, adbcDrivers } = settings;
  const keys = [fromEnvironment(variables.encryptionKey)];
  if (rotating.encryptionKey) keys.push(fromEnvironment(variables.encryptionKeyPrevious));
  const secrets = [fromEnvironment(variables.fleetSecret)];
  if (rotating.fleetSecret) secrets.push(fromEnvironment(variables.fleetSecretPrevious));
  return {
    gateway: {
      role: "controlPlane",
      shutdownDrainTimeoutSecs: drainSecs,
      adminApi: {
        port: adminPort,
        allowCleartext: true,
        allowedHosts: [domain],
        trustedProxies: [range],
      },
      persistence: {
        type: "postgres",
        url: fromEnvironment(variables.databaseUrl),
        encryptionKey: keys,
        // The deploy step has done it, before this container was started.
        autoMigrate: false,
      },
      workerApi: { sharedSecret: secrets },
      retention,
      ...driversOf(adbcDrivers),
    },
  };
}

/** A worker behind the balancer that takes its configuration from the control plane at `url`. */
export function workerConfig(url: string, adbcDrivers?: readonly string[]) {
  const tls = { certFile: files.certificate, keyFile: files.privateKey };
  const frontends = Object.fromEntries(
    // The balancer says in front of each connection who the client is; nobody else reaches these ports.
    Object.entries(frontendPorts).map(([kind, port]) => [kind, { port, tls, proxyProtocol: true }]),
  );
  return {
    gateway: {
      role: "worker",
      shutdownDrainTimeoutSecs: drainSecs,
      // This container's own health check asks here, and who collects metrics.
      adminApi: { host: "0.0.0.0", port: adminPort, tls },
      controlPlane: {
        url,
        auth: { mode: "sharedSecret", sharedSecret: fromEnvironment(variables.fleetSecret) },
      },
      // The balancer sends each request of a client to any worker.
      relay: { port: relayPort },
      frontends,
      ...driversOf(adbcDrivers),
    },
  };
}

function driversOf(drivers: readonly string[] | undefined) {
  return drivers === undefined ? {} : { adbc: { drivers } };
}

/** Where the image has its programs (Dockerfile). */
export const imageFolder = "/app/bin";

/**
 * The command of a container: writes config and certificate, which arrive as variables, into files
 * that only it can read, and becomes the gateway.
 */
export const startCommand = [
  "/bin/sh",
  "-c",
  [
    "set -eu",
    "umask 077",
    `mkdir -p ${folder}`,
    `printf %s "$GATEWAY_CONFIG" > ${files.config}`,
    `printf %s "\${${variables.certificate}:-}" > ${files.certificate}`,
    `printf %s "\${${variables.privateKey}:-}" > ${files.privateKey}`,
    `exec node ${imageFolder}/gateway.mjs start --config ${files.config}`,
  ].join("\n"),
];

/** Asks the process itself, so that a container that can not answer is replaced. The image's own check. */
export const healthCommand = ["CMD", "node", `${imageFolder}/health.mjs`];

/** Where that check asks a worker, whose admin listener has TLS. */
export const workerHealth = {
  GATEWAY_HEALTH_URL: `https://127.0.0.1:${adminPort}/health`,
} as const;
