/**
 * The sealed part of a handle, with which a client asks for its query again over separate requests.
 *
 * It holds the query, its user, the number of the answer that is due, and an expiry. Only its owner can make
 * or read it. The owner's instance stands beside it in clear, so that another instance sees that the handle is
 * not its own. The caller brings ciphers and digests; this file says what is sealed and what is refused.
 */

/** Authenticated encryption under the owner's key. */
export interface Sealer {
  /** Text of letters, digits, `-` and `_`. `bound` is authenticated with it but not part of it. */
  seal(plain: Uint8Array, bound: string): string;
  /** The plain bytes; undefined for any text that `seal` did not return under this key and `bound`. */
  open(sealed: string, bound: string): Uint8Array | undefined;
}

/** What a handle is bound to, beside its owner. */
export interface HandleFacts {
  readonly queryId: string;
  /** A digest of the user's name, `userMarkBytes` long, so that a long name makes no long handle. */
  readonly userMark: Uint8Array;
  /** Number of the answer asked for. */
  readonly token: number;
  /** On the owner's monotonic clock. */
  readonly expiresAtMs: number;
}

/** Whose handles these are. */
export interface HandleOwner {
  /** Stands in clear beside each of them. */
  readonly instance: string;
  readonly sealer: Sealer;
}

/** Enough that no two names share one by chance or by trying. */
export const userMarkBytes = 16;

/** A new layout gets a new number; a handle of another layout is refused like a forged one. */
const layout = 1;
const tokenAt = 1;
const expiryAt = 9;
const markAt = 17;
const idAt = markAt + userMarkBytes;
const idBytesMax = 128;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The sealed part. */
export function sealHandle(facts: HandleFacts, { instance, sealer }: HandleOwner): string {
  const id = encoder.encode(facts.queryId);
  const bytes = new Uint8Array(idAt + id.length);
  const view = new DataView(bytes.buffer);
  bytes[0] = layout;
  view.setFloat64(tokenAt, facts.token);
  view.setFloat64(expiryAt, facts.expiresAtMs);
  bytes.set(facts.userMark.subarray(0, userMarkBytes), markAt);
  bytes.set(id, idAt);
  return sealer.seal(bytes, instance);
}

/** What was sealed; undefined, whatever the reason, for a handle that is forged, expired, or another owner's. */
export function openHandle(
  sealed: string,
  { instance, sealer }: HandleOwner,
  nowMs: number,
): HandleFacts | undefined {
  const bytes = sealer.open(sealed, instance);
  if (bytes === undefined || bytes[0] !== layout) return undefined;
  if (bytes.length <= idAt || bytes.length > idAt + idBytesMax) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const expiresAtMs = view.getFloat64(expiryAt);
  if (!(expiresAtMs > nowMs)) return undefined;
  return {
    queryId: decoder.decode(bytes.subarray(idAt)),
    userMark: bytes.subarray(markAt, idAt),
    token: view.getFloat64(tokenAt),
    expiresAtMs,
  };
}
