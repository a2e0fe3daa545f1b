/**
 * Questions for leases: one for each waiting query, by its name, until it is granted or gone; and one
 * now and then for leases ahead. What is granted goes to whoever asked; what nobody needs any more
 * goes back.
 *
 * When a response was lost, the question is repeated under the same id, even if its query is gone: the
 * response may have held a lease, and nobody else would give that back before it runs out.
 */
import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import { gatewayError } from "../../error.ts";
import type { Host } from "../../port/host.ts";
import type { LeaseFailure, LeaseSource } from "./leases.ts";
import type { Admissions } from "../queue/admissions.ts";
import { AskWindow } from "../queue/askWindow.ts";
import { leadOf } from "./clockLead.ts";
import type { Grant } from "./leaseBook.ts";
import { doubtsMax, heldAcquireMs, retryMs } from "./leaseLimits.ts";
import type { LeaseReach } from "./leaseReach.ts";
import { pause } from "../../tool/pause.ts";
import type { Stopper } from "../../tool/stopper.ts";
import { boundUserOf, type Waiter } from "../queue/waiter.ts";

export interface LeaseAskingParts {
  readonly host: Pick<Host, "clock" | "randomBytes">;
  readonly source: LeaseSource;
  readonly stopper: Stopper;
  readonly admissions: Admissions;
  readonly reach: LeaseReach;
  /** Resolves when it is known what this process still holds. */
  readonly settled: () => Promise<void>;
  readonly reached: () => void;
  readonly failed: (failure: LeaseFailure, sentAtMs: number) => void;
  readonly granted: (grants: readonly Grant[]) => void;
  /** A query of the group has to wait. */
  readonly denied: (group: string) => void;
  /** Gives unused leases of the group back: a query waits that can not use them. */
  readonly surplus: (group: string) => void;
}

type Question = Parameters<LeaseSource["acquire"]>[0] & {
  /** The only user whose queries may use the granted lease. */
  readonly boundUser?: string | undefined;
  /** When it was first sent. */
  readonly first: Pick<Grant, "sentAtMs" | "leadMs">;
};

const retryAfterMs = 1_000;
const idBytes = 12;
const userCharsMax = 1_024;

export class LeaseAsking {
  readonly #parts: LeaseAskingParts;
  readonly #window = new AskWindow();
  /** Waiters that the control plane may know of. */
  readonly #known = new Set<Waiter>();

  constructor(parts: LeaseAskingParts) {
    this.#parts = parts;
  }

  /** Asks for waiters that are not asked for yet, as far as the window allows. */
  askMore(): void {
    const { admissions, reach, stopper } = this.#parts;
    while (!stopper.stopped && !reach.away) {
      const waiter = admissions.nextToAsk(this.#window);
      if (waiter === undefined) return;
      void this.#askFor(waiter).finally(() => {
        const next = this.#window.end(waiter);
        if (next !== undefined) admissions.mayAskFor(next);
        this.askMore();
      });
    }
  }

  /** A query stops waiting. The control plane is told, unless its own response ended the wait. */
  left(waiter: Waiter): void {
    this.#window.left(waiter);
    if (this.#known.delete(waiter)) void this.#leave(waiter.request.query.id);
  }

  /** Asks for leases that nobody waits for. Returns how many were granted. */
  async ahead(group: string, cluster: string, count: number): Promise<number> {
    const requestId = this.#newId();
    const first = this.#now();
    const candidates = [cluster];
    const ahead = { candidates, count, waitMs: 0, sendsLimits: true };
    const question = { requestId, first, group, ...ahead };
    using stopping = this.#parts.stopper.wait();
    const { signal } = stopping;
    for (let tries = 0; tries < doubtsMax && !signal.aborted; tries += 1) {
      const answer = await this.#ask(question, signal);
      if (answer !== undefined) return answer.granted.length;
      await this.#parts.reach.again(signal);
    }
    return 0;
  }

  async #askFor(waiter: Waiter): Promise<void> {
    const { admissions, reach, stopper, host } = this.#parts;
    using stopping = stopper.wait();
    const { signal } = stopping;
    let question = this.#questionOf(waiter, 0);
    let doubts = 0;
    for (;;) {
      await this.#parts.settled();
      if (signal.aborted) return;
      const waits = admissions.waits(waiter);
      if (!waits && (doubts === 0 || doubts > doubtsMax)) return;
      if (question.candidates.length === 0) {
        // No member can run it now; the wait may end without a slot.
        await pause(host.clock, retryMs, signal);
        question = this.#questionOf(waiter, 0);
        continue;
      }
      if (waits) this.#known.add(waiter);
      const answer = waits
        ? await this.#ask(question, signal)
        : await this.#askAfterLeaving(question, signal);
      if (answer === undefined) {
        doubts += 1;
        await reach.again(signal);
        continue;
      }
      doubts = 0;
      const restMs = this.#take(waiter, answer, question.waitMs === 0);
      if (!admissions.waits(waiter)) return;
      if (restMs > 0) await pause(host.clock, restMs, signal);
      question = this.#questionOf(waiter, heldAcquireMs);
    }
  }

  /**
   * Repeats the question for a query that is gone. First the query leaves the queue, so that it is granted nothing
   * more; then the repetition returns what was lost, without waiting for anything new.
   */
  async #askAfterLeaving(
    { queryId, ...question }: Question,
    signal: AbortSignal,
  ): Promise<AcquireResponse | undefined> {
    const { source, host, failed } = this.#parts;
    const sentAtMs = host.clock.nowMs();
    const left = queryId === undefined ? undefined : await source.leave(queryId, signal);
    if (left?.ok === false) {
      failed(left.error, sentAtMs);
      return undefined;
    }
    return await this.#ask({ ...question, waitMs: 0 }, signal);
  }

  /** Takes a response; returns how long to rest before the next question. */
  #take(waiter: Waiter, answer: AcquireResponse, first: boolean): number {
    const { admissions, surplus, denied } = this.#parts;
    if (answer.granted.length > 0) {
      this.#known.delete(waiter);
      admissions.offer(waiter);
      // The query is gone, or its cluster can no longer be used: the control plane grants other waiters by name.
      const { group } = waiter.request;
      if (admissions.queuedIn(group) > 0) surplus(group);
      return retryMs;
    }
    if (answer.queueFull === true) {
      this.#known.delete(waiter);
      admissions.refuse(waiter, gatewayError("capacity.queueFull", { retryAfterMs }));
      return 0;
    }
    if (first) denied(waiter.request.group);
    waiter.userFull = answer.userFull ?? false;
    if (this.#window.heard(waiter, waiter.userFull)) this.askMore();
    if (answer.position !== undefined) admissions.tell(waiter, answer.position, answer.estimateMs);
    return answer.retryAfterMs ?? 0;
  }

  #questionOf(waiter: Waiter, waitMs: number): Question {
    const { group, query } = waiter.request;
    const { clock } = this.#parts.host;
    return {
      requestId: this.#newId(),
      first: this.#now(),
      group,
      candidates: [...this.#parts.admissions.clustersOf(waiter)],
      queryId: query.id,
      user: query.session.identity.user.slice(0, userCharsMax),
      boundUser: boundUserOf(waiter.request),
      ageMs: clock.nowMs() - waiter.sinceMs,
      count: 1,
      waitMs,
      sendsLimits: true,
    };
  }

  /** Asks once; undefined when no response came. A granted lease counts from the first time it was asked for. */
  async #ask(
    { first, boundUser: user, ...question }: Question,
    signal: AbortSignal,
  ): Promise<AcquireResponse | undefined> {
    const { host, source, failed, reached, granted } = this.#parts;
    const sentAtMs = host.clock.nowMs();
    const answer = await source.acquire(question, signal);
    if (!answer.ok) {
      failed(answer.error, sentAtMs);
      return undefined;
    }
    const { group } = question;
    granted(answer.value.granted.map((one) => ({ granted: one, group, user, ...first })));
    reached();
    return answer.value;
  }

  async #leave(queryId: string): Promise<void> {
    const { host, source, stopper } = this.#parts;
    using stopping = stopper.wait();
    const { signal } = stopping;
    // At most once more: at the control plane a waiter that nobody asks for expires within some seconds.
    for (let tries = 0; tries < 2; tries += 1) {
      const left = await source.leave(queryId, signal);
      if (left.ok || signal.aborted) return;
      await pause(host.clock, retryMs / 2, signal);
    }
  }

  #now(): Question["first"] {
    const { clock } = this.#parts.host;
    return { sentAtMs: clock.nowMs(), leadMs: leadOf(clock) };
  }

  #newId(): string {
    return [...this.#parts.host.randomBytes(idBytes)]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
  }
}
