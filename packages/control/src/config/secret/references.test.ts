import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { referenceAllowed, secretRefsAllowedDefault } from "./references.ts";

describe("referenceAllowed", () => {
  it.each([
    "env:GATEWAY_SECRET_A",
    "env:GATEWAY_SECRET_",
    "file:/run/secrets/gateway/trino",
    "file:/run/secrets/gateway/a.b-c",
  ])("allows %s by default", (reference) => {
    expect(referenceAllowed(reference, secretRefsAllowedDefault)).toBe(true);
  });

  it.each([
    "env:PATH",
    "env:MY_GATEWAY_SECRET_A",
    "env:gateway_secret_a",
    "file:/etc/passwd",
    "file:/run/secrets/gateway",
    "file:/run/secrets/gateway/deeper/a",
    "file:/run/secrets/gateway/../fleet",
    "file:/run/secrets/gateway/..",
    "file:/run/secrets/gateway/./a",
    "file:/run/secrets/gateway/a\u0000b",
    "file:run/secrets/gateway/a",
    "GATEWAY_SECRET_A",
  ])("refuses %j by default", (reference) => {
    expect(referenceAllowed(reference, secretRefsAllowedDefault)).toBe(false);
  });

  it("allows nothing under an empty list", () => {
    expect(referenceAllowed("env:GATEWAY_SECRET_A", [])).toBe(false);
  });

  it("lets a star stand for any text without a slash, wherever it stands", () => {
    const part = fc.string({ unit: fc.constantFrom("a", "b", "/", "_"), maxLength: 4 });
    const likeRegex = fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.string({ unit: fc.constantFrom("a", "b", "/", "_"), maxLength: 12 }),
      (parts, text) => {
        const pattern = parts.join("*");
        const regex = new RegExp(`^${pattern.replaceAll("*", "[^/]*")}$`);
        expect(referenceAllowed(text, [pattern])).toBe(regex.test(text));
      },
    );
    fc.assert(likeRegex, { numRuns: 2_000 });
  });
});
