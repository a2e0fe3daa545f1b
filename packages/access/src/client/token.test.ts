import { describe, expect, it } from "vitest";
import { looksLikeToken, readHead } from "./token.ts";

describe("readHead", () => {
  it("takes tokens that say they are for access, or say nothing", () => {
    for (const typ of [undefined, "JWT", "jwt", "at+jwt", "application/at+jwt"]) {
      expect(readHead(tokenOf({ alg: "RS256", typ }))).toEqual({
        algorithm: "RS256",
        keyId: undefined,
      });
    }
  });

  it("takes no token of another kind, whatever its type would be as a text", () => {
    for (const typ of ["logout+jwt", "dpop+jwt", "", null, 7, ["JWT"], [["at+jwt"]], { a: 1 }]) {
      expect(readHead(tokenOf({ alg: "RS256", typ }))).toBeUndefined();
    }
  });

  it("takes a key's name that is a text of at most 256 characters", () => {
    const named = (kid: unknown) => readHead(tokenOf({ alg: "ES256", kid }))?.keyId;
    expect(named("k".repeat(256))).toBe("k".repeat(256));
    expect(named("k".repeat(257))).toBeUndefined();
    expect(readHead(tokenOf({ alg: "ES256", kid: ["k"] }))).toBeUndefined();
    expect(readHead(tokenOf({ alg: "ES256", kid: null }))).toBeUndefined();
  });

  it("takes no algorithm but the asymmetric ones", () => {
    for (const alg of ["HS256", "none", "rs256", ["RS256"], undefined]) {
      expect(readHead(tokenOf({ alg }))).toBeUndefined();
    }
  });

  it.each(["crit", "b64", "enc", "zip"])("takes none whose head says %s", (name) => {
    expect(readHead(tokenOf({ alg: "RS256", more: true }))).toBeDefined();
    expect(readHead(tokenOf({ alg: "RS256", [name]: true }))).toBeUndefined();
  });

  it("takes a token of the longest that is taken, and none that is longer", () => {
    const whole = (length: number) => {
      const head = tokenOf({ alg: "RS256" }, "");
      return head + "A".repeat(length - head.length);
    };
    expect(readHead(whole(32_768))).toBeDefined();
    expect(readHead(whole(32_769))).toBeUndefined();
    expect(readHead(whole(32_772))).toBeUndefined();
    expect(looksLikeToken(whole(32_768))).toBe(true);
    expect(looksLikeToken(whole(32_772))).toBe(false);
  });

  it("takes one spelling of each part alone", () => {
    const [head, body] = tokenOf({ alg: "RS256" }).split(".");
    // Two bytes are three letters whose last has two bits to spare, one byte two with four.
    for (const [right, wrong] of [
      ["AAA", "AAB"],
      ["AAA", "AAC"],
      ["AA", "AB"],
      ["AA", "AI"],
    ]) {
      expect(readHead(`${head}.${body}.${right}`)).toBeDefined();
      expect(readHead(`${head}.${body}.${wrong}`)).toBeUndefined();
    }
    expect(readHead(`${head}.${body}.AAAAA`)).toBeUndefined();
    expect(readHead(`${head}.${body}`)).toBeUndefined();
  });

  it("takes no head or body that is no object", () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const value of [[], null, "x", 1]) {
      expect(readHead(`${part({ alg: "RS256" })}.${part(value)}.AAAA`)).toBeUndefined();
      expect(readHead(`${part(value)}.${part({})}.AAAA`)).toBeUndefined();
    }
  });
});

function tokenOf(header: object, signature = "AAAA"): string {
  const parts = [header, { sub: "ann" }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  return [...parts, signature].join(".");
}
