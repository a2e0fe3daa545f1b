/**
 * Ends statements whose clients seem gone, while the gateway drains.
 *
 * Between two polls a client has no connection, so nothing tells that it left without a DELETE. A
 * parked query waits five minutes for its next poll; a drain that waited as long would reach its deadline.
 */
import { gatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Members, type Membership } from "@gateway/core/tool/members.ts";
import type { Shelf, Shelved } from "./shelf.ts";

/** A living client asks for the next answer within this time. */
export const silentMs = 15_000;
const lookEveryMs = 1_000;

interface Ended extends Shelved {
  cancel(reason: ReturnType<typeof gatewayError>): void;
}

export class Silent<S extends Ended> {
  readonly #shelf: Shelf<S>;
  readonly #host: Host;
  readonly #asking = new Members<S>();
  #looks = false;

  constructor(shelf: Shelf<S>, host: Host) {
    this.#shelf = shelf;
    this.#host = host;
  }

  /** A request of its client is under way, until `answered`. */
  asked(statement: S): Membership<S> {
    return this.#asking.add(statement);
  }

  answered(asking: Membership<S>): void {
    const statement = asking.value;
    if (statement === undefined) return;
    this.#asking.remove(asking);
    // Sending may have taken long, so the client's time begins now.
    if (this.#looks && this.#shelf.get(statement.id) === statement) this.#put(statement);
  }

  /** Looks for them until none is unfinished, or the deadline. */
  endUntil(deadline: AbortSignal): void {
    this.#looks = true;
    const open = this.#shelf.unfinished();
    if (deadline.aborted || open.length === 0) return;
    const asking = new Set(this.#asking.values());
    for (const statement of this.#shelf.askedBefore(this.#host.clock.nowMs() - silentMs)) {
      if (asking.has(statement)) continue;
      statement.cancel(gatewayError("query.abandoned"));
      this.#put(statement);
    }
    this.#host.clock.timer(lookEveryMs, () => this.endUntil(deadline));
  }

  #put(statement: S): void {
    this.#shelf.put(statement, this.#host.clock.nowMs());
  }
}
