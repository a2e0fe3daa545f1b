/** The few layouts in which Arrow has a cell wider, or counts it finer, than we do. */

/** Integers of 16 bytes as such of 32, with their sign. */
export function widened(bytes: Uint8Array, signed: boolean): Uint8Array {
  const wide = new Uint8Array(bytes.length * 2);
  for (let at = 0; at < bytes.length; at += 16) {
    wide.set(bytes.subarray(at, at + 16), at * 2);
    if (signed && (bytes[at + 15] ?? 0) >= 0x80) wide.fill(0xff, at * 2 + 16, at * 2 + 32);
  }
  return wide;
}

/** Counts of 8 bytes, each times `factor`. */
export function scaled(bytes: Uint8Array, factor: bigint): Uint8Array {
  const made = new Uint8Array(bytes.length);
  const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const to = new DataView(made.buffer);
  for (let at = 0; at < bytes.length; at += 8) {
    to.setBigInt64(at, from.getBigInt64(at, true) * factor, true);
  }
  return made;
}
