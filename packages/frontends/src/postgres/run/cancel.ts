/**
 * Keys by which a second connection cancels what a first one runs.
 *
 * A key is a process number and a secret of unpredictable bytes; both are needed. Neither a right nor a wrong
 * key gets an answer. The number alone names a connection to its own user, who may end it in SQL.
 */
import { timingSafeEqual } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import type { SiblingTopic } from "@gateway/core/port/siblings.ts";

export interface CancelKey {
  readonly process: number;
  readonly secret: Uint8Array;
}

/** Process numbers are positive on the wire. */
const processMax = 0x7fffffff;

/** Secrets of protocol 3.0 have four bytes; since 3.2 they may be long. */
export const secretBytes = { short: 4, long: 32 } as const;

/** Whose key it is. */
export interface KeyOwner {
  readonly user: string;
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

/** What SQL may do to a connection of its own user. */
export type SignalName = "pg_cancel_backend" | "pg_terminate_backend";

interface ToldSignal {
  readonly user: string;
  readonly process: number;
  readonly name: SignalName;
}

const signalled: SiblingTopic<ToldSignal, boolean> = { name: "postgres.signal" };

const presented: SiblingTopic<ToldKey, undefined> = { name: "postgres.cancel" };

/** The keys of one listener. Where several processes share it, a key's number tells whose it is. */
export class CancelKeys {
  readonly #keys = new Map<number, Registration>();
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
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
   * Signals the connection that was told this process number, in whichever process it lives. False where it is none of
   * the user's; a promise only where another process has to say so.
   */
  signal(user: string, process: number, name: SignalName): boolean | Promise<boolean> {
    const { siblings } = this.#host;
    const owner = siblings === undefined ? undefined : process % siblings.count;
    const told = { user, process, name };
    if (siblings === undefined || owner === siblings.index) return this.#signalHere(told);
    return siblings.ask(signalled, told, owner).then(([done]) => done === true);
  }

  #signalHere({ user, process, name }: ToldSignal): boolean {
    const owner = this.#keys.get(process)?.owner;
    if (owner?.user !== user) return false;
    if (name === "pg_cancel_backend") owner.cancel();
    else owner.terminate();
    return true;
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
