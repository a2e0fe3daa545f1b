import { constants, publicEncrypt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makePasswordKey, passwordText } from "./passwordKey.ts";

const nonce = Buffer.from("abcdefghijklmnopqrst");

describe("makePasswordKey", () => {
  it("opens what a client encrypts as MySQL's plugin does, and only under its own challenge", async () => {
    const key = await makePasswordKey();
    const sealed = sealOf("päss", key.publicPem, nonce);
    expect(await key.open(sealed, nonce)).toBe("päss");
    expect(await key.open(sealed, Buffer.from("another challenge!!!"))).toBeUndefined();
  });

  it("answers undefined for another key's text and for garbage", async () => {
    const key = await makePasswordKey();
    const other = await makePasswordKey();
    expect(await key.open(sealOf("x", other.publicPem, nonce), nonce)).toBeUndefined();
    expect(await key.open(new Uint8Array(256), nonce)).toBeUndefined();
    expect(await key.open(Buffer.from("secret\0"), nonce)).toBeUndefined();
  });
});

describe("passwordText", () => {
  it("wants exactly the NUL at the end that clients send", () => {
    expect(passwordText(Buffer.from("secret\0"))).toBe("secret");
    expect(passwordText(Buffer.from("secret"))).toBeUndefined();
    expect(passwordText(Uint8Array.of(0xff, 0))).toBeUndefined();
  });
});

/** A password as clients send it: masked by the challenge, then encrypted with RSA-OAEP over SHA-1. */
function sealOf(password: string, key: string, challenge: Uint8Array): Uint8Array {
  const masked = Buffer.from(`${password}\0`).map(
    (byte, index) => byte ^ (challenge[index % challenge.length] ?? 0),
  );
  return publicEncrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha1" },
    masked,
  );
}
