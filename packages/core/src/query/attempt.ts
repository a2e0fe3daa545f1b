/**
 * One attempt to run a query on one cluster: everything it holds, given back in one place.
 *
 * A generator goes on only when it is asked for the next event, so a client that stopped reading would
 * keep a slot beyond every time limit. Here an abort itself ends the engine's stream and, when the
 * engine is done, gives the slot back. What the client is told waits until it reads.
 */
import type { GatewayError } from "../error.ts";
import type { Slot } from "../port/capacity.ts";
import type { Log } from "../port/log.ts";
import { ok, type Result } from "../result.ts";
import type { Generation } from "../snapshot/generation.ts";
import type { LastEvent } from "./event.ts";
import type { OpenQuery, Tried } from "./lifecycle.ts";
import { endedWhenLost } from "./lost.ts";
import { PatientReader } from "./patience.ts";
import type { Policed } from "./query.ts";
import { admittedOn } from "./stages.ts";

export class Attempt implements AsyncDisposable {
  readonly #slot: Slot;
  readonly #open: OpenQuery;
  readonly #generation: Generation;
  readonly #log: Log;
  #running: Disposable | undefined;
  #lost: Disposable | undefined;
  /** Set once the engine is asked. */
  #events: PatientReader | undefined;
  #tried: Tried | undefined;
  /** Resolves when the engine is done and the slot is given back, after an abort. */
  #freed: Promise<void> = Promise.resolve();

  /** Takes over the slot. */
  constructor(slot: Slot, open: OpenQuery, generation: Generation, log: Log) {
    this.#slot = slot;
    this.#open = open;
    this.#generation = generation;
    this.#log = log;
  }

  /** Counts the query as running, translates, identifies and hands it to the cluster's adapter, which asks the engine with the first look at the events. */
  async begin(query: Policed): Promise<Result<PatientReader, GatewayError>> {
    const { live } = this.#open;
    const { cluster } = this.#slot;
    this.#running = this.#open.running(cluster, this.#generation);
    this.#lost = endedWhenLost(this.#slot, live);
    const written = this.#generation.translate(admittedOn(query, this.#slot), live.signal);
    const translated = written instanceof Promise ? await written : written;
    if (!translated.ok) return translated;
    const asked = this.#generation.identify(translated.value, live.signal);
    const identified = asked instanceof Promise ? await asked : asked;
    if (!identified.ok) return identified;
    live.identified(identified.value);

    this.#tried = this.#open.tried(cluster, this.#generation);
    const stream = this.#generation.backend(cluster).execute(identified.value, live.signal);
    const events = new PatientReader(stream, this.#open.clock);
    this.#events = events;
    live.signal.addEventListener("abort", this.#free, { once: true });
    return ok(events);
  }

  /** Tells breaker and health how the engine answered. Without an answer nothing is said about the cluster. */
  ended(last: LastEvent): void {
    this.#tried?.ended(last);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    this.#open.live.signal.removeEventListener("abort", this.#free);
    this.#tried?.[Symbol.dispose]();
    this.#lost?.[Symbol.dispose]();
    // An engine that ignores its cancel still runs it: the slot is free when it is done.
    if (this.#events?.ignored === true) {
      this.#open.remains(this.#freed);
      return Promise.resolve();
    }
    return this.#giveBack();
  }

  /** Ending the stream and giving the slot back a second time does nothing. */
  readonly #free = (): void => {
    this.#events?.aborted();
    this.#freed = this.#endEvents().then(() => this.#giveBack());
  };

  #giveBack(): PromiseLike<void> {
    this.#running?.[Symbol.dispose]();
    this.#running = undefined;
    return this.#slot[Symbol.asyncDispose]();
  }

  async #endEvents(): Promise<void> {
    try {
      await this.#events?.end();
    } catch (bug) {
      this.#log.bug(bug, { queryId: this.#open.query.id });
    }
  }
}
