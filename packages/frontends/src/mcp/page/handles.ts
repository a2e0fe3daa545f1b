/**
 * The handles of a listener's queries: `instance.sealed`. Layout and refusals of the sealed part are core's
 * (`handle/seal.ts`); the key lives as long as the listener, because its queries do.
 */
import { timingSafeEqual } from "node:crypto";
import { openHandle, sealHandle, type HandleOwner } from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Elsewhere } from "../../listener/elsewhere.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { randomSealer, sealKeyBytes, userMarkOf } from "../../listener/sealer.ts";

/** Longer than an agent pauses between two calls; a handle in an old log opens nothing. */
const handleLifeMs = 24 * 3_600_000;
const instanceBytes = 6;
const handleForm = /^([\w-]{1,200})\.([\w-]{1,512})$/;

/** The answer that a handle leads to. */
export interface Place {
  readonly queryId: QueryId;
  readonly token: number;
}

/** One per listener. */
export class Handles {
  readonly #clock: Host["clock"];
  readonly #owner: HandleOwner;

  /** `elsewhere` writes into the instance how the rest of the fleet reaches it. */
  constructor(host: Pick<Host, "clock" | "randomBytes">, elsewhere?: Pick<Elsewhere, "mark">) {
    this.#clock = host.clock;
    const instance = Buffer.from(host.randomBytes(instanceBytes)).toString("hex");
    this.#owner = {
      instance: elsewhere?.mark(instance) ?? instance,
      sealer: randomSealer(host.randomBytes(sealKeyBytes), host),
    };
  }

  /** How the fleet reaches this listener. */
  get mark(): string {
    return this.#owner.instance;
  }

  seal({ queryId, token }: Place, user: string): string {
    const expiresAtMs = this.#clock.nowMs() + handleLifeMs;
    const facts = { queryId, userMark: userMarkOf(user), token, expiresAtMs };
    return `${this.#owner.instance}.${sealHandle(facts, this.#owner)}`;
  }

  /** The mark of the gateway that has the query; undefined for a handle of this one, and for what is none. */
  foreignMark(handle: string): string | undefined {
    const instance = handleForm.exec(handle)?.[1];
    return instance === this.#owner.instance ? undefined : instance;
  }

  /**
   * Where it leads; undefined, whatever the reason, for one that is forged, expired or another user's. `elsewhere`:
   * it names another instance, which alone can tell.
   */
  open(handle: string, user: string): Place | "elsewhere" | undefined {
    const [, instance = "", sealed = ""] = handleForm.exec(handle) ?? [];
    if (sealed === "") return undefined;
    if (instance !== this.#owner.instance) return "elsewhere";
    const facts = openHandle(sealed, this.#owner, this.#clock.nowMs());
    if (facts === undefined || !timingSafeEqual(facts.userMark, userMarkOf(user))) return undefined;
    return { queryId: facts.queryId as QueryId, token: facts.token };
  }
}
