/** The config files of the demo fleet, written as a user would write them: loopback only, nobody verified. */

const anyPort = { host: "127.0.0.1", port: 0 } as const;

export interface FleetSecrets {
  readonly fleet: string;
  readonly password: string;
}

/** Name of the first administrator. */
export const adminName = "admin";
/** The group that every query goes to, and that the demo edits. */
export const groupName = "default";

/** `data`: folder whose files queries may read; `database`: folder of the embedded PostgreSQL. */
export function controlPlaneConfig(
  { data, database }: { readonly data: string; readonly database: string },
  { fleet, password }: FleetSecrets,
): object {
  return {
    gateway: {
      role: "controlPlane",
      frontends: {},
      adminApi: {
        ...anyPort,
        firstAdmin: { name: adminName, password },
        queryConsole: { enabled: true },
      },
      persistence: { type: "pglite", path: database },
      workerApi: { sharedSecret: fleet },
    },
    clusters: { local: { engine: "duckDb", allowedDirectories: [data] } },
    clusterGroups: { [groupName]: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: groupName,
    auth: { provider: "none" },
  };
}

export interface WorkerOptions {
  readonly name: string;
  readonly controlPort: number;
  /** As above: a worker reads no folder that its own file does not allow. */
  readonly data: string;
}

export function workerConfig(
  { name, controlPort, data }: WorkerOptions,
  { fleet }: FleetSecrets,
): object {
  return {
    gateway: {
      files: { allow: [data] },
      role: "worker",
      workerName: name,
      workerLabels: { site: "demo" },
      frontends: { postgresWire: anyPort, mysqlWire: anyPort, trinoHttp: anyPort },
      adminApi: anyPort,
      controlPlane: {
        url: `http://127.0.0.1:${controlPort}`,
        auth: { mode: "sharedSecret", sharedSecret: fleet },
        allowInsecureHttp: true,
        heartbeatIntervalSecs: 2,
      },
    },
  };
}
