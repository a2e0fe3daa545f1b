import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { saslPrepared } from "./saslPrep.ts";
import { checkProof, fakeVerifier, newVerifier, readVerifier } from "./scram.ts";

describe("readVerifier and checkProof", () => {
  it("agree with the example of RFC 7677", () => {
    const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
    const salted = pbkdf2Sync("pencil", salt, 4096, 32, "sha256");
    const clientKey = createHmac("sha256", salted).update("Client Key").digest();
    const stored = createHash("sha256").update(clientKey).digest("base64");
    const server = createHmac("sha256", salted).update("Server Key").digest("base64");
    const text = `SCRAM-SHA-256$4096:${salt.toString("base64")}$${stored}:${server}`;
    const verifier = readVerifier(text);
    if (verifier === undefined) throw new Error("not read");
    const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    const authMessage = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=${nonce}`;
    const proof = Buffer.from("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "base64");
    const signature = checkProof(verifier, authMessage, proof);
    expect(Buffer.from(signature ?? []).toString("base64")).toBe(
      "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    );
    const flipped = Uint8Array.from(proof, (byte, index) => (index === 7 ? byte ^ 1 : byte));
    expect(checkProof(verifier, authMessage, flipped)).toBeUndefined();
    expect(checkProof(verifier, `${authMessage} `, proof)).toBeUndefined();
    expect(checkProof(verifier, authMessage, Buffer.concat([proof, Buffer.of(0)]))).toBeUndefined();
    expect(checkProof(verifier, authMessage, new Uint8Array(0))).toBeUndefined();
  });

  it.each(["", "md5abc", "SCRAM-SHA-256$0:aaaa$x:y", "SCRAM-SHA-256$4096:aaaa$short=:short="])(
    "takes %j for no verifier",
    (text) => expect(readVerifier(text)).toBeUndefined(),
  );
});

describe("fakeVerifier", () => {
  it("looks like one of the real ones, and like a new one where there is none", async () => {
    const key = Uint8Array.of(1, 2, 3);
    const real = { ...fakeVerifier(key, "ann", []), iterations: 9_000, salt: new Uint8Array(7) };
    expect(fakeVerifier(key, "bob", [real])).toMatchObject({ iterations: 9_000 });
    expect(fakeVerifier(key, "bob", [real]).salt).toHaveLength(7);
    const made = await newVerifier("a");
    const fresh = made.ok ? readVerifier(made.value) : undefined;
    const unlike = fakeVerifier(key, "bob", []);
    expect(unlike.iterations).toBe(fresh?.iterations);
    expect(unlike.salt).toHaveLength(fresh?.salt.length ?? 0);
    expect(unlike).toEqual(fakeVerifier(key, "bob", []));
    expect(unlike.storedKey).not.toEqual(fakeVerifier(key, "cyd", []).storedKey);
  });
});

describe("newVerifier", () => {
  it("has a salt of its own each time and refuses the empty password", async () => {
    const [one, two] = [await newVerifier("a"), await newVerifier("a")];
    expect(one.ok && two.ok && one.value !== two.value).toBe(true);
    expect(one.ok && readVerifier(one.value)?.iterations).toBe(4096);
    expect(await newVerifier("")).toEqual({ ok: false, error: "empty" });
  });
});

describe("fakeVerifier", () => {
  it("looks like a real one and is the same for the same name and key", async () => {
    const made = await newVerifier("a");
    const real = made.ok ? [readVerifier(made.value)].filter((one) => one !== undefined) : [];
    const key = new Uint8Array(32).fill(7);
    const fake = fakeVerifier(key, "nobody", real);
    expect(fakeVerifier(key, "nobody", real)).toEqual(fake);
    expect(fakeVerifier(key, "somebody", real).salt).not.toEqual(fake.salt);
    expect([fake.iterations, fake.salt.length]).toEqual([4096, 16]);
  });
});

describe("saslPrepared", () => {
  it("follows the examples of RFC 4013 and leaves alone what it forbids", () => {
    expect(saslPrepared("I\u00adX")).toBe("IX");
    expect(saslPrepared("user")).toBe("user");
    expect(saslPrepared("\u00aa")).toBe("a");
    expect(saslPrepared("\u2168")).toBe("IX");
    expect(saslPrepared("a\u00a0b")).toBe("a b");
    expect(saslPrepared("bell\u0007")).toBe("bell\u0007");
  });
});
