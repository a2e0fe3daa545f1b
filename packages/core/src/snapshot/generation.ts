/**
 * A generation: one snapshot compiled and its backends open. Queries hold the one they started with,
 * so a reload never closes a backend underneath a query. What it is made from is in compile.ts.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import type { EndAttempt } from "../cluster/breakers.ts";
import type { Authenticator } from "../port/authenticator.ts";
import type { AuthContext } from "../query/identity.ts";
import type { Authorizer } from "../port/authorizer.ts";
import type { Backend, TableListing } from "../port/backend.ts";
import type { Catalog } from "../port/sql/catalog.ts";
import type { Clock } from "../port/clock.ts";
import type { AdmitRequest } from "../port/capacity.ts";
import type {
  Identified,
  Policed,
  Query,
  Routed,
  Translated,
  Admitted,
  QueryLimits,
} from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskScan } from "../guard/scan.ts";
import type { PolicyLog } from "../guard/told.ts";

/** How an open cluster does, as this process probes it. */
export interface ClusterHealth {
  readonly cluster: string;
  readonly engine: string;
  readonly state: "starting" | "up" | "down";
  /** By group; groups without a breaker are absent. */
  readonly breakers: Readonly<Record<string, "closed" | "open" | "halfOpen">>;
}

/** Who is asked and told by guards that judge the engine's text. */
export interface LateTold {
  askScan(query: Identified): ReturnType<AskScan>;
  readonly log: PolicyLog;
}

/** The stages of a query that depend on config, in their order on the line. None of them throws. */
export interface Generation {
  /** `epoch.sequence.hash` of the snapshot, written into every record. */
  readonly revision: string;
  /** A statement's own text decides what becomes of it: by guards, access control, routers or scripts. */
  readonly judgesTexts: boolean;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** The session's identity as this configuration knows it; undefined when it must log in anew. */
  renew(identity: AuthContext): AuthContext | undefined;
  /** Renews the identity, then chooses the group; refuses with `auth.expired` first. Appends what each router said to `trace`. A promise only where somebody is asked. */
  route(
    query: Query,
    trace: Routed["trace"][number][],
    signal: AbortSignal,
  ): Result<Routed, GatewayError> | Promise<Result<Routed, GatewayError>>;
  /** With the tags of its group where the client set none of that name; `route` has added them. For a statement whose route was decided before. */
  tagged(query: Routed): Routed;
  /** Source SQL plus identity to allowed SQL, or `policy.denied`. Tells `log` what was done. A promise only for a long text that guards read. */
  police(
    query: Routed,
    log: PolicyLog,
    signal: AbortSignal,
  ): Result<Policed, GatewayError> | Promise<Result<Policed, GatewayError>>;
  /** What the capacity needs. Members in `excluded` failed this query's connection already; `cluster.unavailable` when none is left. */
  admission(query: Policed, excluded: ReadonlySet<string>): Result<AdmitRequest, GatewayError>;
  /** Allowed SQL to the engine's own dialect. A promise only for a long text, which is read in slices, also for the engine's adapter. */
  translate(
    query: Admitted,
    signal: AbortSignal,
  ): Result<Translated, GatewayError> | Promise<Result<Translated, GatewayError>>;
  /** As whom the engine sees the query; never a stronger identity than the cluster's mode says. A promise only where somebody is asked. */
  identify(
    query: Translated,
    signal: AbortSignal,
  ): Result<Identified, GatewayError> | Promise<Result<Identified, GatewayError>>;
  /**
   * What guards say of the engine's text, before it runs: warnings for the client, or a refusal. Undefined where nobody
   * is asked. `askScan` asks the engine there where the statement will run.
   */
  late(
    query: Identified,
    told: LateTold,
    signal: AbortSignal,
  ): Promise<Result<readonly string[], GatewayError>> | undefined;
  /** What a listing shows the caller of these tables. A promise only under access control. */
  shown(
    query: Policed,
    tables: readonly TableListing[],
    signal: AbortSignal,
  ): readonly TableListing[] | Promise<readonly TableListing[]>;
  /** Of the catalog provider; undefined where there is none. Closed with the generation. */
  readonly catalog?: Catalog | undefined;
  /** A key that differs between callers of the group who may see different tables; the same for all under the service account. */
  audience(query: Policed): string;
  backend(cluster: string): Backend;
  /** All that are open. */
  backends(): readonly Backend[];
  /** How they do. */
  health(): readonly ClusterHealth[];
  /** The open members of a group. */
  members(group: string): readonly Backend[];
  /** Catalog names that all backends know by now, each once. */
  catalogs(): readonly string[];
  /**
   * Settles when each backend was asked once what it has, or took too long to say so: until then `catalogs` may lack
   * some. Undefined when there is nothing to wait for.
   */
  learned?(): Promise<void> | undefined;
  limits(group: string): QueryLimits;
  /** Called with the slot in hand, before the engine is asked. The returned function is called once when the attempt is over; it feeds circuit breaker and health check. */
  attempt(group: string, cluster: string): EndAttempt;
  /** Closes the backends. Called once, when nobody holds the generation any more. */
  close(): Promise<void>;
}

/** A hold on a generation; disposing lets go, once. */
export interface HeldGeneration extends Disposable {
  readonly generation: Generation;
  /** Lets go of it, as its disposal does. */
  leave(): void;
}

/** The active generation and the ones that are still held. */
export class Generations {
  #active: Counted | undefined;
  /** Resolves the waits for the first generation. */
  readonly #waiting = new Set<() => void>();

  /** Takes a hold on the active generation, or refuses with `config.notReady`. */
  hold(): Result<HeldGeneration, GatewayError> {
    if (this.#active === undefined) return err(gatewayError("config.notReady"));
    return ok(this.#active.hold());
  }

  /** Resolves when there is an active generation, or after `ms`. */
  async waitForActive(clock: Clock, ms: number): Promise<void> {
    if (this.#active !== undefined) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        limit[Symbol.dispose]();
        this.#waiting.delete(done);
        resolve();
      };
      const limit = clock.timer(ms, done);
      this.#waiting.add(done);
    });
  }

  get active(): Generation | undefined {
    return this.#active?.generation;
  }

  /** Makes `next` the active one at once; resolves when the previous one is released and closed. */
  async swap(next: Generation | undefined): Promise<void> {
    const previous = this.#active;
    this.#active = next === undefined ? undefined : new Counted(next);
    if (next !== undefined) {
      for (const wake of this.#waiting) wake();
    }
    await previous?.retire();
  }
}

/** A class: see onDispose.ts. Every query takes one. */
class Hold implements HeldGeneration {
  readonly generation: Generation;
  #letGo: (() => void) | undefined;

  constructor(generation: Generation, letGo: () => void) {
    this.generation = generation;
    this.#letGo = letGo;
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  leave(): void {
    const letGo = this.#letGo;
    this.#letGo = undefined;
    letGo?.();
  }
}

class Counted {
  readonly generation: Generation;
  #holds = 0;
  #retired: (() => void) | undefined;

  constructor(generation: Generation) {
    this.generation = generation;
  }

  hold(): HeldGeneration {
    this.#holds += 1;
    return new Hold(this.generation, this.#letGo);
  }

  readonly #letGo = (): void => {
    this.#holds -= 1;
    if (this.#holds === 0) this.#retired?.();
  };

  async retire(): Promise<void> {
    if (this.#holds > 0) {
      await new Promise<void>((resolve) => {
        this.#retired = resolve;
      });
    }
    await this.generation.close();
  }
}
