/**
 * Certificates for tests of TLS: made in the process, so that no private key lies in the tree and
 * nothing expires. Not for production: fixed serial numbers, no revocation.
 */
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  readonly commonName: string;
}

/**
 * A certificate for `localhost` and 127.0.0.1 in the name of `commonName`, signed by `issuer` or by
 * itself. Valid from 2020 to 2120.
 */
export function certificateOf(commonName: string, issuer?: TestCertificate): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1 + (commonName.length % 100)),
    ecdsaSha256,
    nameOf(issuer?.commonName ?? commonName),
    sequence(timeOf("20200101000000Z"), timeOf("21200101000000Z")),
    nameOf(commonName),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(basicConstraints(issuer === undefined), alternativeNames())),
  );
  const certificate = sequence(body, ecdsaSha256, bitString(signatureOf(body, signer)));
  return {
    cert: pem("CERTIFICATE", certificate),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    commonName,
  };
}

function signatureOf(body: Buffer, signer: KeyObject): Buffer {
  return sign("sha256", body, signer);
}

/** DER: tag, length, content (ITU-T X.690). */
function tagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), body]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), body]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), body]);
}

function sequence(...content: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...content);
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.of(value));
}

function bitString(bytes: Uint8Array): Buffer {
  return tagged(0x03, Buffer.of(0), bytes);
}

function timeOf(text: string): Buffer {
  return tagged(0x18, Buffer.from(text, "latin1"));
}

/** One attribute: the common name (2.5.4.3). */
function nameOf(commonName: string): Buffer {
  const attribute = sequence(
    tagged(0x06, Buffer.of(0x55, 0x04, 0x03)),
    tagged(0x0c, Buffer.from(commonName, "utf8")),
  );
  return sequence(tagged(0x31, attribute));
}

/** ecdsa-with-SHA256 (1.2.840.10045.4.3.2). */
const ecdsaSha256 = sequence(
  tagged(0x06, Buffer.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)),
);

function basicConstraints(authority: boolean): Buffer {
  const content = authority ? sequence(tagged(0x01, Buffer.of(0xff))) : sequence();
  return sequence(tagged(0x06, Buffer.of(0x55, 0x1d, 0x13)), tagged(0x04, content));
}

function alternativeNames(): Buffer {
  const names = sequence(
    tagged(0x82, Buffer.from("localhost", "latin1")),
    tagged(0x87, Buffer.of(127, 0, 0, 1)),
  );
  return sequence(tagged(0x06, Buffer.of(0x55, 0x1d, 0x11)), tagged(0x04, names));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
