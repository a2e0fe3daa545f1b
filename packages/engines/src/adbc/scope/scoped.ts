/**
 * Chooses the connections a statement runs on. A caller's own login runs on connections that it opened. A
 * session that chose another role, warehouse, database or schema than the cluster's runs on connections that
 * stand there. Every other statement runs on the cluster's own.
 *
 * Connections that share a login and these choices are a scope (scopes.ts). A scope is remembered only once
 * its first connection is logged in and stands where it should, so that a refused login pushes out nobody
 * else's.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { EngineLogins } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { noBackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import { SharedProcesses } from "../../native/reach/home.ts";
import {
  Connections,
  type ConnectionPlan,
  type SessionConnection,
  type Taken,
} from "../client/connections.ts";
import {
  callerConnectError,
  callerOf,
  identityParts,
  loginError,
  type CallerIdentity,
  type CallerMode,
} from "../identity.ts";
import { LentLogin } from "./lentLogin.ts";
import { scopeWatcher } from "./metrics.ts";
import type { Names, SessionContext } from "../profile.ts";
import { scopeKey } from "./scopeKey.ts";
import type { ScopePlan } from "./scopePlan.ts";
import { Scopes, type HeldScope, type ScopeLimits } from "./scopes.ts";

/** Most connections of one caller. */
const callerConnectionsMax = 2;
/**
 * Scopes that are built at once. Each build starts a process and logs in; more of them would keep the
 * machine from other work.
 */
const buildsMax = 8;
const waitingMax = 1_024;

/** What keeps a scope's connections apart from all others. The cluster's own have none. */
interface Scope {
  readonly key: string;
  readonly identity: CallerIdentity | undefined;
  readonly steps: readonly string[];
}

/** Connections of one scope, and the login that opens more of them while there is one. */
interface ScopeConnections {
  readonly connections: Connections;
  readonly login: LentLogin<CallerIdentity>;
  close(): Promise<void>;
}

/** What a caller logs in with. */
export type CallerLogin = Parameters<EngineLogins["logIn"]>[0];

/** A login goes nowhere, and to no group. */
const noPlace: SessionContext = {
  catalog: undefined,
  schema: undefined,
  settings: new Map(),
  dialect: "generic",
};
const noGroup = "";
const never = new AbortController().signal;

export class ScopedConnections {
  readonly #plan: ConnectionPlan;
  readonly #scoped: ScopePlan;
  readonly #host: Host;
  readonly #own: Connections;
  readonly #scopes: Scopes<ScopeConnections>;

  /** `own` are the connections of the cluster's own account; whoever made them closes them. */
  constructor(plan: ConnectionPlan, scoped: ScopePlan, own: Connections, host: Host) {
    this.#plan = { ...plan, processes: processesOf(plan, scoped, host) };
    this.#scoped = scoped;
    this.#host = host;
    this.#own = own;
    const { idleMs, countMax } = scoped;
    const limits: ScopeLimits = { idleMs, countMax, buildsMax, waitingMax };
    this.#scopes = new Scopes(host.clock, limits, scopeWatcher(plan.cluster, host));
  }

  /** Waits for a connection of the statement's caller and session. */
  async take(
    query: Identified,
    pinned: boolean,
    signal: AbortSignal,
  ): Promise<Result<SessionConnection, GatewayError>> {
    const scope = this.#scopeOf(query);
    if (!scope.ok) return scope;
    if (scope.value === undefined) {
      const taken = await this.#own.take({ pinned, steps: [] }, signal);
      return taken.ok ? ok({ taken: taken.value, steps: [] }) : taken;
    }
    const { key, identity, steps } = scope.value;
    const build = (): Promise<Result<ScopeConnections, GatewayError>> =>
      this.#build(identity, steps, (failure, mode) =>
        callerConnectError(failure, { mode, group: query.group }),
      );
    const held = await this.#scopes.take({ key, group: query.group, build }, signal);
    const taken = held.ok ? await takenOf(held.value, { pinned, steps, identity }, signal) : held;
    if (taken.ok) return ok({ taken: taken.value, steps });
    return err(told(taken.error, identity, query.group));
  }

  /**
   * Opens a connection as a caller, who is then known by that. It is always a new one: what an earlier login opened says
   * nothing of today's password. The caller's first statement takes it over.
   */
  async logIn(login: CallerLogin): Promise<Result<string, GatewayError>> {
    const credential = { kind: "password", ...login } as const;
    const caller = { mode: "passthrough", principal: login.user, credential } as const;
    const checked = callerOf({ backendIdentity: caller, group: noGroup }, this.#scoped.mode);
    if (!checked.ok || checked.value === undefined) return err(gatewayError("auth.refused"));
    const identity = checked.value;
    const key = scopeKey([...identityParts(identity), ...this.#others(noPlace)]);
    const build = (): Promise<Result<ScopeConnections, GatewayError>> =>
      this.#build(identity, [], loginError);
    const held = await this.#scopes.takeNew({ key, group: noGroup, build }, never);
    if (!held.ok) return err(loginRefusal(held.error));
    held.value[Symbol.dispose]();
    // Snowflake reads names of logins in any case. Other letters than these would fold two names into one.
    return ok(login.user.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  }

  /** Settled when every scope is closed. */
  close(): Promise<void> {
    return this.#scopes.close();
  }

  /** Statements that give a connection what the session chose; none where the cluster chose the same. */
  contextSteps(session: SessionContext): readonly string[] {
    return this.#plan.profile.choice?.statements(this.#others(session)) ?? [];
  }

  #scopeOf(query: Identified): Result<Scope | undefined, GatewayError> {
    const caller = callerOf(query, this.#scoped.mode);
    if (!caller.ok) return caller;
    const identity = caller.value;
    const steps = this.contextSteps(query.session);
    if (identity === undefined && steps.length === 0) return ok(undefined);
    const parts = identity === undefined ? [undefined] : identityParts(identity);
    return ok({ key: scopeKey([...parts, ...this.#others(query.session)]), identity, steps });
  }

  /** What the session chose and the cluster did not. */
  #others(session: SessionContext): Names {
    return this.#plan.profile.choice?.others(session, this.#scoped.home) ?? [];
  }

  async #build(
    identity: CallerIdentity | undefined,
    steps: readonly string[],
    errorOf: (failure: AdbcFailure, mode: CallerMode) => GatewayError,
  ): Promise<Result<ScopeConnections, GatewayError>> {
    const login = new LentLogin<CallerIdentity>();
    using _lent = identity === undefined ? undefined : login.lend(identity);
    const plan =
      identity === undefined
        ? this.#plan
        : this.#planAs(login, (failure) => errorOf(failure, identity.mode));
    const connections = new Connections(plan, this.#host);
    const made = await connections.tryOut(steps);
    if (made.ok) return ok({ connections, login, close: () => connections.close() });
    await connections.close();
    return made;
  }

  #planAs(
    login: LentLogin<CallerIdentity>,
    connectError: (failure: AdbcFailure) => GatewayError,
  ): ConnectionPlan {
    return {
      ...this.#plan,
      size: callerConnectionsMax,
      options: async () =>
        login.current === undefined
          ? err("its caller has left")
          : await this.#scoped.optionsAs(login.current),
      connectError,
    };
  }
}

/** A statement of the same caller may have begun the connection, and what became of it is told in its words. */
function loginRefusal(error: GatewayError): GatewayError {
  switch (error.code) {
    case "auth.refused":
    case "auth.unavailable":
      return error;
    case "auth.noBackendIdentity":
      return gatewayError("auth.refused", { detail: error.detail ?? error.code });
    default:
      return gatewayError("auth.unavailable", { detail: error.detail ?? error.code });
  }
}

function processesOf(
  { cluster, library, limits }: ConnectionPlan,
  { connectionsPerProcess: max }: ScopePlan,
  { threads, clock, log }: Host,
): SharedProcesses {
  const onCrash = (reason: string): void => {
    log.write("error", "driver.crashed", { cluster, reason });
  };
  return new SharedProcesses({ threads, clock, library }, limits, { max, onCrash });
}

/** Takes one of the scope's connections. It holds the scope until it is given back and cleaned. */
async function takenOf(
  held: HeldScope<ScopeConnections>,
  use: {
    readonly pinned: boolean;
    readonly steps: readonly string[];
    readonly identity: CallerIdentity | undefined;
  },
  signal: AbortSignal,
): Promise<Result<Taken, GatewayError>> {
  const { connections, login } = held.value;
  const lent = use.identity === undefined ? undefined : login.lend(use.identity);
  const taken = await connections.take(use, signal);
  if (!taken.ok) {
    lent?.[Symbol.dispose]();
    held[Symbol.dispose]();
    return taken;
  }
  const one = taken.value;
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= one.release().finally(() => {
      lent?.[Symbol.dispose]();
      held[Symbol.dispose]();
    });
    return released;
  };
  return ok({ ...one, release });
}

/** Names the query's own group in a refusal: the scope may have been built for a query of another. */
function told(
  error: GatewayError,
  identity: CallerIdentity | undefined,
  group: string,
): GatewayError {
  if (identity === undefined || error.code !== "auth.noBackendIdentity") return error;
  const { detail } = error;
  return noBackendIdentity(identity.mode, group, detail === undefined ? {} : { detail });
}
