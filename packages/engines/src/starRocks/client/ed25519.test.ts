import { createPublicKey, verify } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ed25519Plugin, publicKeyOf, signed } from "./ed25519.ts";

describe("client_ed25519", () => {
  it("has the public key that MariaDB keeps for a password", () => {
    // SELECT ed25519_password('secret') of MariaDB's own documentation.
    const key = publicKeyOf("secret").toString("base64").replace("=", "");
    expect(key).toBe("ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY");
  });

  it("signs what the platform's own verification takes, and nothing else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array(), (password, message) => {
        const raw = publicKeyOf(password).toString("base64url");
        const jwk = { kty: "OKP", crv: "Ed25519", x: raw };
        const key = createPublicKey({ key: jwk, format: "jwk" });
        const signature = signed(password, message);
        expect(verify(undefined, message, key, signature)).toBe(true);
        const other = Uint8Array.from([...message, 1]);
        expect(verify(undefined, other, key, signature)).toBe(false);
      }),
      { numRuns: 10 },
    );
  });

  it("signs a nonce of 32 bytes, whatever is behind it, and no shorter one", async () => {
    const answer = ed25519Plugin("secret")();
    const nonce = Buffer.alloc(33, 7);
    expect(await answer(nonce)).toEqual(signed("secret", nonce.subarray(0, 32)));
    await expect(answer(nonce.subarray(0, 31))).rejects.toThrow("too short");
  });
});
