/**
 * What the gateway asks the engine for itself, as the cluster's own account: small answers, read to their
 * end. What an engine says of itself is remembered here.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Value } from "@gateway/core/type/type.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import { errorOf } from "../errors.ts";
import { textOf } from "../listing.ts";
import type { Profile } from "../profile.ts";
import type { Connections, SessionConnection } from "./connections.ts";
import { listCatalogs, objectLimits, type ListingContext } from "./objects.ts";
import { ownExpected } from "./prepared.ts";
import { rowsOf } from "./rows.ts";

type Rows = readonly (readonly Value[])[];

/** The account as the config has it. */
export interface AccountPlan {
  /** The cluster has a login of its own. */
  readonly hasAccount: boolean;
  /** Catalogs that are known without one. */
  readonly catalogs: readonly string[];
}

export class OwnAccount {
  /** False where the cluster has no login of its own: then nobody can ask as it. */
  readonly exists: boolean;
  readonly #profile: Profile;
  readonly #connections: Connections;
  readonly #clock: Clock;
  #catalogs: readonly string[];
  #catalogsAsked = false;
  #listingProved = false;

  constructor(
    profile: Profile,
    connections: Connections,
    clock: Clock,
    { hasAccount, catalogs }: AccountPlan,
  ) {
    this.exists = hasAccount;
    this.#profile = profile;
    this.#connections = connections;
    this.#clock = clock;
    this.#catalogs = hasAccount ? [] : catalogs;
  }

  /** Names of the catalogs, as far as they were learned. */
  get catalogs(): readonly string[] {
    return this.#catalogs;
  }

  /** The engine showed the account a statement of its own, so its list can be believed. */
  get listingProved(): boolean {
    return this.#listingProved;
  }

  /** A connection of the account. `cluster.connectFailed` where there is no account. */
  async take(signal: AbortSignal): Promise<Result<SessionConnection, GatewayError>> {
    if (!this.exists) return err(gatewayError("cluster.connectFailed"));
    const taken = await this.#connections.take({ pinned: false, steps: [] }, signal);
    return taken.ok ? ok({ taken: taken.value, steps: [] }) : taken;
  }

  /** Rows of a small answer to a statement of ours. */
  async ask(sql: string, signal: AbortSignal): Promise<Result<Rows, GatewayError>> {
    const connection = await this.take(signal);
    return connection.ok ? await this.askedOn(connection.value, sql, signal) : connection;
  }

  /** Learns what is asked once: names of catalogs, and whether the engine's list of statements can be believed. */
  async learn(signal: AbortSignal): Promise<void> {
    const { catalogsSql, provingSql } = this.#profile;
    if (this.#catalogs.length === 0 && catalogsSql !== undefined) {
      const names = await this.ask(catalogsSql, signal);
      if (names.ok) this.#catalogs = names.value.map(([name]) => textOf(name));
    }
    if (!this.#catalogsAsked && catalogsSql === undefined) {
      const connection = await this.take(signal);
      const names = connection.ok
        ? await this.listedOn(connection.value, listCatalogs, signal)
        : connection;
      if (names.ok) this.#catalogs = names.value;
      // Drivers without catalogs are asked once.
      this.#catalogsAsked = names.ok;
    }
    if (this.#listingProved || provingSql === undefined) return;
    const seen = await this.ask(provingSql, signal);
    this.#listingProved = seen.ok && seen.value.length === 1;
  }

  /** As `ask`, on a connection that may be a caller's, and is given back. */
  async askedOn(
    { taken, steps }: SessionConnection,
    sql: string,
    signal: AbortSignal,
  ): Promise<Result<Rows, GatewayError>> {
    const request = { sql, expected: ownExpected(this.#profile), before: taken.goTo(steps) };
    const rows = await rowsOf({ taken }, request, signal);
    if (!rows.ok) taken.spoil();
    void taken.release();
    return rows.ok ? rows : err(this.#error(rows.error));
  }

  /** What the driver itself lists, on a connection that may be a caller's, and is given back. */
  async listedOn<Listed>(
    { taken, steps }: SessionConnection,
    list: (context: ListingContext, signal: AbortSignal) => Promise<Result<Listed, AdbcFailure>>,
    signal: AbortSignal,
  ): Promise<Result<Listed, GatewayError>> {
    const before = taken.goTo(steps);
    const context = { taken, before, clock: this.#clock, limits: objectLimits };
    const listed = await list(context, signal);
    if (!listed.ok) taken.spoil();
    void taken.release();
    return listed.ok ? listed : err(this.#error(listed.error));
  }

  #error(failure: AdbcFailure): GatewayError {
    return errorOf(this.#profile, failure, { sql: "", prefix: 0, original: "", writes: false });
  }
}
