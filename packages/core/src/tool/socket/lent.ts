/**
 * Memory that a connection reads into again. New memory costs more than the bytes that are read into it: a megabyte is
 * taken from the system, cleared and given back to it. So a large piece is lent to whoever it is told to, and read into
 * again once all of its parts were given back. A part is known by its identity: who keeps one, forgets one, or gives back what
 * was never lent does no harm, and that memory is collected like any other.
 */

interface Loan {
  /** That were not given back. */
  parts: number;
  /** Called once, with the last of them. */
  readonly back: () => void;
}

const loans = new WeakMap<Uint8Array, Loan>();

/** From now on `piece` is the receiver's, until he gives it back. */
export function lend(piece: Uint8Array, back: () => void): void {
  loans.set(piece, { parts: 1, back });
}

/** `part` of a piece goes to another one, who gives it back on his own. */
export function share(piece: Uint8Array, part: Uint8Array): void {
  const loan = loans.get(piece);
  if (loan === undefined || part === piece) return;
  loan.parts += 1;
  loans.set(part, loan);
}

/** True of a part that is its receiver's alone until he gives it back: he may write into it. */
export function isLent(part: Uint8Array): boolean {
  return loans.has(part);
}

/** Nobody reads it any more: neither this view nor another of its bytes that was taken of it. */
export function giveBack(part: Uint8Array): void {
  const loan = loans.get(part);
  if (loan === undefined) return;
  loans.delete(part);
  loan.parts -= 1;
  if (loan.parts === 0) loan.back();
}
