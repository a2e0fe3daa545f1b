/**
 * Who waits for a slot and who gets the next one, the same for every capacity. Its slot source (local.ts,
 * leased.ts) says where slots come from and how many there are.
 *
 * Everything happens in the turn of the event loop that causes it, so nothing comes between the check and the
 * grant. Every change grants to all waiters that fit, so a newcomer that finds room passes nobody who could
 * have used it.
 *
 * Metrics are not written here; `counts()` is there for whoever writes them.
 */
import { abortError, gatewayError, type GatewayError } from "../../error.ts";
import type { AdmitRequest, Candidate, Capacity, CapacityCount } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import type { Host } from "../../port/host.ts";
import type { Queued } from "../../query/event.ts";
import { err, ok, type Result } from "../../result.ts";
import { FairQueue, type Ticket } from "./fairQueue.ts";
import type { AskWindow } from "./askWindow.ts";
import { GrantedSlot, type Granter, type SlotSource } from "./slotSource.ts";
import { Positions } from "./positions.ts";
import { UserSlots } from "./userSlots.ts";
import { subqueueOf, namesOf, resume, sameNames, userOf, type Waiter } from "./waiter.ts";

/** A query waits for full clusters, and for unavailable ones this long. Then it fails. */
const awayMsMax = 10_000;
/** Told to a client that found the queue full or waited in vain. */
const retryAfterMs = 1_000;

/** A capacity over a source of slots. */
export class Admissions implements Capacity, Granter {
  readonly #host: Host;
  readonly #source: SlotSource;
  readonly #queue = new FairQueue<Waiter>();
  readonly #users = new UserSlots();
  /** In order of admission. */
  readonly #waiters = new Set<Waiter>();
  readonly #positions: Positions;
  readonly #load = (cluster: string) => this.#source.load(cluster);
  #sequence = 0;

  constructor(host: Host, source: SlotSource) {
    this.#host = host;
    this.#source = source;
    this.#positions = new Positions(host.clock, this.#queue, source);
  }

  admitNow(request: AdmitRequest): Slot | undefined {
    return this.#free(request, this.#heard(request));
  }

  async *admit(
    request: AdmitRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Queued, Result<Slot, GatewayError>, void> {
    if (signal.aborted) return err(abortError(signal));
    const entered = this.#enter(request);
    if (entered.kind === "decided") return entered.outcome;

    const { waiter } = entered;
    const aborted = () => this.#decide(waiter, err(abortError(signal)));
    signal.addEventListener("abort", aborted, { once: true });
    try {
      for (;;) {
        const { outcome } = waiter;
        if (outcome !== undefined) {
          waiter.outcome = undefined;
          return outcome;
        }
        if (waiter.position === waiter.positionTold) {
          await new Promise<void>((resolve) => {
            waiter.resume = resolve;
          });
          continue;
        }
        waiter.positionTold = waiter.position;
        const { position, estimateMs } = waiter;
        yield estimateMs === undefined
          ? { kind: "queued", position }
          : { kind: "queued", position, estimateMs };
      }
    } finally {
      signal.removeEventListener("abort", aborted);
      this.#leave(waiter);
    }
  }

  wake(): void {
    this.#source.forgetStatements();
    for (const waiter of this.#waiters) this.#ask(waiter);
    this.grantAll();
  }

  counts(): readonly CapacityCount[] {
    const running = this.#source.counts();
    const groups = new Set([...running.map((count) => count.group), ...this.#queue.groups()]);
    return [...groups].flatMap((group): CapacityCount[] => {
      const members = running.filter((count) => count.group === group);
      const total = members.reduce((sum, count) => sum + count.running, 0);
      return [
        { group, cluster: undefined, running: total, queued: this.#queue.sizeOf(group) },
        ...members.map((count) => ({ ...count, queued: 0 })),
      ];
    });
  }

  /** Queries of the group that wait. */
  queuedIn(group: string): number {
    return this.#queue.sizeOf(group);
  }

  /** Whether the waiter still waits. */
  waits(waiter: Waiter): boolean {
    return waiter.ticket !== undefined;
  }

  /** Puts the waiter to ask the control plane for next into `window`, if that has room, and returns it. */
  nextToAsk(window: Pick<AskWindow, "hasRoom" | "take">): Waiter | undefined {
    const nowMs = this.#host.clock.nowMs();
    for (;;) {
      const ticket = this.#queue.next(nowMs, ({ item, group }) => {
        return item.asking === "new" && window.hasRoom(group);
      });
      if (ticket === undefined) return undefined;
      const taken = window.take(ticket.item);
      this.#asking(ticket.item, taken ? "asked" : "back");
      if (taken) return ticket.item;
    }
  }

  /** A waiter that stood back may now be asked for. */
  mayAskFor(waiter: Waiter): void {
    this.#asking(waiter, "new");
  }

  #asking(waiter: Waiter, asking: Waiter["asking"]): void {
    waiter.asking = asking;
    if (waiter.ticket !== undefined) this.#queue.move(waiter.ticket, subqueueOf(waiter));
  }

  /** Members that may run the waiter's query now, best first. */
  clustersOf(waiter: Waiter): readonly string[] {
    this.#ask(waiter);
    return waiter.clusters;
  }

  /** Grants to this waiter before all others, if it fits anywhere; then to all who fit. */
  offer(waiter: Waiter): void {
    const { ticket, request } = waiter;
    const free =
      ticket === undefined || !this.#userHasRoom(request)
        ? undefined
        : this.#firstWithRoom(request, this.#ask(waiter));
    if (ticket !== undefined && free !== undefined) this.#grant(waiter, ticket, free);
    this.grantAll();
  }

  /** Ends the wait with a refusal; does nothing when the wait is over. */
  refuse(waiter: Waiter, error: GatewayError): void {
    if (this.waits(waiter)) this.#decide(waiter, err(error));
  }

  /** What the client is shown of its wait. */
  tell(waiter: Waiter, position: number, estimateMs: number | undefined): void {
    if (!this.waits(waiter)) return;
    waiter.position = position;
    waiter.estimateMs = estimateMs;
    if (position !== waiter.positionTold) resume(waiter);
  }

  /** Tells every waiter its position in this process's own order. */
  tellOwnOrder(): void {
    for (const waiter of this.#waiters) this.#positions.moved(waiter.request.group);
  }

  #enter(
    request: AdmitRequest,
  ):
    | { readonly kind: "decided"; readonly outcome: Result<GrantedSlot, GatewayError> }
    | { readonly kind: "waits"; readonly waiter: Waiter } {
    const candidates = this.#heard(request);
    const { group } = request;
    const free = this.#free(request, candidates);
    if (free !== undefined) return { kind: "decided", outcome: ok(free) };
    if (this.#queue.sizeOf(group) >= (request.maxQueued ?? Number.POSITIVE_INFINITY)) {
      return {
        kind: "decided",
        outcome: err(gatewayError("capacity.queueFull", { retryAfterMs })),
      };
    }
    return { kind: "waits", waiter: this.#wait(request, this.#sequence, candidates) };
  }

  /** Where a newcomer may run. The caps it states count from now on. */
  #heard(request: AdmitRequest): readonly Candidate[] {
    this.#sequence += 1;
    const candidates = request.candidates(this.#load);
    const rose = this.#source.hear(request.group, candidates, this.#sequence);
    const changed = this.#users.hear(request.group, request.maxRunningPerUser);
    if (changed) this.#giveRooms(request.group);
    if (rose || changed) this.grantAll();
    if (changed) this.#source.opened?.();
    return candidates;
  }

  #free(request: AdmitRequest, candidates: readonly Candidate[]): GrantedSlot | undefined {
    if (!this.#userHasRoom(request)) return undefined;
    const cluster = this.#firstWithRoom(request, candidates);
    return cluster === undefined ? undefined : this.#take(request, cluster);
  }

  #userHasRoom(request: AdmitRequest): boolean {
    return this.#users.roomFor(request.group, userOf(request)) > 0;
  }

  /** Tells the queue how many more of the user may run. */
  #giveRoom(group: string, user: string): void {
    if (this.#users.caps(group))
      this.#queue.giveRoom(group, user, this.#users.roomFor(group, user));
  }

  #giveRooms(group: string): void {
    const own = [...this.#waiters].filter(({ request }) => request.group === group);
    for (const user of new Set(own.map(({ request }) => userOf(request)))) {
      this.#queue.giveRoom(group, user, this.#users.roomFor(group, user));
    }
  }

  #wait(request: AdmitRequest, sequence: number, candidates: readonly Candidate[]): Waiter {
    const { clock } = this.#host;
    const clusters = namesOf(candidates);
    const waiter: Waiter = {
      request,
      sequence,
      sinceMs: clock.nowMs(),
      asking: "new",
      userFull: false,
      clusters,
      ticket: undefined,
      timeout: clock.timer(request.waitTimeoutMs, () => this.#timeOut(waiter)),
      away: undefined,
      outcome: undefined,
      position: 0,
      estimateMs: undefined,
      positionTold: 0,
      resume: undefined,
    };
    waiter.ticket = this.#queue.add(waiter, {
      subqueue: subqueueOf(waiter),
      group: request.group,
      weight: request.weight,
      user: userOf(request),
      urgentAtMs: clock.nowMs() + request.waitTimeoutMs / 2,
      room: this.#users.roomFor(request.group, userOf(request)),
    });
    this.#waiters.add(waiter);
    this.#watch(waiter);
    if (this.#source.ordersHere()) {
      waiter.position = this.#queue.positionOfYoungest(waiter.ticket);
      this.#positions.moved(request.group);
    }
    this.#source.entered?.(waiter);
    return waiter;
  }

  /** Grants until nobody who waits fits anywhere. */
  grantAll(): void {
    if (this.#waiters.size === 0) return;
    const nowMs = this.#host.clock.nowMs();
    const fits = ({ item }: Ticket<Waiter>) =>
      item.clusters.some((cluster) => this.#source.hasRoom(item.request, cluster));
    for (;;) {
      const ticket = this.#queue.next(nowMs, fits);
      if (ticket === undefined) return;
      const waiter = ticket.item;
      // Health and order may have changed since the waiter was last asked. When nothing fits any more, asking has
      // moved it to a subqueue that does not fit either, or lowered the caps: the loop goes on with the next.
      const free = this.#firstWithRoom(waiter.request, this.#ask(waiter));
      if (free === undefined) continue;
      this.#grant(waiter, ticket, free);
    }
  }

  #grant(waiter: Waiter, ticket: Ticket<Waiter>, cluster: string): void {
    this.#queue.grant(ticket);
    this.#decide(waiter, ok(this.#take(waiter.request, cluster)));
  }

  /** Asks a waiter again where it may run. */
  #ask(waiter: Waiter): readonly Candidate[] {
    const { request, ticket, sequence } = waiter;
    const candidates = this.#candidatesOf(request);
    this.#source.hear(request.group, candidates, sequence);
    const clusters = namesOf(candidates);
    // Usually nothing changed, and one turn may ask ten thousand waiters.
    if (ticket !== undefined && !sameNames(clusters, waiter.clusters)) {
      waiter.clusters = clusters;
      this.#queue.move(ticket, subqueueOf(waiter));
      this.#watch(waiter);
    }
    return candidates;
  }

  /** A bug in one query's candidates must not take the slot of another, whose release asked. */
  #candidatesOf(request: AdmitRequest): readonly Candidate[] {
    try {
      return request.candidates(this.#load);
    } catch (bug) {
      this.#host.log.bug(bug, { group: request.group, proxyQueryId: request.query.id });
      return [];
    }
  }

  #firstWithRoom(request: AdmitRequest, candidates: readonly Candidate[]): string | undefined {
    return candidates.find(({ cluster }) => this.#source.hasRoom(request, cluster))?.cluster;
  }

  #take(request: AdmitRequest, cluster: string): GrantedSlot {
    const { group } = request;
    const user = userOf(request);
    const taken = this.#source.take(request, cluster);
    this.#users.take(group, user);
    this.#giveRoom(group, user);
    return new GrantedSlot(cluster, taken, { group, user }, this);
  }

  /** A slot was given back. */
  given(group: string, user: string): void {
    this.#users.give(group, user);
    this.#giveRoom(group, user);
    this.grantAll();
    if (this.#users.caps(group)) this.#source.opened?.();
  }

  /** Starts or stops the time limit of a waiter that has no cluster at all. */
  #watch(waiter: Waiter): void {
    waiter.away?.[Symbol.dispose]();
    waiter.away = undefined;
    if (waiter.clusters.length > 0) return;
    waiter.away = this.#host.clock.timer(awayMsMax, () => {
      waiter.away = undefined;
      // A cluster may be back without anybody having said so.
      if (this.#ask(waiter).length === 0) this.#timeOut(waiter);
      else this.grantAll();
    });
  }

  #timeOut(waiter: Waiter): void {
    const unavailable = this.#candidatesOf(waiter.request).length === 0;
    const code = unavailable ? "cluster.unavailable" : "capacity.timeout";
    const full = !unavailable && (waiter.userFull || !this.#userHasRoom(waiter.request));
    this.#decide(waiter, err(gatewayError(code, full ? ownSlotsTaken : { retryAfterMs })));
  }

  /** Ends the waiting. A refusal that comes after the grant but before its delivery takes the slot back. */
  #decide(waiter: Waiter, outcome: Result<GrantedSlot, GatewayError>): void {
    this.#leave(waiter);
    waiter.outcome = outcome;
    resume(waiter);
  }

  /** Leaves nothing behind: no ticket in the queue, no timer, no granted slot that nobody took. */
  #leave(waiter: Waiter): void {
    waiter.timeout?.[Symbol.dispose]();
    waiter.timeout = undefined;
    waiter.away?.[Symbol.dispose]();
    waiter.away = undefined;
    const waited = this.#waiters.delete(waiter);
    if (waited) this.#positions.moved(waiter.request.group);
    if (waiter.ticket !== undefined) this.#queue.remove(waiter.ticket);
    waiter.ticket = undefined;
    if (this.#waiters.size === 0) this.#positions.stop();
    if (waited) this.#source.left?.(waiter);
    const { outcome } = waiter;
    waiter.outcome = undefined;
    if (outcome?.ok === true) outcome.value.release();
  }
}

const ownSlotsTaken = {
  retryAfterMs,
  message: "queries of this user take all slots that the group gives to one user",
};
