/**
 * What a session holds while a connection stays with it: slot, generation and the connection. It gives them back
 * exactly once. What runs on it is in kept.ts.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { KeptLane } from "../../port/backend.ts";
import type { Kept, KeptListener } from "../../query/pin.ts";
import type { Routed } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import { err, ok, type Result } from "../../result.ts";
import type { HeldGeneration } from "../../snapshot/generation.ts";
import { lossAskedOf, lossOf } from "../step/lost.ts";

/** What came with the connection. */
export interface HeldForSession {
  readonly generation: HeldGeneration;
  readonly slot: Slot;
  readonly running: Disposable;
  readonly lane: KeptLane;
  readonly routed: Routed;
}

/** The only implementation of `Kept`: a session never holds another. */
export class KeptSession implements Kept {
  readonly cluster: string;
  readonly group: string;
  readonly held: HeldForSession;
  #state: Kept["state"] = "open";
  #endedBy: GatewayError | undefined;
  #ending: Promise<void> | undefined;
  #busy = false;
  #cancel: ((reason: GatewayError) => void) | undefined;
  #listener: KeptListener | undefined;
  #heard: (() => void) | undefined;
  /** Settings that were reported before anybody listened. */
  readonly #statuses = new Map<string, string>();
  /** What the server says before anybody listens waits here, and with it the server. */
  readonly #listening: Promise<void>;
  readonly #watch: Disposable | undefined;

  constructor(held: HeldForSession) {
    this.cluster = held.slot.cluster;
    this.group = held.routed.group;
    this.held = held;
    this.#listening = new Promise((resolve) => {
      this.#heard = resolve;
    });
    this.#watch = held.slot.lease?.whenLost(() => this.#lost(gatewayError("capacity.lost")));
    held.lane.hear({
      message: (bytes) => this.#pass(bytes),
      status: (name, value) => {
        if (this.#listener === undefined) this.#statuses.set(name, value);
        else this.#listener.status(name, value);
      },
      over: (why) => this.#lost(why ?? gatewayError("engine.broken", { detail: goneText })),
    });
  }

  get process(): number | undefined {
    return this.#state === "open" ? this.held.lane.process : undefined;
  }

  get state(): Kept["state"] {
    return this.#state;
  }

  hear(listener: KeptListener): void {
    this.#listener = listener;
    for (const [name, value] of this.#statuses) listener.status(name, value);
    this.#statuses.clear();
    this.#heard?.();
    if (this.#state === "ended") listener.over(this.#endedBy);
  }

  /** Takes the connection for one statement, which `cancel` ends when the slot is lost. Refused when it is gone, or another statement still runs. */
  async take(cancel: (reason: GatewayError) => void): Promise<Result<Disposable, GatewayError>> {
    const { slot } = this.held;
    if (lossOf(slot) !== undefined) await lossAskedOf(slot);
    const lost = lossOf(slot);
    if (lost !== undefined) this.#lost(lost);
    if (this.#state === "ended") {
      return err(this.#endedBy ?? gatewayError("engine.broken", { detail: goneText }));
    }
    if (this.#busy) {
      const message = "another statement of this session has not ended yet";
      return err(gatewayError("query.transaction", { message }));
    }
    this.#busy = true;
    this.#cancel = cancel;
    return ok({
      [Symbol.dispose]: () => {
        this.#busy = false;
        this.#cancel = undefined;
      },
    });
  }

  end(): Promise<void> {
    this.#state = "ended";
    this.#heard?.();
    this.#ending ??= this.#giveBack();
    return this.#ending;
  }

  async #giveBack(): Promise<void> {
    const { running, slot, generation, lane } = this.held;
    this.#watch?.[Symbol.dispose]();
    // The slot is released after the connection: it is free only when the engine runs nothing of ours any more.
    await lane[Symbol.asyncDispose]();
    running[Symbol.dispose]();
    await slot[Symbol.asyncDispose]();
    generation[Symbol.dispose]();
  }

  async #pass(bytes: Uint8Array): Promise<void> {
    if (this.#listener === undefined) await this.#listening;
    await this.#listener?.message(bytes);
  }

  #lost(reason: GatewayError): void {
    if (this.#state === "ended") return;
    this.#endedBy = reason;
    this.#cancel?.(reason);
    void this.end();
    this.#listener?.over(reason);
  }
}

const goneText = "the connection that the session kept is gone, and what was on it";

/** A session's kept connection as the class that it is. */
export function ownKept(kept: Kept): KeptSession {
  if (kept instanceof KeptSession) return kept;
  throw new Error("a kept connection that this pipeline did not make");
}
