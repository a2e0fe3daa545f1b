/** The config of the quick start, written as a user would write it: loopback only, nobody verified, one embedded DuckDB. */
import { createHash } from "node:crypto";

const loopback = "127.0.0.1";

/** Ports that do not collide with servers people already run. */
const ownPorts = {
  trinoHttp: 18080,
  postgresWire: 15432,
  mysqlWire: 13306,
  mcp: 18811,
  clickhouseHttp: 18123,
  flightSql: 15051,
  adminApi: 19000,
} as const;
const freePorts = {
  trinoHttp: 0,
  postgresWire: 0,
  mysqlWire: 0,
  mcp: 0,
  clickhouseHttp: 0,
  flightSql: 0,
  adminApi: 0,
} as const;

export interface QuickstartChoices {
  readonly folder: string | undefined;
  readonly free: boolean;
}

/** `folder`: an absolute path whose files are served; absent, the sample is. `free` lets the system choose the ports. */
export function quickstartConfig({ folder, free }: QuickstartChoices) {
  // Two quick starts at once, on free ports, must not share a data folder.
  const persistence = free ? { type: "inMemory" } : { type: "pglite", path: dataFolder(folder) };
  const ports = free ? freePorts : ownPorts;
  const allowedDirectories = folder === undefined ? [] : [folder];
  return {
    gateway: {
      frontends: {
        trinoHttp: { host: loopback, port: ports.trinoHttp },
        postgresWire: { host: loopback, port: ports.postgresWire },
        mysqlWire: { host: loopback, port: ports.mysqlWire },
        mcp: { host: loopback, port: ports.mcp },
        clickhouseHttp: { host: loopback, port: ports.clickhouseHttp },
        flightSql: { host: loopback, port: ports.flightSql },
      },
      adminApi: { host: loopback, port: ports.adminApi },
      persistence,
    },
    clusters: { local: { engine: "duckDb", allowedDirectories } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
}

/** What is served is part of the configuration, so each folder has a database of its own. */
function dataFolder(folder: string | undefined): string {
  if (folder === undefined) return ".gateway/quickstart";
  const mark = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  return `.gateway/quickstart-${mark}`;
}
