/**
 * Keys by which a second connection cancels what a first one runs.
 *
 * A key is a process number and a secret of unpredictable bytes; both are needed. Neither a right nor a wrong
 * key gets an answer. The number alone names a connection to its own user, who may end it in SQL.
 */
import { timingSafeEqual } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";

export interface CancelKey {
  readonly process: number;
  readonly secret: Uint8Array;
}

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

/** The keys of one listener. */
export class CancelKeys {
  readonly #keys = new Map<number, Registration>();
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** A new key; its owner is cancelled when it is presented, until the registration is disposed. */
  register(length: number, owner: KeyOwner): CancelRegistration {
    const key = { process: this.#freeProcess(), secret: this.#host.randomBytes(length) };
    return new Registration(key, owner, this.#keys);
  }

  /** Cancels the current statement of the key's owner, if the key is right. */
  present({ process, secret }: CancelKey): void {
    const found = this.#keys.get(process);
    const right = found?.key.secret;
    if (right === undefined || right.length !== secret.length) return;
    if (timingSafeEqual(right, secret)) found?.owner.cancel();
  }

  /** The connection that was told this process number, if it is the user's own. */
  ofUser(user: string, process: number): KeyOwner | undefined {
    const owner = this.#keys.get(process)?.owner;
    return owner?.user === user ? owner : undefined;
  }

  /** Connections that hold a key now. */
  get size(): number {
    return this.#keys.size;
  }

  /** Random, so that the number does not tell how many clients connected; positive, as process numbers are. */
  #freeProcess(): number {
    for (;;) {
      const bytes = this.#host.randomBytes(4);
      const process = new DataView(bytes.buffer, bytes.byteOffset, 4).getInt32(0) & 0x7fffffff;
      if (process !== 0 && !this.#keys.has(process)) return process;
    }
  }
}
