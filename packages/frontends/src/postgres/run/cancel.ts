/**
 * Keys by which a second connection cancels what a first one runs.
 *
 * A key is a process number and a secret of unpredictable bytes; both are needed. Neither a right nor a wrong
 * key gets an answer. The number alone names a connection to its own user, who may end it in SQL; so does the server's
 * number of the connection that is its own now, or runs its statement, which is what the server told where it was asked.
 */
import { timingSafeEqual } from "node:crypto";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { SiblingTopic } from "@gateway/core/port/siblings.ts";
import type { SignalName } from "@gateway/core/query/query.ts";

export interface CancelKey {
  readonly process: number;
  readonly secret: Uint8Array;
}

/** Process numbers are positive on the wire. */
const processMax = 0x7fffffff;

/** Secrets of protocol 3.0 have four bytes; since 3.2 they may be long. */
export const secretBytes = { short: 4, long: 32 } as const;

/** A process of a cluster's server. Another cluster may have the same number. */
export interface ServerProcess {
  readonly cluster: string;
  readonly process: number;
}

/** Whose key it is. */
export interface KeyOwner {
  readonly user: string;
  /** The server's connection that is its own now; undefined while it has none. */
  readonly behind?: ServerProcess | undefined;
  /** Cancels what runs. */
  cancel(): void;
  /** Ends the connection, as an administrator would. */
  terminate(): void;
}

/** A key in use; disposing gives it back. Every idle connection has one, so it is a string: an array takes ten times as much. */
class Registration implements Disposable {
  readonly owner: KeyOwner;
  readonly #process: number;
  readonly #secret: string;
  readonly #keys: Map<number, Registration>;

  constructor({ process, secret }: CancelKey, owner: KeyOwner, keys: Map<number, Registration>) {
    this.#process = process;
    this.#secret = Buffer.from(secret).toString("latin1");
    this.owner = owner;
    this.#keys = keys;
    keys.set(process, this);
  }

  get key(): CancelKey {
    return { process: this.#process, secret: Buffer.from(this.#secret, "latin1") };
  }

  [Symbol.dispose](): void {
    this.#keys.delete(this.#process);
  }
}

export type CancelRegistration = Pick<Registration, "key"> & Disposable;

/** A key in JSON. */
interface ToldKey {
  readonly process: number;
  readonly secretHex: string;
}

/** Who wants what of which connection. `cluster`: where the asker's own connection is, if it has one. */
export interface ToldSignal {
  readonly user: string;
  readonly process: number;
  readonly name: SignalName;
  readonly cluster?: string | undefined;
}

const signalled: SiblingTopic<ToldSignal, boolean> = { name: "postgres.signal" };

const presented: SiblingTopic<ToldKey, undefined> = { name: "postgres.cancel" };

/** The keys of one listener. Where several processes share it, a key's number tells whose it is. */
export class CancelKeys {
  readonly #keys = new Map<number, Registration>();
  readonly #host: Host;
  readonly #sessionAt: Door["sessionAt"];

  constructor(host: Host, door: Pick<Door, "sessionAt"> = {}) {
    this.#host = host;
    this.#sessionAt = door.sessionAt;
    host.siblings?.answer(presented, ({ process, secretHex }) => {
      this.#presentHere({ process, secret: Buffer.from(secretHex, "hex") });
      return undefined;
    });
    host.siblings?.answer(signalled, (told) => this.#signalHere(told));
  }

  /** A new key; its owner is cancelled when it is presented, until the registration is disposed. */
  register(length: number, owner: KeyOwner): CancelRegistration {
    const key = { process: this.#freeProcess(), secret: this.#host.randomBytes(length) };
    return new Registration(key, owner, this.#keys);
  }

  /** Cancels the current statement of the key's owner, if the key is right. */
  present(key: CancelKey): void {
    const { siblings } = this.#host;
    const owner = siblings === undefined ? undefined : key.process % siblings.count;
    if (siblings === undefined || owner === siblings.index) return this.#presentHere(key);
    const secretHex = Buffer.from(key.secret).toString("hex");
    void siblings.ask(presented, { process: key.process, secretHex }, owner);
  }

  #presentHere({ process, secret }: CancelKey): void {
    const found = this.#keys.get(process);
    const right = found?.key.secret;
    if (right === undefined || right.length !== secret.length) return;
    if (timingSafeEqual(right, secret)) found?.owner.cancel();
  }

  /**
   * Signals the connection that has this process number, in whichever process it lives. False where it is none of the
   * user's; a promise only where other processes have to say so.
   */
  signal(told: ToldSignal): boolean | Promise<boolean> {
    const { siblings } = this.#host;
    if (this.#signalHere(told)) return true;
    if (siblings === undefined) return false;
    return siblings.ask(signalled, told).then((sent) => sent.includes(true));
  }

  #signalHere({ user, process, name, cluster }: ToldSignal): boolean {
    const owner =
      this.#keys.get(process)?.owner ??
      this.#ownerBehind({ user, process, cluster }) ??
      this.#ownerRunning(process, cluster);
    if (owner?.user !== user) return false;
    if (name === "pg_cancel_backend") owner.cancel();
    else owner.terminate();
    return true;
  }

  /** The user's session that has this process of a server; undefined where the number does not tell which one. */
  #ownerBehind({ user, process, cluster }: Omit<ToldSignal, "name">): KeyOwner | undefined {
    let found: KeyOwner | undefined;
    for (const { owner } of this.#keys.values()) {
      if (owner.user !== user) continue;
      const { behind } = owner;
      if (behind?.process !== process || (cluster ?? behind.cluster) !== behind.cluster) continue;
      if (found !== undefined) return undefined;
      found = owner;
    }
    return found;
  }

  /** Whose statement that process runs now. */
  #ownerRunning(process: number, cluster: string | undefined): KeyOwner | undefined {
    const session = this.#sessionAt?.(process, cluster);
    return session === undefined ? undefined : this.#keys.get(session)?.owner;
  }

  /** Connections that hold a key now. */
  get size(): number {
    return this.#keys.size;
  }

  /** Random, so that the number does not tell how many clients connected; positive, as process numbers are. */
  #freeProcess(): number {
    for (;;) {
      const bytes = this.#host.randomBytes(4);
      const process = this.#own(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) >>> 1);
      if (process > 0 && process <= processMax && !this.#keys.has(process)) return process;
    }
  }

  /** The nearest number that tells of this process. */
  #own(process: number): number {
    const { siblings } = this.#host;
    return siblings === undefined ? process : process - (process % siblings.count) + siblings.index;
  }
}
