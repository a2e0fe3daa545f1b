/**
 * MariaDB's `client_ed25519`: the server sends a nonce, and the client signs it (RFC 8032 §5.1.6) by its password.
 *
 * The key is the SHA-512 of the password itself, of any length, where the standard hashes a seed of 32 bytes; so the
 * platform's own signatures do not make it. Numbers are not computed in constant time: what a login takes is seen by the
 * server alone, over a network.
 */
import { createHash } from "node:crypto";

const nonceBytes = 32;
const prime = 2n ** 255n - 19n;
const order = 2n ** 252n + 27742317777372353535851937790883648493n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const baseX = 15112221349535400772501151409588531511454012693041857206046113283949847762202n;
const baseY = 46316835694926478169428394003475163141307993866256225615783033603165251855960n;

/** X, Y, Z and T = XY/Z (§5.1.4). */
type Point = readonly [bigint, bigint, bigint, bigint];

const base: Point = [baseX, baseY, 1n, mod(baseX * baseY)];
const neutral: Point = [0n, 1n, 1n, 0n];

/** What mysql2 calls for the plugin: the answer to the server's nonce. Rejects, and fails the login, where that is none. */
export function ed25519Plugin(password: string): () => (nonce: Buffer) => Promise<Buffer> {
  return () => (nonce) =>
    nonce.length < nonceBytes
      ? Promise.reject(new Error("a nonce of ed25519 that is too short"))
      : Promise.resolve(signed(password, nonce.subarray(0, nonceBytes)));
}

/** The signature of a message: 64 bytes. */
export function signed(password: string, message: Uint8Array): Buffer {
  const { scalar, prefix } = keyOf(password);
  const publicKey = encoded(times(scalar, base));
  const secret = numberOf(sha512(prefix, message)) % order;
  const first = encoded(times(secret, base));
  const challenge = numberOf(sha512(first, publicKey, message)) % order;
  return Buffer.concat([first, bytesOf((secret + challenge * scalar) % order)]);
}

/** The public key, which the server keeps: 32 bytes. */
export function publicKeyOf(password: string): Buffer {
  return encoded(times(keyOf(password).scalar, base));
}

function keyOf(password: string): { readonly scalar: bigint; readonly prefix: Buffer } {
  const hash = sha512(Buffer.from(password, "utf8"));
  const low = Buffer.from(hash.subarray(0, 32));
  low[0] = (low[0] ?? 0) & 0xf8;
  low[31] = ((low[31] ?? 0) & 0x7f) | 0x40;
  return { scalar: numberOf(low), prefix: hash.subarray(32) };
}

function sha512(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function times(scalar: bigint, point: Point): Point {
  let sum = neutral;
  let doubled = point;
  for (let left = scalar; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) sum = added(sum, doubled);
    doubled = added(doubled, doubled);
  }
  return sum;
}

/** The same formula doubles a point. */
function added([x1, y1, z1, t1]: Point, [x2, y2, z2, t2]: Point): Point {
  const a = mod((y1 - x1) * (y2 - x2));
  const b = mod((y1 + x1) * (y2 + x2));
  const c = mod(2n * t1 * d * t2);
  const twice = mod(2n * z1 * z2);
  const [e, f, g, h] = [b - a, twice - c, twice + c, b + a];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function encoded([x, y, z]: Point): Buffer {
  const inverse = power(z, prime - 2n);
  const bytes = bytesOf(mod(y * inverse));
  if ((mod(x * inverse) & 1n) === 1n) bytes[31] = (bytes[31] ?? 0) | 0x80;
  return bytes;
}

function power(value: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = value;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

function mod(value: bigint): bigint {
  const rest = value % prime;
  return rest < 0n ? rest + prime : rest;
}

/** Little-endian. */
function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`);
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex").toReversed());
}
