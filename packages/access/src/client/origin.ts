/** Who is behind an address, as far as an address can tell. */
import { isIP } from "node:net";

/**
 * The origin by which failures are counted and turns are given: an IPv4 address, even one written
 * as IPv6, or the /64 of an IPv6 address, because a single customer gets that much (RFC 6177 §2).
 * Other text stays as it is.
 */
export function originOf(address: string): string {
  const [bare = ""] = address.split("%", 1);
  if (isIP(bare) !== 6) return address;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped)
    return groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(":");
  return groups
    .slice(6)
    .map((group) => `${group >> 8}.${group & 0xff}`)
    .join(".");
}

/** The eight groups of a valid IPv6 address (RFC 4291 §2.2). */
function groupsOf(address: string): readonly number[] {
  const [before = "", after] = address.split("::", 2);
  const left = numbersOf(before);
  if (after === undefined) return left;
  const right = numbersOf(after);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function numbersOf(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
