/**
 * A control plane for the tests of the admin API: the real app and the real configuration over the
 * memory store, on a virtual clock, with a database that can be cut off. Every answer is held against
 * the OpenAPI document and against what no answer may hold.
 */
import { createHash } from "node:crypto";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { Hono } from "hono";
import { controlApp } from "../../app.ts";
import { openConfiguration } from "../../config/open.ts";
import type { ControlDeps } from "../../deps.ts";
import { keyRing } from "../../config/secret/keyRing.ts";
import { memoryStore } from "../../store/memory.ts";
import type { AdminRole, AdminUser, Store } from "../../store/store.ts";
import { operationsIn, type TestOperation } from "./operations.ts";

export const fleetSecret = "fleet-secret-of-at-least-32-characters";
/** Stands for every secret: no answer, header, log line or audit row may hold it. */
export const canary = "canaryB1946ac92492d234";

export const people = {
  viewer: { name: "vera", password: "password-of-vera" },
  operator: { name: "otto", password: "password-of-otto" },
  admin: { name: "anna", password: "password-of-anna" },
} as const satisfies Record<AdminRole, { name: string; password: string }>;

export interface Ask {
  /** Basic as the person with this role; `null`: nobody. Default admin. */
  readonly as?: AdminRole | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly address?: string;
}

export interface TestAdmin {
  readonly host: VirtualHost;
  readonly deps: ControlDeps;
  readonly store: Store;
  readonly app: Hono;
  readonly operations: readonly TestOperation[];
  /** How many passwords were compared. */
  readonly compared: () => number;
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Response>;
  /** `ask` with its JSON. */
  readonly json: (method: string, path: string, ask?: Ask) => Promise<Answered>;
  /** Cuts the database off, or gives it back. */
  readonly cut: (down: boolean) => void;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [key: string]: unknown };
}

export interface TestAdminOptions {
  readonly deps?: Partial<ControlDeps>;
  /** The configuration to begin with, in the form of the file. */
  readonly file?: unknown;
  /** Default: one in memory. */
  readonly store?: Store;
  /** Without users, as on a first start. */
  readonly empty?: boolean;
  /** Timers fire at once, for tests that only want to get through. */
  readonly impatient?: boolean;
}

export async function testAdmin(options: TestAdminOptions = {}): Promise<TestAdmin> {
  const host = virtualHost(1);
  const real = options.store ?? memoryStore(host.clock);
  let down = false;
  let compared = 0;
  const store = cuttable(real, () => down);
  const clock = options.impatient === true ? { ...host.clock, timer: firesAtOnce } : host.clock;
  const deps: ControlDeps = {
    store,
    config: await configurationOf(store, host, options.file),
    clock,
    log: host.log,
    metrics: host.metrics,
    host: "container",
    randomBytes: (length) => host.randomBytes(length),
    passwords: {
      hash: (password) => Promise.resolve(fastHash(password)),
      matches: (password, hash) => {
        compared += 1;
        return Promise.resolve(fastHash(password) === hash);
      },
    },
    caller: (request) => ({
      address: request.headers.get("x-test-address") ?? "192.0.2.1",
      secure: request.headers.get("x-test-clear") === null,
    }),
    queries: undefined,
    links: undefined,
    signOn: undefined,
    console: undefined,
    clusterHealth: undefined,
    explainRoute: () => Promise.resolve({ group: "all", refusal: undefined, trace: [] }),
    explainAccess: undefined,
    scripts: undefined,
    testCluster: () => Promise.resolve(ok({ tookMs: 1 })),
    workerApi: { secrets: [new Secret(fleetSecret)] },
    drills: false,
    stopping: new AbortController().signal,
    ...options.deps,
  };
  if (options.empty !== true) await addPeople(real);
  const app = controlApp(deps);
  const operations = await (known ??= operationsOf(app));
  const ask = async (method: string, path: string, one: Ask = {}) => {
    const response = await app.request(requestOf(method, path, one));
    // A stream has no end to wait for; its tests read it.
    if (response.headers.get("content-type") !== "text/event-stream") {
      await judge(operations, { method, path }, response.clone());
    }
    return response;
  };
  return {
    host,
    deps,
    store: real,
    app,
    operations,
    ask,
    compared: () => compared,
    json: async (method, path, one) => {
      const response = await ask(method, path, one);
      const { status, headers } = response;
      return { status, headers, body: (await response.json()) as Answered["body"] };
    },
    cut: (isDown) => {
      down = isDown;
    },
  };
}

/** A configuration with each kind of object, two of them with a secret. */
export const fileOf = {
  clusters: { duck: { engine: "duckDb" } },
  clusterGroups: { all: { members: ["duck"], maxRunningQueries: 4 } },
  routers: [{ type: "protocolBased", protocols: { trinoHttp: "all" } }],
  routingFallback: "all",
  auth: {
    provider: "static",
    staticUsers: { users: { alice: { passwordHash: `$2b$10$${canary.padEnd(53, "x")}` } } },
  },
  gateway: {
    workerApi: {
      history: { endpoint: "https://history.example.com/", auth: { bearer: `${canary}-bearer` } },
    },
  },
} as const;

/** The header of a Basic login. */
export function basic(name: string, password: string): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}

/** A user as the store has it. */
export function userOf(name: string, role: AdminRole, password: string): AdminUser {
  const times = { createdAt: 1, updatedAt: 1 };
  return { name, role, passwordHash: fastHash(password), disabled: false, version: 1, ...times };
}

/** The cookie that an answer sets, as the next request sends it. */
export function cookieOf(response: Response): { readonly cookie: string } {
  return { cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
}

export const ourPage = { "sec-fetch-site": "same-origin", "content-type": "application/json" };

/** Follows nothing: a write of this process is seen at once, and `refresh` is the test's to call. */
async function configurationOf(store: Store, host: VirtualHost, file: unknown) {
  const keys = keyRing([new Secret("0123456789abcdef0123456789abcdef")], (length) =>
    host.randomBytes(length),
  );
  const { clock, log, metrics } = host;
  const opened = await openConfiguration({ store, keys, clock, log, metrics, follow: false });
  if (!opened.ok) throw new Error(opened.error.code);
  if (file === undefined) return opened.value;
  const seeded = await opened.value.seed(file, { by: "file", address: undefined });
  if (!seeded.ok) throw new Error(JSON.stringify(seeded.error));
  return opened.value;
}

async function addPeople(store: Store): Promise<void> {
  for (const role of ["admin", "operator", "viewer"] as const) {
    await store.users.put(userOf(people[role].name, role, people[role].password), undefined);
  }
}

function requestOf(method: string, path: string, { as = "admin", json, body, ...more }: Ask) {
  const login = as === null ? {} : basic(people[as].name, people[as].password);
  const content = json === undefined ? body : JSON.stringify(json);
  const headers = {
    ...login,
    ...(content === undefined ? {} : { "content-type": "application/json" }),
    ...(more.address === undefined ? {} : { "x-test-address": more.address }),
    ...more.headers,
  };
  return new Request(`http://control${path}`, { method, headers, body: content ?? null });
}

/** The document is the same for every app, and making it is what takes time. */
let known: Promise<readonly TestOperation[]> | undefined;

async function operationsOf(app: Hono): Promise<readonly TestOperation[]> {
  return operationsIn(await (await app.request("/openapi.json")).json());
}

/** What holds for every answer of every test. */
async function judge(
  operations: readonly TestOperation[],
  { method, path }: { readonly method: string; readonly path: string },
  response: Response,
): Promise<void> {
  const at = `${method} ${path} → ${response.status}`;
  const text = await response.text();
  const { headers, status } = response;
  const wrong = (what: string) => new Error(`${at}: ${what}\n${text}`);
  const all = text + JSON.stringify([...headers]);
  if (all.includes(canary) || all.includes(fleetSecret)) throw wrong("holds a secret");
  if (all.includes("hash:")) throw wrong("holds a password hash");
  if (status >= 400) {
    if (headers.get("content-type") !== "application/problem+json") throw wrong("no problem");
    const problem = method === "HEAD" ? { status } : (JSON.parse(text) as { status: number });
    if (problem.status !== status) throw wrong("another status in the problem");
  }
  if (!path.startsWith("/admin")) return;
  if (headers.get("cache-control") !== "no-store") throw wrong("may be stored");
  const asked = operations.find((operation) => operation.is(method, path));
  if (asked !== undefined && !asked.statuses.includes(status)) throw wrong("not documented");
}

/** The same store, all calls of which are refused while the database is down. */
function cuttable(store: Store, down: () => boolean): Store {
  return {
    ...store,
    config: { ...refusing(store.config, down), watch: (wake) => store.config.watch(wake) },
    records: refusing(store.records, down),
    workers: refusing(store.workers, down),
    users: refusing(store.users, down),
    audit: refusing(store.audit, down),
  };
}

function refusing<Part extends object>(part: Part, down: () => boolean): Part {
  const gone = err({ code: "unavailable", detail: "ECONNREFUSED" } as const);
  const calls = Object.entries(part).map(
    ([name, ask]: [string, (...args: unknown[]) => unknown]) => [
      name,
      (...args: unknown[]) => (down() ? Promise.resolve(gone) : ask(...args)),
    ],
  );
  return Object.fromEntries(calls) as Part;
}

function firesAtOnce(_delayMs: number, fire: () => void): Disposable {
  queueMicrotask(fire);
  return { [Symbol.dispose]: () => {} };
}

function fastHash(password: string): string {
  return `hash:${createHash("sha256").update(password).digest("hex")}`;
}
