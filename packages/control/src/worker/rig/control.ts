/**
 * A control plane for the tests of the worker API: the real app and configuration over the memory
 * store on a virtual clock, with a database that can be cut off.
 */
import { instanceIdHeader, instanceTokenHeader } from "@gateway/contract/workerApi.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { err } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { Hono } from "hono";
import type { Configuration } from "../../config/configuration.ts";
import { openConfiguration } from "../../config/open.ts";
import type { ControlDeps } from "../../deps.ts";
import { keyRing } from "../../config/secret/keyRing.ts";
import { memoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { workerApi, type WorkerApiOptions } from "../app.ts";

export const currentSecret = "current-fleet-secret-of-32-characters";
export const previousSecret = "previous-fleet-secret-of-32-characters";

export interface TestControlOptions extends WorkerApiOptions {
  readonly host?: ControlDeps["host"];
  readonly store?: Store;
  readonly secrets?: readonly string[];
}

export interface Call {
  readonly method?: string;
  readonly secret?: string | undefined;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: Uint8Array<ArrayBuffer> | string;
  readonly signal?: AbortSignal;
}

export interface TestControl {
  readonly host: VirtualHost;
  readonly deps: ControlDeps;
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  /** Asks the app; without `secret` with the current one, with undefined without any. */
  call(path: string, call?: Call): Promise<Response>;
  /** Adds a cluster, as another replica does, and lets a container learn of it. */
  commit(cluster: string): Promise<void>;
  /** Cuts the database off, or gives it back. */
  cut(down: boolean): void;
  /** How often the head was asked for. */
  looks(): number;
  /** Timers of the worker API: one for each caller that is held. */
  held(): number;
  stop(): void;
  /** Registers an instance; answers the headers its calls carry. */
  register(name: string, instanceId: string): Promise<Readonly<Record<string, string>>>;
}

export async function testControl(options: TestControlOptions = {}): Promise<TestControl> {
  const host = virtualHost(1);
  const stopping = new AbortController();
  const { secrets = [currentSecret, previousSecret] } = options;
  let down = false;
  let looks = 0;
  const whole = options.store ?? memoryStore(host.clock);
  const store: Store = {
    ...whole,
    config: {
      ...cuttable(whole.config, () => down),
      watch: (wake) => whole.config.watch(wake),
      head: () => {
        looks += 1;
        return down ? Promise.resolve(gone) : whole.config.head();
      },
    },
    records: cuttable(whole.records, () => down),
    workers: cuttable(whole.workers, () => down),
    capacity: {
      ...cuttable(whole.capacity, () => down),
      watch: (wake) => whole.capacity.watch(wake),
    },
  };
  const kind = options.host ?? "container";
  const config = await replicaOf(store, host, kind === "container");
  const writer = await replicaOf(whole, host, false);
  const deps = depsOf({ host, kind, store, config, secrets, stopping: stopping.signal });
  const app = new Hono().route("/worker", workerApi(deps, options));
  const call = async (path: string, one: Call = {}) => app.fetch(requestOf(path, one));

  return {
    host,
    deps,
    app,
    call,
    commit: async (name) => {
      const hash = await addCluster(writer, name);
      if (kind === "function") return;
      await host.advance(0);
      // Compressing takes real time, in a thread.
      while (config.current()?.revision.hash !== hash) await host.settle();
    },
    cut: (isDown) => {
      down = isDown;
    },
    looks: () => looks,
    // A configuration that follows its store has one as well.
    held: () => host.timerCount - (kind === "container" ? 1 : 0),
    stop: () => stopping.abort(),
    register: async (name, instanceId) => {
      const json = registrationOf(name, instanceId);
      const answer = await call("/register", { method: "POST", json });
      const { instanceToken } = (await answer.json()) as { instanceToken: string };
      return { [instanceIdHeader]: instanceId, [instanceTokenHeader]: instanceToken };
    },
  };
}

interface DepsParts {
  readonly host: VirtualHost;
  readonly kind: ControlDeps["host"];
  readonly store: Store;
  readonly config: Configuration;
  readonly secrets: readonly string[];
  readonly stopping: AbortSignal;
}

function depsOf({ host, kind, store, config, secrets, stopping }: DepsParts): ControlDeps {
  return {
    store,
    config,
    host: kind,
    clock: host.clock,
    log: host.log,
    metrics: host.metrics,
    randomBytes: (length) => host.randomBytes(length),
    passwords: { hash: unused, matches: unused },
    caller: (request) => ({
      address: request.headers.get("x-test-address") ?? "192.0.2.1",
      secure: true,
    }),
    queries: undefined,
    links: undefined,
    signOn: undefined,
    console: undefined,
    clusterHealth: undefined,
    explainRoute: unused,
    explainAccess: undefined,
    scripts: undefined,
    testCluster: undefined,
    drills: false,
    workerApi: { secrets: secrets.map((secret) => new Secret(secret)) },
    stopping,
  };
}

/** A registration as a worker sends it. */
export function registrationOf(name: string, instanceId: string) {
  return {
    name,
    instanceId,
    labels: { zone: "a" },
    version: "0.1.0",
    schemaVersions: [1],
    heartbeatIntervalSecs: 10,
  };
}

function requestOf(path: string, { method = "GET", ...call }: Call): Request {
  const secret = "secret" in call ? call.secret : currentSecret;
  const json = call.json === undefined ? undefined : JSON.stringify(call.json);
  return new Request(`http://control/worker${path}`, {
    method,
    headers: {
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(call.address === undefined ? {} : { "x-test-address": call.address }),
      ...(json === undefined && call.body === undefined
        ? {}
        : { "content-type": "application/json" }),
      ...call.headers,
    },
    body: json ?? call.body ?? null,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
}

const gone = err({ code: "unavailable", detail: "ECONNREFUSED" } as const);

/** The same calls, all refused while the database is down. */
function cuttable<Part extends object>(part: Part, down: () => boolean): Part {
  const calls = Object.entries(part).map(
    ([name, ask]: [string, (...args: unknown[]) => unknown]) => [
      name,
      (...args: unknown[]) => (down() ? Promise.resolve(gone) : ask(...args)),
    ],
  );
  return Object.fromEntries(calls) as Part;
}

/** A configuration over the store, as each replica has one. */
async function replicaOf(store: Store, host: VirtualHost, follow: boolean) {
  const keys = keyRing([new Secret("k".repeat(32))], (length) => host.randomBytes(length));
  const { clock, log, metrics } = host;
  const opened = await openConfiguration({ store, keys, clock, log, metrics, follow });
  if (!opened.ok) throw new Error(opened.error.code);
  return opened.value;
}

/** Answers the new hash. */
async function addCluster(config: Configuration, name: string): Promise<string> {
  const object = { kind: "cluster", name } as const;
  const author = { by: "ann", address: undefined };
  const written = await config.put(object, { engine: "duckDb" }, "absent", author);
  if (!written.ok) throw new Error(written.error.code);
  return written.value.revision.hash;
}

function unused(): never {
  throw new Error("not part of the worker API");
}
