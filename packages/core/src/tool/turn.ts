/**
 * Writes to many sockets that leave together, behind everything that this turn of the event loop reads.
 *
 * A write wakes whoever waits for it, and where cores are few that process takes the core at once: the rest of the turn
 * then runs with cold caches, and whoever was woken waits again after one message. Written together, one wake serves
 * many (`docs/query-cost.md`).
 */

import { BelowSockets, type UpperSocket } from "./socket/below.ts";

/** A socket. */
export interface TurnSocket extends UpperSocket {
  readonly destroyed: boolean;
  readonly writableNeedDrain: boolean;
  write(bytes: Uint8Array): boolean;
  write(text: string, encoding: "latin1"): boolean;
  cork(): void;
  uncork(): void;
}

/** More bytes are worth a write of their own. */
export const turnBytesMax: number = 8 * 1024;
/** So many wait for each other at most: what is long in a turn does not hold back whoever was first. */
const heldMax = 16;

/** After so many turns with one piece the next are written at once, */
const aloneMin = 64;
/** but for one in so many. */
const atOnceMax = 8;

/** What waits: bytes, text of one byte for each character, or what writes by itself. */
type Piece = Uint8Array | string | (() => void);

/** Whoever writes to one of its sockets in another way, or ends it, calls `leave` before. */
export class TurnWrites {
  readonly #plan: (leave: () => void) => void;
  readonly #behind: () => void;
  #sockets: (TurnSocket | undefined)[] = [];
  #pieces: Piece[] = [];
  /** How many turns in a row had one piece to write. */
  #alone = 0;
  /** Pieces that were written at once since the last that waited. */
  #atOnce = 0;

  /** `plan` calls what it is given when the turn is over; `behind` is called behind what was written. */
  constructor(plan: (leave: () => void) => void, behind: () => void = nothing) {
    this.#plan = plan;
    this.#behind = behind;
  }

  /**
   * Writes with the end of the turn, or at once where it is much. A text has characters of one byte. False: the socket
   * wants no more yet.
   */
  write(socket: TurnSocket, piece: Uint8Array | string): boolean {
    if (piece.length > turnBytesMax) this.leave();
    if (piece.length > turnBytesMax || this.#isAlone()) {
      const wantsMore = put(socket, piece);
      this.#behind();
      return wantsMore;
    }
    this.#hold(socket, piece);
    return !socket.writableNeedDrain;
  }

  /** Calls what writes by itself with the end of the turn. */
  later(write: () => void): void {
    if (!this.#isAlone()) return this.#hold(undefined, write);
    write();
    this.#behind();
  }

  /** Something for the socket waits. */
  holds(socket: TurnSocket): boolean {
    return this.#sockets.includes(socket);
  }

  /** Where one client asks after the other nobody waits for company; now and then it is looked for. */
  #isAlone(): boolean {
    if (this.#pieces.length > 0 || this.#alone < aloneMin) return false;
    this.#atOnce += 1;
    if (this.#atOnce < atOnceMax) return true;
    this.#atOnce = 0;
    return false;
  }

  #hold(socket: TurnSocket | undefined, piece: Piece): void {
    if (this.#sockets.length >= heldMax) this.leave();
    if (this.#sockets.length === 0) this.#plan(this.leave);
    this.#sockets.push(socket);
    this.#pieces.push(piece);
  }

  /** Writes what waits. */
  readonly leave = (): void => {
    const sockets = this.#sockets;
    if (sockets.length === 0) return;
    const pieces = this.#pieces;
    this.#sockets = [];
    this.#pieces = [];
    this.#alone = pieces.length > 1 ? 0 : this.#alone + 1;
    let before: TurnSocket | undefined;
    for (let at = 0; at < pieces.length; at += 1) {
      const socket = sockets[at];
      const piece = pieces[at];
      if (typeof piece === "function") piece();
      else if (socket !== undefined && piece !== undefined && !socket.destroyed) {
        // Several pieces in a row are one call of the system.
        const goesOn = at + 1 < pieces.length && sockets[at + 1] === socket;
        const wentOn = before === socket;
        if (goesOn && !wentOn) socket.cork();
        put(socket, piece);
        if (wentOn && !goesOn) socket.uncork();
      }
      before = socket;
    }
    this.#behind();
  };
}

const nothing = (): void => {};
const below = new BelowSockets();

function put(socket: TurnSocket, piece: Uint8Array | string): boolean {
  if (typeof piece === "string") return socket.write(piece, "latin1");
  // A long one may change again once its stream says that it has left, and its stream counts it until then.
  if (piece.length > turnBytesMax) return socket.write(piece);
  return below.write(socket, piece) ?? socket.write(piece);
}
