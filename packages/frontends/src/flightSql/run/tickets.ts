/**
 * Results that wait for their client, and the tickets that lead to them.
 *
 * A ticket is sealed under a key of this listener, bound to its user, short-lived, and good for one time. The
 * owner's instance stands beside it in clear, so that another one sees that the ticket is not its own.
 */
import { timingSafeEqual } from "node:crypto";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { openHandle, sealHandle, type HandleOwner } from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { sealerOf, sealKeyBytes, userMarkOf } from "../../listener/sealer.ts";
import type { Instance } from "../instance.ts";
import { orphanLifeMs, parkedMax, parkedOfUserMax, ticketLifeMs } from "../limits.ts";

/** A result that can be read once. */
export interface Parkable {
  /** The transaction that it runs in. */
  readonly transaction: string | undefined;
  /** Ends it. */
  cancel(reason: GatewayError): void;
}

/** What leads to a result, and for how many milliseconds. */
export interface Ticket {
  readonly ticket: Uint8Array;
  /** By which the result is forgotten. */
  readonly token: number;
  readonly leftMs: number;
}

/** A result that is not read yet, and the ticket that leads to it from here on. */
export interface Renewed<Source> extends Ticket {
  readonly source: Source;
  readonly queryId: string;
}

/** Whose result it is, and of which query. */
export interface Owner {
  readonly user: string;
  readonly queryId: string;
  readonly home: object;
}

interface Parked<Source> {
  readonly source: Source;
  readonly user: string;
  /** The connection that brought it about, or asked for it last. */
  home: object;
  expires: Disposable;
  /** Its ticket was redeemed. */
  taken: boolean;
}

export class Tickets<Source extends Parkable> {
  readonly #host: Pick<Host, "clock">;
  readonly #instance: Instance;
  readonly #owner: HandleOwner;
  readonly #parked = new Map<number, Parked<Source>>();
  readonly #ofUser = new Map<string, number>();
  #count = 0;
  #onIdle: () => void = () => undefined;

  constructor(host: Pick<Host, "clock" | "randomBytes">, instance: Instance) {
    this.#host = host;
    this.#instance = instance;
    this.#owner = {
      instance: instance.mark,
      sealer: sealerOf(host.randomBytes(sealKeyBytes)),
    };
  }

  /** Results that wait or are being read. */
  get count(): number {
    return this.#parked.size;
  }

  /** Refuses when too many results wait already. Asked before a query is started for one. */
  room(user: string): GatewayError | undefined {
    const full = this.#parked.size >= parkedMax || (this.#ofUser.get(user) ?? 0) >= parkedOfUserMax;
    const message = "Too many results wait for their clients.";
    return full ? gatewayError("capacity.queueFull", { message }) : undefined;
  }

  /** Keeps a result until its ticket is redeemed, or ends it when that takes too long. */
  park(source: Source, { user, queryId, home }: Owner): Ticket {
    this.#count += 1;
    const token = this.#count;
    const expires = this.#expiry(token, source, ticketLifeMs);
    this.#parked.set(token, { source, user, home, expires, taken: false });
    this.#ofUser.set(user, (this.#ofUser.get(user) ?? 0) + 1);
    return this.#sealed(token, user, queryId);
  }

  /** The result once more, for a client that asks how far it is, with a ticket for as long as a new one is good. */
  renew(ticket: Uint8Array, user: string, home: object): Result<Renewed<Source>, GatewayError> {
    const found = this.#find(ticket, user);
    if (!found.ok) return found;
    const { parked, token, queryId } = found.value;
    if (parked.taken) return err(gatewayError("query.unknown"));
    parked.home = home;
    parked.expires[Symbol.dispose]();
    parked.expires = this.#expiry(token, parked.source, ticketLifeMs);
    return ok({ source: parked.source, queryId, ...this.#sealed(token, user, queryId) });
  }

  #sealed(token: number, user: string, queryId: string): Ticket {
    const expiresAtMs = this.#host.clock.nowMs() + ticketLifeMs;
    const facts = { queryId, userMark: userMarkOf(user), token, expiresAtMs };
    const sealed = sealHandle(facts, this.#owner);
    return { ticket: this.#instance.handle(sealed), token, leftMs: ticketLifeMs };
  }

  /** A connection is gone. What it brought about must be fetched over another one soon, or is ended. */
  left(home: object): void {
    for (const [token, parked] of this.#parked) {
      if (parked.home !== home || parked.taken) continue;
      parked.expires[Symbol.dispose]();
      parked.expires = this.#expiry(token, parked.source, orphanLifeMs);
    }
  }

  /** The result, once. A ticket that is forged, expired, foreign or used up is refused in the same way. */
  take(ticket: Uint8Array, user: string): Result<{ source: Source; token: number }, GatewayError> {
    const found = this.#find(ticket, user);
    if (!found.ok) return found;
    const { parked, token } = found.value;
    if (parked.taken) return err(gatewayError("query.unknown"));
    parked.taken = true;
    parked.expires[Symbol.dispose]();
    return ok({ source: parked.source, token });
  }

  /** Ends the query of a ticket, also while its rows are being read. */
  cancel(ticket: Uint8Array, user: string): Result<void, GatewayError> {
    const found = this.#find(ticket, user);
    if (!found.ok) return found;
    const { parked, token } = found.value;
    parked.source.cancel(gatewayError("query.cancelled"));
    if (!parked.taken) this.forget(token);
    return ok(undefined);
  }

  /** Ends what waits in a transaction that is about to end; answers how many those were. */
  endIn(transaction: string): number {
    let count = 0;
    for (const [token, { source, taken }] of this.#parked) {
      if (taken || source.transaction !== transaction) continue;
      source.cancel(gatewayError("query.cancelled"));
      this.forget(token);
      count += 1;
    }
    return count;
  }

  /** The result was read, or is over otherwise. */
  forget(token: number): void {
    const parked = this.#parked.get(token);
    if (parked === undefined) return;
    this.#parked.delete(token);
    parked.expires[Symbol.dispose]();
    const left = (this.#ofUser.get(parked.user) ?? 1) - 1;
    if (left === 0) this.#ofUser.delete(parked.user);
    else this.#ofUser.set(parked.user, left);
    if (this.#parked.size === 0) this.#onIdle();
  }

  /** Resolves when no result waits any more, or at the deadline. */
  idle(deadline: AbortSignal): Promise<void> {
    if (this.#parked.size === 0 || deadline.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Ends everything that is left. */
  close(reason: GatewayError): void {
    for (const [token, { source }] of this.#parked) {
      source.cancel(reason);
      this.forget(token);
    }
  }

  #expiry(token: number, source: Source, ms: number): Disposable {
    return this.#host.clock.timer(ms, () => {
      source.cancel(gatewayError("query.abandoned"));
      this.forget(token);
    });
  }

  #find(
    ticket: Uint8Array,
    user: string,
  ): Result<{ parked: Parked<Source>; token: number; queryId: string }, GatewayError> {
    if (this.#instance.foreign(ticket) !== undefined) return err(gatewayError("query.elsewhere"));
    const sealed = this.#instance.rest(ticket) ?? "";
    const facts = openHandle(sealed, this.#owner, this.#host.clock.nowMs());
    const parked = facts === undefined ? undefined : this.#parked.get(facts.token);
    if (facts === undefined || parked === undefined) return err(gatewayError("query.unknown"));
    const own = parked.user === user && timingSafeEqual(facts.userMark, userMarkOf(user));
    if (!own) return err(gatewayError("query.unknown"));
    return ok({ parked, token: facts.token, queryId: facts.queryId });
  }
}
