/** Bitmaps, least significant bit first: copied from any bit to any bit, and counted. */

/**
 * Copies `count` bits of `source` from bit `from` into `target` at bit `at`. Bits of `target` outside
 * the range keep their value.
 */
export function copyBits(
  target: Uint8Array,
  at: number,
  source: Uint8Array,
  { from, count }: { readonly from: number; readonly count: number },
): void {
  let done = 0;
  // Up to the first whole byte of the target, then by bytes, then the rest.
  while (done < count && ((at + done) & 7) !== 0) {
    putBit(target, at + done, bitAt(source, from + done));
    done += 1;
  }
  const shift = (from + done) & 7;
  let read = (from + done) >> 3;
  let write = (at + done) >> 3;
  for (; done + 8 <= count; done += 8) {
    const low = source[read] ?? 0;
    const high = shift === 0 ? 0 : (source[read + 1] ?? 0);
    target[write] = (low >> shift) | (high << (8 - shift));
    read += 1;
    write += 1;
  }
  for (; done < count; done += 1) putBit(target, at + done, bitAt(source, from + done));
}

/** Sets `count` bits from bit `at`. */
export function setBits(target: Uint8Array, at: number, count: number): void {
  const end = at + count;
  let bit = at;
  while (bit < end && (bit & 7) !== 0) putBit(target, bit++, true);
  const wholeBytes = (end - bit) >> 3;
  target.fill(0xff, bit >> 3, (bit >> 3) + wholeBytes);
  bit += wholeBytes * 8;
  while (bit < end) putBit(target, bit++, true);
}

/** How many of `count` bits from bit `at` are set. */
export function countBits(bits: Uint8Array, at: number, count: number): number {
  const end = at + count;
  let bit = at;
  let set = 0;
  while (bit < end && (bit & 7) !== 0) set += bitAt(bits, bit++) ? 1 : 0;
  for (; bit + 8 <= end; bit += 8) set += onesIn(bits[bit >> 3] ?? 0);
  while (bit < end) set += bitAt(bits, bit++) ? 1 : 0;
  return set;
}

export function bitAt(bits: Uint8Array, bit: number): boolean {
  return ((bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
}

function putBit(bits: Uint8Array, bit: number, on: boolean): void {
  const mask = 1 << (bit & 7);
  const byte = bits[bit >> 3] ?? 0;
  bits[bit >> 3] = on ? byte | mask : byte & ~mask;
}

function onesIn(byte: number): number {
  const pairs = byte - ((byte >> 1) & 0x55);
  const fours = (pairs & 0x33) + ((pairs >> 2) & 0x33);
  return (fours + (fours >> 4)) & 0x0f;
}
