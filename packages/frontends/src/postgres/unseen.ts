/**
 * What a client was told of a relayed statement that its server has not seen yet: that it was parsed, and bound.
 *
 * The statement goes to the server with its first execution. Where that does not take the text, a client must read
 * what the server would have said: no ParseComplete, which has drivers keep the name for good, but the error alone.
 */
import type { Outbox } from "./outbox.ts";
import type { Prepared } from "./read/statement.ts";
import type { Stop } from "./run/execution/step.ts";

/** Where its ParseComplete, and a BindComplete right behind it, stand in the outbox. */
interface Told {
  readonly name: string;
  readonly prepared: Prepared;
  readonly from: number;
  readonly to: number;
}

export class Unseen {
  readonly #out: Outbox;
  /** Of the statement that was prepared last. */
  #told: Told | undefined;

  constructor(out: Outbox) {
    this.#out = out;
  }

  /** Tells that a statement was parsed. */
  parsed(name: string, prepared: Prepared): void {
    const from = this.#out.place;
    this.#out.put({ kind: "parseComplete" });
    const seen = prepared.relayed !== true || prepared.description !== undefined;
    this.#told = seen ? undefined : { name, prepared, from, to: this.#out.place };
  }

  /** Tells that it was bound. */
  bound(prepared: Prepared): void {
    const told = this.#told;
    const follows = told?.prepared === prepared && told.to === this.#out.place;
    this.#out.put({ kind: "bindComplete" });
    this.#told = follows ? { ...told, to: this.#out.place } : undefined;
  }

  /** Its server answered an execution. The name that it does not know, where all was taken back that was told of it. */
  answered(prepared: Prepared, stop: Stop): string | undefined {
    const told = this.#told;
    this.#told = undefined;
    const vendor = stop.kind === "failed" ? stop.error.vendor : undefined;
    if (told?.prepared !== prepared || vendor?.of !== "postgres") return undefined;
    if (vendor.unparsed !== true) return undefined;
    return this.#out.takeBack(told.from, told.to) ? told.name : undefined;
  }
}
