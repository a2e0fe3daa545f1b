/**
 * What stays open between two requests, by seat. Whoever asks a driver has a seat. Any thread of the process
 * may serve it, one at a time, because a driver's handle works from all of them. The asking side sees to
 * that, and never gives a seat twice: its connection is logged in as somebody.
 */
import type { Address } from "./native.ts";

const wordsOfSeat = 2;
const connectionAt = 0;
const databaseAt = 1;

/** Room for so many seats, in the form that goes to threads. */
export function seatsBlock(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * wordsOfSeat * Float64Array.BYTES_PER_ELEMENT);
}

/** Addresses of a seat's handles; 0 where it has none. */
export interface Seat {
  connection: Address;
  database: Address;
}

/** The seat of a number. Throws where there is none. */
export function seatIn(block: SharedArrayBuffer, seat: number): Seat {
  const words = new Float64Array(block);
  const at = seat * wordsOfSeat;
  if (!Number.isInteger(seat) || seat < 0 || at >= words.length) {
    throw new RangeError("a process has no such seat");
  }
  return {
    get connection() {
      return words[at + connectionAt] ?? 0;
    },
    set connection(address: Address) {
      words[at + connectionAt] = address;
    },
    get database() {
      return words[at + databaseAt] ?? 0;
    },
    set database(address: Address) {
      words[at + databaseAt] = address;
    },
  };
}
