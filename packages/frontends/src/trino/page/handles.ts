/**
 * The links of this listener's queries: sealed under a key that lives as long as the listener, and
 * found again by what they hold. Layout and refusals are core's (`handle/seal.ts`).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  timingSafeEqual,
  type KeyObject,
} from "node:crypto";
import {
  openHandle,
  sealHandle,
  userMarkBytes,
  type HandleFacts,
  type HandleOwner,
  type Sealer,
} from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Elsewhere } from "../../listener/elsewhere.ts";

const cipherName = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
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
      sealer: aesSealer(host.randomBytes(keyBytes)),
    };
  }

  /** Stands in every link, in clear. */
  get instance(): string {
    return this.#owner.instance;
  }

  linkedQuery(queryId: string, user: string): LinkedQuery {
    const known = this.#marks.get(user);
    if (known !== undefined) return { queryId, userMark: known };
    const made = userMark(user);
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

function userMark(user: string): Uint8Array {
  return createHash("sha256").update(user).digest().subarray(0, userMarkBytes);
}

/** AES-GCM. The nonce is a counter, so no two texts under one key share it. */
function aesSealer(keyMaterial: Uint8Array): Sealer {
  const key = createSecretKey(keyMaterial);
  let count = 0;
  return {
    seal: (plain, bound) => {
      count += 1;
      const sealed = Buffer.alloc(nonceBytes + plain.length + tagBytes);
      sealed.writeUIntBE(count, nonceBytes - 6, 6);
      const cipher = createCipheriv(cipherName, key, sealed.subarray(0, nonceBytes));
      cipher.setAAD(Buffer.from(bound));
      sealed.set(cipher.update(plain), nonceBytes);
      cipher.final();
      sealed.set(cipher.getAuthTag(), nonceBytes + plain.length);
      return sealed.toString("base64url");
    },
    open: (sealed, bound) => {
      const bytes = Buffer.from(sealed, "base64url");
      // One handle has one text: a lenient reader would take several for it.
      if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64url") !== sealed) {
        return undefined;
      }
      return opened(bytes, key, bound);
    },
  };
}

function opened(bytes: Buffer, key: KeyObject, bound: string): Uint8Array | undefined {
  const tagAt = bytes.length - tagBytes;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), options);
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const plain = decipher.update(bytes.subarray(nonceBytes, tagAt));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}
