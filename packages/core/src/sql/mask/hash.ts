/**
 * A fast 128-bit hash of text, the same in every process and release, for grouping equal queries.
 *
 * Not cryptographic: texts with equal hashes can be made on purpose. Never use it to decide who may do
 * what, and never to hide a text that could be guessed.
 */
import { readingOf } from "../reading/reading.ts";
import { inOneGo, type Steps } from "../reading/steps.ts";

/** UTF-16 units of one step, some 50 µs. */
const unitsPerStep = 16 * 1024;

/** The hash as 32 lower-case hex digits. Cost: a few nanoseconds a character. */
export function hashText(text: string): string {
  return inOneGo(readHash(text));
}

/** The remembered hashes of texts: applications send the same ones again and again, and `longText.ts` reads long ones ahead. */
export const hashReading = readingOf(readHash);

/** The same in steps. */
export function* readHash(text: string): Steps<string> {
  // Four lanes of FNV-1a over UTF-16 units. Plain FNV never carries high bits down, so the low bits of
  // all lanes would agree; the shift after each multiplication mixes them.
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  let c = 0x85ebca6b;
  let d = 0xc2b2ae35;
  for (let at = 0; at < text.length; at += 1) {
    if (at % unitsPerStep === unitsPerStep - 1) yield;
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0x2c1b3c6d);
    b ^= b >>> 14;
    c = Math.imul(c ^ unit, 0x297a2d39);
    c ^= c >>> 16;
    d = Math.imul(d ^ unit, 0x1b56c4e9);
    d ^= d >>> 13;
  }
  a ^= text.length;
  b ^= a;
  c ^= b;
  d ^= c;
  return (
    hexOf(avalanche(a + d)) +
    hexOf(avalanche(b + a)) +
    hexOf(avalanche(c + b)) +
    hexOf(avalanche(d + c))
  );
}

/** Spreads every input bit over all output bits (the finalizer of MurmurHash3). */
function avalanche(lane: number): number {
  let mixed = lane | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hexOf(lane: number): string {
  return pairOf(lane >>> 24) + pairOf(lane >>> 16) + pairOf(lane >>> 8) + pairOf(lane);
}

function pairOf(bits: number): string {
  return hexPairs[bits & 0xff] ?? "";
}
