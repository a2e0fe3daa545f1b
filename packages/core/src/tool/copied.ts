/** What was read into memory that is read into again. */

/** Below it a loop takes less than the call and the view that the platform's copy needs. */
const fewBytes = 256;

/** Fills `to` with the beginning of `from`. */
export function copied<Bytes extends Uint8Array>(to: Bytes, from: Uint8Array): Bytes {
  const { length } = to;
  if (length > fewBytes) to.set(from.subarray(0, length));
  else for (let at = 0; at < length; at += 1) to[at] = from[at] ?? 0;
  return to;
}
