/** A whole gateway in the test's process: real pipeline, real DuckDB, listeners on free ports. */
import type { Contents } from "@gateway/engines/descriptor.ts";
import { checkConfig } from "@gateway/gateway/config/load.ts";
import { lineOf } from "@gateway/control/config/check/report.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { start } from "@gateway/gateway/roles.ts";
import type { Running } from "@gateway/gateway/running.ts";

/** Thread programs and migrations. */
export const bundle = new URL("../../packages/gateway/dist/", import.meta.url);

export interface TestGateway extends AsyncDisposable {
  readonly running: Running;
  readonly ports: Readonly<Record<string, number>>;
  /** Text of `/metrics`. */
  metrics(): Promise<string>;
}

/** Starts one; throws with every problem when the config or a listener is refused. */
export async function gatewayOf(
  config: object,
  contents: Contents = { kind: "none" },
): Promise<TestGateway> {
  const checked = checkConfig(config);
  if (!checked.ok) throw new Error(checked.error.map(lineOf).join("\n"));
  const host = nodeHost(bundle, "silent");
  const options = { config: checked.value, document: config, host, bundle, contents };
  const started = await start({ ...options, environment: {} });
  if (!started.ok) throw new Error(JSON.stringify(started.error));
  const running = started.value;
  const ports = Object.fromEntries(running.listeners.map(({ kind, port }) => [kind, port]));
  return {
    running,
    ports,
    metrics: () => host.metrics.expose(),
    [Symbol.asyncDispose]: async () => {
      await running.drain(AbortSignal.timeout(5_000));
    },
  };
}

/** All three frontends on loopback over one embedded DuckDB; `more` is spread over the root. */
export function configOf(more: object = {}, frontend: object = {}): object {
  const listener = { host: "127.0.0.1", port: 0, ...frontend };
  return {
    gateway: {
      frontends: { trinoHttp: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: { host: "127.0.0.1", port: 0 },
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
    ...more,
  };
}

/** The port of a listener that the test opened. */
export function portOf(gateway: TestGateway, kind: string): number {
  const port = gateway.ports[kind];
  if (port === undefined) throw new Error(`no listener ${kind}`);
  return port;
}
