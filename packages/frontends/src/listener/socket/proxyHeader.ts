/**
 * The header a balancer puts before a connection to say who the client is (PROXY protocol, versions
 * 1 and 2). Pure: bytes in, an address or a refusal out.
 */
import { isIP } from "node:net";
import { proxyHeaderBytesMax, proxyLineBytesMax } from "../limits.ts";
import { plainAddress } from "../tls.ts";

export type ProxyHeader =
  /** The header is not complete yet. */
  | { readonly kind: "more" }
  /** No PROXY header, or one that breaks its rules or limits. */
  | { readonly kind: "bad" }
  /** `address` is undefined when the balancer speaks for itself (health checks) or knows no address. */
  | { readonly kind: "done"; readonly length: number; readonly address: string | undefined };

const more: ProxyHeader = { kind: "more" };
const bad: ProxyHeader = { kind: "bad" };
const signature = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10);
const line = new TextEncoder().encode("PROXY ");
const fixedBytes = 16;

/** Reads the header at the start of `bytes`. Never asks for more than its limits. */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (startsLike(bytes, signature)) return bytes.length < fixedBytes ? more : readBinary(bytes);
  if (startsLike(bytes, line)) return readLine(bytes);
  return bad;
}

/** True when they are equal as far as both have bytes. */
function startsLike(bytes: Uint8Array, start: Uint8Array): boolean {
  const length = Math.min(bytes.length, start.length);
  for (let index = 0; index < length; index += 1) {
    if (bytes[index] !== start[index]) return false;
  }
  return true;
}

/** `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n` */
function readLine(bytes: Uint8Array): ProxyHeader {
  const end = bytes.subarray(0, proxyLineBytesMax).indexOf(10);
  if (end === -1) return bytes.length < proxyLineBytesMax ? more : bad;
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, end + 1));
  if (!text.endsWith("\r\n")) return bad;
  const words = text.slice(0, -2).split(" ");
  if (words[1] === "UNKNOWN") return { kind: "done", length: end + 1, address: undefined };
  const [, family, source = "", target = "", sourcePort = "", targetPort = ""] = words;
  const version = family === "TCP4" ? 4 : 6;
  const valid =
    words.length === 6 &&
    (family === "TCP4" || family === "TCP6") &&
    isIP(source) === version &&
    isIP(target) === version &&
    isPort(sourcePort) &&
    isPort(targetPort);
  return valid ? { kind: "done", length: end + 1, address: plainAddress(source) } : bad;
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

function readBinary(bytes: Uint8Array): ProxyHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const command = view.getUint8(12);
  const family = view.getUint8(13);
  const length = fixedBytes + view.getUint16(14);
  if (length > proxyHeaderBytesMax) return bad;
  if (command !== 0x20 && command !== 0x21) return bad;
  if (bytes.length < length) return more;
  // LOCAL: the balancer speaks for itself. Only TCP over IPv4 and IPv6 carry an address that we know.
  if (command === 0x20) return { kind: "done", length, address: undefined };
  const body = bytes.subarray(fixedBytes, length);
  if (family === 0x11)
    return body.length < 12 ? bad : done(length, Array.from(body.subarray(0, 4)).join("."));
  if (family === 0x21) return body.length < 36 ? bad : done(length, ipv6Text(body));
  return { kind: "done", length, address: undefined };
}

function done(length: number, address: string): ProxyHeader {
  return { kind: "done", length, address: plainAddress(address) };
}

/** The canonical text (RFC 5952), which the URL parser writes. */
function ipv6Text(body: Uint8Array): string {
  const groups: string[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push((((body[index] ?? 0) << 8) | (body[index + 1] ?? 0)).toString(16));
  }
  const mapped = groups.slice(0, 5).every((group) => group === "0") && groups[5] === "ffff";
  if (mapped) return Array.from(body.subarray(12, 16)).join(".");
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
