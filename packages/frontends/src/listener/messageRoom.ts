/**
 * Room for the long messages of all connections: a message of many megabytes takes memory from its first byte until
 * its statement was answered.
 *
 * Their sum is limited for the whole process, and to half of that for each user. Who finds no room waits for it, and
 * nothing of the message is read meanwhile: short messages need none. It knows nothing of what is in a message.
 */
import type { Clock } from "@gateway/core/port/clock.ts";

/** A message of so many bytes needs no room: it is a small part of what its connection takes anyway. */
export const shortMessageBytes = 1024 * 1024;
/** Bytes of messages. What is made of one takes up to three times as much. */
const roomBytesMax = 128 * 1024 * 1024;
/** So long a message waits for room before it is refused. */
const waitMsMax = 30_000;
/** So long a message may arrive that has room: whoever stops in the middle keeps others from theirs. */
const arrivalMsMax = 300_000;

interface Waiting {
  readonly user: string;
  readonly bytes: number;
  /** True where it has its room now. */
  settle(entered: boolean): void;
}

export class MessageRoom {
  readonly #bytesMax: number;
  readonly #users = new Map<string, number>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;

  constructor(bytesMax = roomBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that have room. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Messages that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(user: string, bytes: number): void {
    this.#bytes += bytes;
    const ofUser = (this.#users.get(user) ?? 0) + bytes;
    if (ofUser === 0) this.#users.delete(user);
    else this.#users.set(user, ofUser);
    if (bytes < 0) this.#letIn();
  }

  /** True where it has its room at once. Otherwise `settle` is called once it has, unless it went away before. */
  enter(waiting: Waiting): boolean {
    this.#waiting.add(waiting);
    this.#letIn();
    return !this.#waiting.has(waiting);
  }

  leave(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#letIn();
  }

  /** Nobody overtakes a message for which there is no room at all; one that has to wait for its own user's is passed. */
  #letIn(): void {
    for (const waiting of this.#waiting) {
      const { user, bytes } = waiting;
      const ofUser = this.#users.get(user) ?? 0;
      if (ofUser > 0 && ofUser + bytes > this.#bytesMax / 2) continue;
      // One that is alone always has room, whatever length the config allows.
      if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return;
      this.#waiting.delete(waiting);
      this.add(user, bytes);
      waiting.settle(true);
    }
  }
}

/** One for the process. */
const messageRoom = new MessageRoom();

/** The room that one connection has. */
export class ConnectionRoom {
  readonly #room: MessageRoom;
  readonly #clock: Clock;
  #user = "";
  #bytes = 0;
  #waiting: Waiting | undefined;
  #arrival: Disposable | undefined;

  constructor(clock: Clock, room = messageRoom) {
    this.#clock = clock;
    this.#room = room;
  }

  /**
   * Takes room for a message. False where none was free for too long, or the connection left meanwhile. A connection
   * that has room already gets more at once: nobody can wait for himself. `late` is called where the message does not
   * arrive in time.
   */
  enter(user: string, bytes: number, late: () => void): boolean | Promise<boolean> {
    this.#arrives(late);
    if (this.#bytes > 0) {
      this.#room.add(this.#user, bytes);
      this.#bytes += bytes;
      return true;
    }
    this.#user = user;
    let timer: Disposable | undefined;
    let resolve: ((entered: boolean) => void) | undefined;
    const waiting: Waiting = {
      user,
      bytes,
      settle: (entered) => {
        timer?.[Symbol.dispose]();
        this.#waiting = undefined;
        if (entered) this.#bytes = bytes;
        resolve?.(entered);
      },
    };
    if (this.#room.enter(waiting)) return true;
    this.#waiting = waiting;
    timer = this.#clock.timer(waitMsMax, () => this.#giveUp());
    return new Promise((settled) => {
      resolve = settled;
    });
  }

  /** More is waited for of a client that has room. */
  expect(late: () => void): void {
    if (this.#bytes > 0) this.#arrival ??= this.#clock.timer(arrivalMsMax, late);
  }

  /** The message has arrived whole. */
  arrived(): void {
    this.#arrival?.[Symbol.dispose]();
    this.#arrival = undefined;
  }

  /** Gives everything back: what came was answered, or nobody is there to be answered. */
  leave(): void {
    this.arrived();
    this.#giveUp();
    if (this.#bytes === 0) return;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.add(this.#user, -bytes);
  }

  #arrives(late: () => void): void {
    this.arrived();
    this.#arrival = this.#clock.timer(waitMsMax + arrivalMsMax, late);
  }

  #giveUp(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#room.leave(waiting);
    waiting.settle(false);
  }
}
