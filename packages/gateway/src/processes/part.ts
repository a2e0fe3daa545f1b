/**
 * One of the several processes of a worker (`gateway.processes`): its number, and what of the configuration is its own.
 *
 * Each is a worker of its own to the control plane, which counts its slots like any other's. What they share are the
 * listeners of clients and the admin listener.
 */
import cluster from "node:cluster";
import { hostname } from "node:os";
import { join } from "node:path";
import type { RootConfig } from "../config/schema.ts";
import type { Environment } from "../config/secrets.ts";

export interface Part {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

const variable = "GATEWAY_PROCESS";

/** The environment in which that process is started. */
export function partEnvironment({ index, count }: Part): Record<string, string> {
  return { [variable]: `${index}/${count}` };
}

/** Undefined in a process that nobody started as one of several. */
export function ownPart(environment: Environment): Part | undefined {
  const [index, count] = (environment[variable] ?? "").split("/").map(Number);
  if (!cluster.isWorker || index === undefined || count === undefined) return undefined;
  return { index, count };
}

/** Name, folder and relay of that process. People count from 1. */
export function configOfPart(config: RootConfig, { index }: Part): RootConfig {
  const { workerName, stateDir, relay, ...gateway } = config.gateway;
  const number = String(index + 1);
  return {
    ...config,
    gateway: {
      ...gateway,
      workerName: `${workerName ?? hostname()}.${number}`,
      ...(stateDir === undefined ? {} : { stateDir: join(stateDir, number) }),
      // Polls of a query come to any of them. Without a relay of the fleet they reach each other on this machine.
      relay: relay === undefined ? { host: "127.0.0.1", port: 0 } : relayOf(relay, index),
    },
  };
}

type Relay = NonNullable<RootConfig["gateway"]["relay"]>;

/** Ports in a row, from the one that is configured. */
function relayOf({ host, port, advertise }: Relay, index: number): Relay {
  const own = port === 0 ? 0 : port + index;
  if (advertise === undefined) return { host, port: own };
  const advertised = advertise.replace(/:(\d+)$/, (_all, at: string) => `:${Number(at) + index}`);
  return { host, port: own, advertise: advertised };
}
