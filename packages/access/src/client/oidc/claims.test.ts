import { describe, expect, it } from "vitest";
import { claimAt, identityOf, listAt } from "./claims.ts";
import { oidcSchema } from "./config.ts";

const nowSecs = 1_800_000_000;
const config = oidcSchema.parse({
  issuer: "https://id.example",
  audience: "gateway",
  groupsClaim: "groups",
  rolesClaim: "roles",
});
const right = { sub: "ann", exp: nowSecs + 60 };

function identified(claims: object, more: object = {}) {
  return identityOf({ ...right, ...claims }, { ...config, ...more }, { realm: "r", unixMs });
}
const unixMs = nowSecs * 1_000;

describe("identityOf", () => {
  it.each<readonly [object]>([
    [{}],
    [{ typ: "Bearer" }],
    [{ typ: "at+jwt" }],
    [{ typ: "JWT" }],
    [{ iat: nowSecs + 60 }],
    [{ groups: null, roles: null }],
    [{ email: "ann@example.org", email_verified: false }],
  ])("takes a token that says %j", (claims) => {
    expect(identified(claims)).toMatchObject({ user: "ann", groups: [], roles: [], realm: "r" });
  });

  it.each<readonly [object]>([
    [{ typ: "ID" }],
    [{ typ: "xbearer" }],
    [{ typ: "bearerx" }],
    [{ typ: 7 }],
    [{ typ: null }],
    [{ exp: Number.NaN }],
    [{ exp: Number.POSITIVE_INFINITY }],
    [{ exp: "1800000060" }],
    [{ iat: nowSecs + 61 }],
    [{ iat: "1800000000" }],
    [{ iat: null }],
    [{ groups: 7 }],
    [{ roles: 7 }],
    [{ roles: ["a", null] }],
    [{ sub: ["ann"] }],
    [{ events: {} }],
  ])("takes none that says %j", (claims) => {
    expect(identified(claims)).toBeUndefined();
  });

  it("says how long the token is good, with the difference that clocks may have", () => {
    expect(identified({})?.expiresAtMs).toBe((right.exp + 60) * 1_000);
  });

  it("has attributes only where the configuration names some, and none for a claim that is absent", () => {
    expect(identified({ region: "EU" })).not.toHaveProperty("attributes");
    const attributeClaims = { region: "region", more: "more", none: "none" };
    const claims = { region: "EU", more: ["a", 1], none: null };
    expect(identified(claims, { attributeClaims })?.attributes).toEqual({
      region: "EU",
      more: ["a", "1"],
    });
    expect(identified({ region: {} }, { attributeClaims })).toBeUndefined();
  });
});

describe("claimAt", () => {
  const claims = {
    "a.b": "whole",
    a: { b: "led to", c: { d: 1 }, list: [{ d: 1 }], none: null, text: "x" },
  };

  it.each<readonly [string, unknown]>([
    ["a.b", "whole"],
    ["a.c.d", 1],
    ["a.none", null],
    ["a.none.d", undefined],
    ["a.list.0", undefined],
    ["a.list.length", undefined],
    ["a.text.length", undefined],
    ["a.gone.d", undefined],
    ["a.constructor", undefined],
    ["toString", undefined],
  ])("of %s is %j", (path, value) => {
    expect(claimAt(claims, path)).toEqual(value);
  });
});

describe("listAt", () => {
  it.each<readonly [unknown, readonly string[] | undefined]>([
    [undefined, []],
    [null, []],
    ["one", ["one"]],
    [
      ["a", "b", "a"],
      ["a", "b"],
    ],
    [["a", 1], undefined],
    [{ a: 1 }, undefined],
    [[""], undefined],
  ])("of %j is %j", (claim, list) => {
    expect(listAt({ groups: claim }, "groups")).toEqual(list);
    expect(listAt({ groups: claim }, undefined)).toEqual([]);
  });
});
