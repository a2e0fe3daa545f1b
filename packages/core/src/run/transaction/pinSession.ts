/**
 * What a session holds from BEGIN to the end of its transaction: slot, generation and the connection.
 * It gives them back exactly once. What runs on it is in pinned.ts.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { PinnedLane } from "../../port/backend.ts";
import type { Slot } from "../../query/slot.ts";
import type { Clock } from "../../port/clock.ts";
import { err, ok, type Result } from "../../result.ts";
import type { PolicyLog } from "../../guard/told.ts";
import type { HeldGeneration } from "../../snapshot/generation.ts";
import { lossAskedOf, lossOf } from "../step/lost.ts";
import type { TransactionModes } from "../../sql/session/statement.ts";
import type { Statement } from "../../sql/statement.ts";
import type { Pin } from "../../query/pin.ts";
import { Places, type Occupant, type Place } from "./places.ts";
import { Savepoints } from "./savepoints.ts";
import type { Identified, Policed, Query, Routed } from "../../query/query.ts";
import { routedTo } from "../../query/stages.ts";
import { identifiedOn } from "../step/identified.ts";

/** What BEGIN took. */
export interface Held {
  readonly generation: HeldGeneration;
  readonly slot: Slot;
  readonly lane: PinnedLane;
  readonly running: Disposable;
  readonly routed: Routed;
  readonly idleMs: number;
  /** Longest life, from now on; undefined means none. */
  readonly lifeMs: number | undefined;
  /** The client's BEGIN. */
  readonly begin: Query;
}

/** The lane as one statement has it. */
export interface Taken extends Disposable {
  /** Where the statement stands among those of its session on the lane. */
  readonly place: Place;
  /** Others of the session may run between two pieces of its answer. */
  lend(): void;
  /** Has it again for the next piece. Answers why there is none: the transaction is over, or another one runs. */
  back(): GatewayError | undefined;
}

/** The only implementation of `Pin`: a session never holds another. */
export class SessionPin implements Pin {
  readonly cluster: string;
  readonly group: string;
  readonly held: Held;
  readonly points = new Savepoints();
  /** The connection; a new one when another transaction replaced the first. */
  #lane: PinnedLane;
  readonly #clock: Clock;
  #state: Pin["state"] = "open";
  #idle: Disposable | undefined;
  #ending: Promise<void> | undefined;
  /** The statement that runs now, and those that were sent behind it. */
  readonly #places = new Places();
  /** What the next statement is told. */
  #endedBy: GatewayError | undefined;
  readonly #watch: Disposable | undefined;
  readonly #life: Disposable | undefined;

  constructor(held: Held, clock: Clock) {
    this.cluster = held.slot.cluster;
    this.group = held.routed.group;
    this.held = held;
    this.#lane = held.lane;
    this.#clock = clock;
    this.#rest();
    this.#watch = held.slot.lease?.whenLost(() => {
      this.#endedBy = gatewayError("capacity.lost");
      if (!this.#places.taken) void this.end();
    });
    const { lifeMs } = held;
    this.#life = lifeMs === undefined ? undefined : clock.timer(lifeMs, () => this.#outlived());
  }

  /** What BEGIN asked for. */
  get modes(): TransactionModes {
    return this.held.begin.statement.modes;
  }

  get lane(): PinnedLane {
    return this.#lane;
  }

  get process(): number | undefined {
    return this.#state === "ended" ? undefined : this.#lane.process;
  }

  get state(): Pin["state"] {
    return this.#state;
  }

  get endedBy(): GatewayError | undefined {
    return this.#endedBy;
  }

  streams(statement: Statement): boolean {
    return this.#state === "open" && this.#lane.streams?.(statement) === true;
  }

  /**
   * Takes the lane for one statement, which `cancel` ends when the transaction has to end. Refused when the transaction
   * is over, aborted or lost, or another statement still runs. One with `first` comes behind those instead, and is told
   * when they are over.
   */
  take(
    cancel: Occupant["cancel"],
    first?: () => void,
  ): Result<Taken, GatewayError> | Promise<Result<Taken, GatewayError>> {
    const { slot } = this.held;
    // Whoever comes behind others keeps its place also while somebody is asked.
    const behind = first === undefined ? undefined : this.#join({ cancel, first });
    return lossOf(slot) === undefined
      ? this.#taken(cancel, behind)
      : lossAskedOf(slot).then(() => this.#taken(cancel, behind));
  }

  #taken(cancel: Occupant["cancel"], behind: Place | undefined): Result<Taken, GatewayError> {
    const refused = this.#refusal(behind) ?? this.#lost();
    if (refused === undefined) return ok(this.#takenBy(behind ?? this.#join({ cancel }), cancel));
    if (behind !== undefined) this.#leave(behind);
    return err(refused);
  }

  #takenBy(joined: Place, cancel: Occupant["cancel"]): Taken {
    let place = joined;
    let lent = false;
    return {
      get place() {
        return place;
      },
      lend: () => {
        lent = true;
        this.#leave(place);
      },
      back: () => {
        const late = this.#refusal();
        if (late !== undefined) return late;
        lent = false;
        place = this.#join({ cancel });
        return undefined;
      },
      [Symbol.dispose]: () => {
        if (!lent) this.#leave(place);
      },
    };
  }

  /** Between two statements the engine runs nothing of ours, so somebody else may have the slot by now. */
  #lost(): GatewayError | undefined {
    const lost = lossOf(this.held.slot);
    if (lost === undefined) return undefined;
    this.#endedBy = lost;
    void this.end();
    return lost;
  }

  /** Why no statement may have the lane, or not the place behind others that it joined. */
  #refusal(behind?: Place): GatewayError | undefined {
    if (this.#state === "ended") {
      return this.#endedBy ?? gatewayError("query.transaction", { message: overText });
    }
    const busy = behind === undefined && this.#places.taken;
    return busy ? gatewayError("query.transaction", { message: busyText }) : undefined;
  }

  #join(occupant: Occupant): Place {
    this.#idle?.[Symbol.dispose]();
    return this.#places.join(occupant);
  }

  #leave(place: Place): void {
    this.#places.leave(place);
    if (this.#places.taken) return;
    if (this.#endedBy !== undefined) void this.end();
    else if (this.#state !== "ended") this.#rest();
  }

  abort(): void {
    if (this.#state === "open") this.#state = "aborted";
  }

  /** The failure was rolled back. */
  reopen(): void {
    if (this.#state === "aborted") this.#state = "open";
  }

  /** Everything that is held is somebody else's from now on. False when it was given back meanwhile. */
  handOver(): boolean {
    if (this.#ending !== undefined) return false;
    this.#state = "ended";
    this.#idle?.[Symbol.dispose]();
    this.#life?.[Symbol.dispose]();
    this.#watch?.[Symbol.dispose]();
    this.#ending = Promise.resolve();
    return true;
  }

  /** Begins another transaction after the one that is over. An error ends the pin. */
  async renew(
    begin: () => Promise<Result<PinnedLane, GatewayError>>,
  ): Promise<Result<void, GatewayError>> {
    // A lane that can goes on with its own connection.
    if (this.#lane.again === undefined) await this.#lane[Symbol.asyncDispose]();
    const lane = await begin();
    if (!lane.ok) {
      await this.end();
      return lane;
    }
    // The client may have left meanwhile, and nobody else would close this connection.
    if (this.#ending !== undefined) {
      await lane.value[Symbol.asyncDispose]();
      return err(gatewayError("query.cancelled"));
    }
    this.#lane = lane.value;
    this.reopen();
    return ok(undefined);
  }

  end(): Promise<void> {
    this.#state = "ended";
    this.#idle?.[Symbol.dispose]();
    this.#life?.[Symbol.dispose]();
    this.#ending ??= this.#giveBack();
    return this.#ending;
  }

  async #giveBack(): Promise<void> {
    const { running, slot, generation } = this.held;
    this.#watch?.[Symbol.dispose]();
    // The slot is released after the lane: it is free only when the engine runs nothing of ours any more.
    await this.#lane[Symbol.asyncDispose]();
    running[Symbol.dispose]();
    await slot[Symbol.asyncDispose]();
    generation[Symbol.dispose]();
  }

  #rest(): void {
    this.#idle = this.#clock.timer(this.held.idleMs, () => {
      this.#endedBy = gatewayError("query.idleInTransaction");
      void this.end();
    });
  }

  /** A client that stopped reading would keep its statement for ever, so the lane is closed under it. */
  #outlived(): void {
    const reason = gatewayError("query.transactionTimeout");
    this.#endedBy = reason;
    this.#places.cancel(reason);
    void this.end();
  }
}

const overText = "the transaction is over";
const busyText = "another statement of this transaction has not ended yet";

/** A session's pin as the class that it is. */
export function ownPin(pin: Pin): SessionPin {
  if (pin instanceof SessionPin) return pin;
  throw new Error("a pin that this pipeline did not make");
}

/** For what leaves no record: a description, and a transaction that follows another. */
export const unlogged: PolicyLog = { acted: () => {} };

/** Police, translate and identify for a statement whose route and slot are already there. A promise only where something is waited for. */
export function identify(
  query: Query,
  { held }: SessionPin,
  log: PolicyLog,
  signal: AbortSignal,
): Result<Identified, GatewayError> | Promise<Result<Identified, GatewayError>> {
  const { routed, slot } = held;
  const { generation } = held.generation;
  const tagged = generation.tagged(routedTo(query, routed.group, routed.trace));
  const police = generation.police(tagged, log, signal);
  const identified = (policed: Result<Policed, GatewayError>) =>
    policed.ok ? identifiedOn(slot, policed.value, generation, signal) : policed;
  return police instanceof Promise ? police.then(identified) : identified(police);
}
