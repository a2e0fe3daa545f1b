/**
 * The links of this listener's queries: sealed under a key that lives as long as the listener, and
 * found again by what they hold. Layout and refusals are core's (`handle/seal.ts`).
 */
import { timingSafeEqual } from "node:crypto";
import {
  openHandle,
  sealHandle,
  type HandleFacts,
  type HandleOwner,
} from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Elsewhere } from "../../listener/elsewhere.ts";
import { sealerOf, sealKeyBytes, userMarkOf } from "../../listener/sealer.ts";

const instanceBytes = 6;

/**
 * Longer than a client pauses between two polls: it may keep its query, and thus its link, by signs of
 * life. Short enough that a link in an old log opens nothing.
 */
const handleLifeMs = 24 * 3_600_000;

/**
 * Links that are known without opening them, twice as many at most, and users whose mark is. Each is
 * the answer that its cipher or digest would give again.
 */
const knownMax = 4_096;
const userLengthMax = 256;

/** Whose query the links of one statement lead to. */
export interface LinkedQuery {
  readonly queryId: string;
  readonly userMark: Uint8Array;
}

/** One per listener. It does not open what another listener sealed. */
export class Handles {
  readonly #host: Pick<Host, "clock" | "randomBytes">;
  readonly #owner: HandleOwner;
  readonly #known = new Recent<HandleFacts>();
  readonly #marks = new Recent<Uint8Array>();

  /** `elsewhere` writes into the instance how the rest of the fleet reaches it. */
  constructor(host: Pick<Host, "clock" | "randomBytes">, elsewhere?: Pick<Elsewhere, "mark">) {
    this.#host = host;
    const instance = Buffer.from(host.randomBytes(instanceBytes)).toString("hex");
    this.#owner = {
      instance: elsewhere?.mark(instance) ?? instance,
      sealer: sealerOf(host.randomBytes(sealKeyBytes)),
    };
  }

  /** Stands in every link, in clear. */
  get instance(): string {
    return this.#owner.instance;
  }

  linkedQuery(queryId: string, user: string): LinkedQuery {
    const known = this.#marks.get(user);
    if (known !== undefined) return { queryId, userMark: known };
    const made = userMarkOf(user);
    if (user.length <= userLengthMax) this.#marks.put(user, made);
    return { queryId, userMark: made };
  }

  /** The sealed part of the link to an answer. */
  seal({ queryId, userMark: mark }: LinkedQuery, token: number): string {
    const expiresAtMs = this.#host.clock.nowMs() + handleLifeMs;
    const facts = { queryId, userMark: mark, token, expiresAtMs };
    const sealed = sealHandle(facts, this.#owner);
    this.#known.put(sealed, facts);
    return sealed;
  }

  /** What the link holds; undefined for one that this listener did not make, or long ago. */
  open(sealed: string): HandleFacts | undefined {
    const nowMs = this.#host.clock.nowMs();
    const known = this.#known.get(sealed);
    if (known !== undefined) return known.expiresAtMs > nowMs ? known : undefined;
    return openHandle(sealed, this.#owner, nowMs);
  }
}

/** The texts that were put last. The older half is dropped at once, which costs less than one by one. */
class Recent<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  get(text: string): V | undefined {
    return this.#young.get(text) ?? this.#old.get(text);
  }

  put(text: string, value: V): void {
    if (this.#young.size >= knownMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
  }
}

/** True when the handle was made for this query's user. */
export function isBoundTo(handle: HandleFacts, query: LinkedQuery): boolean {
  return timingSafeEqual(handle.userMark, query.userMark);
}
