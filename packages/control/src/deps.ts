/** What the control plane's handlers are made of, handed over as one value. No host is known here. */
import type { RunAsked, RunEvent, RunTables, SignOnRefusal } from "@gateway/contract/studioApi.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type { Metrics } from "@gateway/core/port/metrics.ts";
import type { ScriptSandboxes } from "@gateway/core/script/scripts.ts";
import type { Result } from "@gateway/core/result.ts";
import type { RouteExplanation, RouteQuestion } from "@gateway/core/route/explain.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { ClusterHealth } from "@gateway/core/snapshot/generation.ts";
import type { AccessExplanation, AccessQuestion } from "@gateway/core/police/explain.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { ConfigFault, Configuration } from "./config/configuration.ts";
import type { SignOnLinks } from "./admin/auth/links.ts";
import type { AdminRole, Store } from "./store/store.ts";
import type { SharedCapacity } from "./worker/capacity/capacityPort.ts";

/** bcrypt, off the main thread where there are threads. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  matches(password: string, hash: string): Promise<boolean>;
}

/** A query of this process that has not ended. */
export interface LocalQuery {
  readonly id: string;
  readonly user: string;
  readonly frontend: string;
  readonly state: "queued" | "running";
  /** In its queue, 1 is next; undefined where it does not wait for a slot. */
  readonly position?: number | undefined;
  readonly group: string | undefined;
  readonly cluster: string | undefined;
  /** Unix milliseconds. */
  readonly since: number;
  readonly rows: number;
  readonly sql: string;
}

/** The data plane of the same process; absent in a function. */
export interface LocalQueries {
  list(): readonly LocalQuery[];
  /** False when it is not here. */
  cancel(id: string): boolean;
}

/** Asks for the client's address and host that a host (Node, a function) knows and a `Request` does not. */
export interface Caller {
  /** Address of the peer, or of the client where a trusted proxy says so; `unknown` where nobody knows. */
  readonly address: string;
  /** True when the request came over TLS, here or at a trusted proxy: cookies are then `Secure`. */
  readonly secure: boolean;
}

/** Whom an identity provider proved, and as what the configuration takes them. */
export interface ProvenAdmin {
  readonly name: string;
  readonly role: AdminRole;
  /** Tells apart, for good, whoever could have the name. */
  readonly subject: string;
}

/** Signs administrators on at an identity provider. */
export interface SignOnProvider {
  /** How the console's button calls it. */
  readonly title: string;
  /** Where the browser is sent, and what it has to bring back beside the provider's answer. */
  begin(): Promise<Result<{ readonly url: string; readonly kept: string }, "unavailable">>;
  /** `answer`: the parameters of the callback. */
  finish(kept: string, answer: URLSearchParams): Promise<Result<ProvenAdmin, SignOnRefusal>>;
}

/** Who asks by the console, and what. */
export interface ConsoleQuestion extends RunAsked {
  /** The user of the admin API. */
  readonly user: string;
  readonly address: string;
}

/** Runs queries of the admin API's own users through the data plane of this process. */
export interface ConsoleQueries {
  /** Statements that may write are run too. */
  readonly writes: boolean;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly maxSecs: number;
  /**
   * `started`, or at once `failed`; at the end `done` or `failed`. Aborting `signal` (with a `GatewayError`) or
   * ending the generator ends the query.
   */
  run(question: ConsoleQuestion, signal: AbortSignal): AsyncGenerator<RunEvent, void, void>;
  /** Tables of the place where the user's queries would go. Takes a slot. */
  tables(
    place: Pick<ConsoleQuestion, "user" | "address" | "group" | "catalog" | "schema">,
    signal: AbortSignal,
  ): Promise<Result<RunTables, GatewayError>>;
}

/** A statement that nobody runs, its caller, and maybe a policy that nobody saved. */
export interface AccessAsked extends Omit<AccessQuestion, "group">, RouteQuestion {
  readonly accessControl?: unknown;
}

/** `uncontrolled`: the group's statements are not under access control. `engines`: dialects that the text was proven in beside its own; undefined where this process serves none. */
export type AccessAnswer =
  | { readonly kind: "faults"; readonly faults: readonly ConfigFault[] }
  | { readonly kind: "uncontrolled" }
  | (AccessExplanation & {
      readonly kind: "explained";
      readonly engines: readonly Dialect[] | undefined;
    });

export interface ControlDeps {
  readonly store: Store;
  readonly config: Configuration;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  randomBytes(length: number): Uint8Array;
  readonly passwords: PasswordHasher;
  /** Who sends this request; never from a header that the host did not vouch for. */
  caller(request: Request): Caller;
  readonly queries: LocalQueries | undefined;
  /** Undefined where the listener can be reached from other machines. */
  readonly links: SignOnLinks | undefined;
  readonly signOn: SignOnProvider | undefined;
  /** Undefined where the configuration does not allow it, and where there is no data plane. */
  readonly console: ConsoleQueries | undefined;
  /** How the clusters that this process opened do; undefined where none is opened. */
  readonly clusterHealth: (() => readonly ClusterHealth[]) | undefined;
  /** The routing stage over the current configuration; also in a function, for it opens nothing. */
  explainRoute(question: RouteQuestion): Promise<RouteExplanation>;
  /** Access control over the current configuration, or an unsaved one; undefined where nothing reads SQL (a function). */
  readonly explainAccess:
    | ((asked: AccessAsked, group: string) => Promise<AccessAnswer>)
    | undefined;
  /** Opens a cluster for a moment and asks it for a sign of life; undefined where no engine can be loaded. */
  readonly testCluster:
    | ((name: string, body: unknown) => Promise<Result<{ readonly tookMs: number }, string>>)
    | undefined;
  /** Where a script is tried; undefined where none runs (a function). */
  readonly scripts: ScriptSandboxes | undefined;
  readonly workerApi: WorkerApiDeps | undefined;
  /** Whether this is a staging fleet whose operator takes drills. Said by the host, so no administrator can switch it on. */
  readonly drills: boolean;
  /** `container` wakes waiters by the store's `watch`; `function` polls and holds for a shorter time. */
  readonly host: "container" | "function";
  /** Aborted when the process stops: waiters are answered and streams end. */
  readonly stopping: AbortSignal;
}

export interface WorkerApiDeps {
  /** Current first, then those that are still accepted. Each at least 32 characters. */
  readonly secrets: readonly Secret[];
  /** The one that this process's own queries use. When absent, one is made for workers and admins only. */
  readonly capacity?: SharedCapacity;
}
