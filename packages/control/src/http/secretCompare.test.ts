import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bearerOf, sameSecret, secretFinder, tokenHashOf } from "./secretCompare.ts";

describe("bearerOf", () => {
  it("reads the token behind the scheme, however that is spelled", () => {
    expect(bearerOf(requestOf("Bearer abc"))).toBe("abc");
    expect(bearerOf(requestOf("bEARER  a b=/+$"))).toBe("a b=/+$");
  });

  it("answers nothing for other schemes, an empty token and no header", () => {
    for (const header of ["Basic YTpi", "Bearer", "Bearer ", "abc", "xBearer abc"]) {
      expect(bearerOf(requestOf(header))).toBeUndefined();
    }
    expect(bearerOf(new Request("http://control/"))).toBeUndefined();
  });
});

describe("sameSecret", () => {
  it("is equality of texts", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(sameSecret(a, a)).toBe(true);
        expect(sameSecret(a, b)).toBe(a === b);
      }),
    );
  });
});

describe("secretFinder", () => {
  it("finds each secret of the list and nothing else", () => {
    const find = secretFinder([new Secret("current".repeat(5)), new Secret("previous".repeat(5))]);
    expect(find("current".repeat(5))).toBe(0);
    expect(find("previous".repeat(5))).toBe(1);
    expect(find("current")).toBeUndefined();
    expect(find("")).toBeUndefined();
  });

  it("finds nothing in an empty list", () => {
    expect(secretFinder([])("")).toBeUndefined();
  });
});

describe("tokenHashOf", () => {
  it("is the SHA-256 in lower-case hex", () => {
    expect(tokenHashOf("abc")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});

function requestOf(authorization: string): Request {
  return new Request("http://control/", { headers: { authorization } });
}
