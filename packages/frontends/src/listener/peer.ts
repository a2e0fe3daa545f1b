/**
 * What a TLS connection says of its two ends: the names of a verified client certificate, and the hash
 * of our own certificate to which a login can be bound.
 */
import { createHash } from "node:crypto";
import type { TLSSocket } from "node:tls";

/** Where the name of a client stands in its certificate. */
export type CertificateUser = "none" | "cn" | "san";

/** The most names of one certificate, and the longest of them. */
const namesMax = 64;
const nameLengthMax = 256;

/**
 * The names of the client's certificate: its common names, or its alternative names of the kinds DNS,
 * e-mail and URI. Empty without a certificate that was verified against `clientCaFile`.
 */
export function certificateNames(socket: TLSSocket, from: CertificateUser): readonly string[] {
  if (from === "none" || !socket.authorized) return [];
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return [];
  const names =
    from === "cn" ? commonNames(certificate.subject) : altNames(certificate.subjectAltName ?? "");
  return names.filter(isUsable).slice(0, namesMax);
}

function isUsable(name: string): boolean {
  return name !== "" && name.length <= nameLengthMax && !hasControl(name);
}

/** Reads the subject: one attribute a line. The library escapes line breaks. */
function commonNames(subject: string | undefined): readonly string[] {
  const lines = (subject ?? "").split("\n").filter((line) => line.startsWith("CN="));
  // With a backslash a name holds an escape or several parts: it is no plain name.
  return lines.map((line) => line.slice(3)).filter((name) => !name.includes("\\"));
}

/** Reads `DNS:a, email:b, URI:"c, d"`, where a name that could be taken for two is quoted. */
function altNames(text: string): readonly string[] {
  const names: string[] = [];
  const entry = /(DNS|email|URI|[A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;
  for (let match = entry.exec(text); match !== null; match = entry.exec(text)) {
    const [, kind = "", name = ""] = match;
    const known = kind === "DNS" || kind === "email" || kind === "URI";
    // Only a name with characters that no user's name needs is quoted.
    if (known && !name.startsWith('"')) names.push(name);
  }
  return names;
}

function hasControl(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const unit = name.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

/**
 * The channel binding `tls-server-end-point` (RFC 5929 §4.1): our certificate under the hash of its own
 * signature, SHA-256 where that is MD5 or SHA-1. Undefined where the signature names no hash.
 */
export function serverEndPoint(socket: TLSSocket): Uint8Array | undefined {
  const certificate = socket.getX509Certificate()?.raw;
  const hash =
    certificate === undefined ? undefined : signatureHashes.get(signatureOf(certificate));
  if (certificate === undefined || hash === undefined) return undefined;
  return createHash(hash).update(certificate).digest();
}

/** The hash of each signature, by the signature's object identifier in hex. */
const signatureHashes: ReadonlyMap<string, string> = new Map([
  ["2a864886f70d010104", "sha256"],
  ["2a864886f70d010105", "sha256"],
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha256"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
]);

/** `Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OID … }, … }` (RFC 5280 §4.1). */
function signatureOf(certificate: Buffer): string {
  const outer = headOf(certificate, 0);
  const signed = headOf(certificate, outer.from);
  const algorithm = headOf(certificate, signed.to);
  const identifier = headOf(certificate, algorithm.from);
  return certificate.subarray(identifier.from, identifier.to).toString("hex");
}

/** Where the content of the DER element at `at` begins and ends. The library has parsed it before. */
function headOf(der: Buffer, at: number): { readonly from: number; readonly to: number } {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { from: at + 2, to: at + 2 + first };
  const count = Math.min(first & 0x7f, 4);
  const length = count === 0 ? 0 : der.readUIntBE(at + 2, count);
  return { from: at + 2 + count, to: at + 2 + count + length };
}
