/**
 * CityHash128 of version 1.0.2, which ClickHouse checks its compressed blocks with. Later versions of CityHash
 * give other numbers.
 *
 * Written for blocks of at most a megabyte: arithmetic of 64 bits is slow in JavaScript, some 20 MB a second.
 */
const k0 = 0xc3a5c85c97cb3127n;
const k1 = 0xb492b66fbe98f273n;
const k2 = 0x9ae16a3b2f90404fn;
const k3 = 0xc949d7c7509e6557n;
const multiplier = 0x9ddfea08eb382d69n;

type Pair = readonly [low: bigint, high: bigint];

/** The hash of bytes, as two unsigned numbers of 64 bits. */
export function cityHash128(bytes: Uint8Array): Pair {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = bytes.length;
  if (length >= 16) return seeded(view, 16, [at(view, 0) ^ k3, at(view, 8)]);
  if (length >= 8) {
    const low = at(view, 0) ^ u64(BigInt(length) * k0);
    return seeded(view, length, [low, at(view, length - 8) ^ k1]);
  }
  return seeded(view, 0, [k0, k1]);
}

/** Of the bytes from `start` on. */
function seeded(view: DataView, start: number, seed: Pair): Pair {
  const length = view.byteLength - start;
  return length < 128 ? murmur(view, start, seed) : city(view, start, seed);
}

function murmur(view: DataView, start: number, [seedLow, seedHigh]: Pair): Pair {
  const end = view.byteLength;
  const length = end - start;
  let a = seedLow;
  let b = seedHigh;
  let c = 0n;
  let d = 0n;
  if (length <= 16) {
    a = u64(mixed(u64(a * k1)) * k1);
    c = u64(b * k1 + shortHash(view, start));
    d = mixed(u64(a + (length >= 8 ? at(view, start) : c)));
  } else {
    c = folded(u64(at(view, end - 8) + k1), a);
    d = folded(u64(b + BigInt(length)), u64(c + at(view, end - 16)));
    a = u64(a + d);
    for (let from = start, left = length - 16; left > 0; left -= 16, from += 16) {
      a = u64((a ^ u64(mixed(u64(at(view, from) * k1)) * k1)) * k1);
      b ^= a;
      c = u64((c ^ u64(mixed(u64(at(view, from + 8) * k1)) * k1)) * k1);
      d ^= c;
    }
  }
  a = folded(a, c);
  b = folded(d, b);
  return [a ^ b, folded(b, a)];
}

/** The state of the loop over long inputs. */
interface State {
  x: bigint;
  y: bigint;
  z: bigint;
  v: Pair;
  w: Pair;
}

function city(view: DataView, start: number, [low, high]: Pair): Pair {
  const end = view.byteLength;
  const z = u64(BigInt(end - start) * k1);
  const vLow = u64(turned(high ^ k1, 49n) * k1 + at(view, start));
  const state: State = {
    x: low,
    y: high,
    z,
    v: [vLow, u64(turned(vLow, 42n) * k1 + at(view, start + 8))],
    w: [
      u64(turned(u64(high + z), 35n) * k1 + low),
      u64(turned(u64(low + at(view, start + 88)), 53n) * k1),
    ],
  };
  let from = start;
  for (; end - from >= 128; from += 128) {
    roll(state, view, from);
    roll(state, view, from + 64);
  }
  return ended(state, view, end - from);
}

function roll(state: State, view: DataView, from: number): void {
  const { v, w } = state;
  const x = u64(turned(u64(state.x + state.y + v[0] + at(view, from + 16)), 37n) * k1) ^ w[1];
  const y = u64(turned(u64(state.y + v[1] + at(view, from + 48)), 42n) * k1) ^ v[0];
  const z = turned(state.z ^ w[0], 33n);
  state.v = weak(view, from, u64(v[1] * k1), u64(x + w[0]));
  state.w = weak(view, from + 32, u64(z + w[1]), y);
  state.y = y;
  // The two change places.
  state.z = x;
  state.x = z;
}

/** Hashes the last `left` bytes, fewer than 128, in pieces of 32 from the end, and folds the state. */
function ended(state: State, view: DataView, left: number): Pair {
  const end = view.byteLength;
  let { x, y, v } = state;
  const { z } = state;
  let [wLow] = state.w;
  const [, wHigh] = state.w;
  y = u64(y + turned(wLow, 37n) * k0 + z);
  x = u64(x + turned(u64(v[0] + z), 49n) * k0);
  for (let done = 0; done < left;) {
    done += 32;
    y = u64(turned(u64(y - x), 42n) * k0 + v[1]);
    wLow = u64(wLow + at(view, end - done + 16));
    x = u64(turned(x, 49n) * k0 + wLow);
    wLow = u64(wLow + v[0]);
    v = weak(view, end - done, v[0], v[1]);
  }
  x = folded(x, v[0]);
  y = folded(y, wLow);
  return [u64(folded(u64(x + v[1]), wHigh) + y), folded(u64(x + wHigh), u64(y + v[1]))];
}

/** Of at most 16 bytes from `start` on. */
function shortHash(view: DataView, start: number): bigint {
  const length = view.byteLength - start;
  const size = BigInt(length);
  if (length > 8) {
    const a = at(view, start);
    const b = at(view, view.byteLength - 8);
    return folded(a, turned(u64(b + size), size)) ^ b;
  }
  if (length >= 4) {
    const a = BigInt(view.getUint32(start, true));
    return folded(u64(size + (a << 3n)), BigInt(view.getUint32(view.byteLength - 4, true)));
  }
  if (length === 0) return k2;
  const [a, b, c] = [0, length >> 1, length - 1].map((index) => view.getUint8(start + index));
  const y = BigInt((a ?? 0) + ((b ?? 0) << 8));
  const z = BigInt(length + ((c ?? 0) << 2));
  return u64(mixed(u64(y * k2) ^ u64(z * k3)) * k2);
}

function weak(view: DataView, from: number, seedA: bigint, seedB: bigint): Pair {
  let a = u64(seedA + at(view, from));
  let b = turned(u64(seedB + a + at(view, from + 24)), 21n);
  const c = a;
  a = u64(a + at(view, from + 8) + at(view, from + 16));
  b = u64(b + turned(a, 44n));
  return [u64(a + at(view, from + 24)), u64(b + c)];
}

function folded(low: bigint, high: bigint): bigint {
  let a = u64((low ^ high) * multiplier);
  a ^= a >> 47n;
  let b = u64((high ^ a) * multiplier);
  b ^= b >> 47n;
  return u64(b * multiplier);
}

function mixed(value: bigint): bigint {
  return value ^ (value >> 47n);
}

function turned(value: bigint, bits: bigint): bigint {
  return u64((value >> bits) | (value << (64n - bits)));
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function at(view: DataView, offset: number): bigint {
  return view.getBigUint64(offset, true);
}
