import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readIssued } from "./issued.ts";

const nowSecs = 1_800_000_000;
const daySecs = 86_400;
const good = { access_token: "tok", token_type: "Bearer" };

function livesOf(json: unknown, wanted?: string): number | undefined {
  return readIssued(json, wanted, nowSecs)?.livesSecs;
}

function jwtOf(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.sig`;
}

describe("readIssued", () => {
  it.each([
    ["a number", 60, 60],
    ["a fraction", 0.5, 0.5],
    ["a number as text", "60", 60],
    ["a huge number", 1e300, daySecs],
    ["a huge number as text", "9".repeat(20), daySecs],
    ["nothing", undefined, 0],
  ])("takes %s for a life, of a day at most", (_what, expiresIn, lives) => {
    expect(livesOf({ ...good, expires_in: expiresIn })).toBe(lives);
  });

  it.each([
    0,
    -0,
    -1,
    -1e300,
    Number.POSITIVE_INFINITY,
    Number.NaN,
    null,
    true,
    [60],
    { secs: 60 },
  ])("refuses a life of %s", (expiresIn) => {
    expect(livesOf({ ...good, expires_in: expiresIn })).toBeUndefined();
  });

  it.each(["", " ", "0", "-1", "soon", "0x10", "1e300", " 60 ", "60s", "Infinity", "٦٠"])(
    "refuses a life of %j as text",
    (expiresIn) => {
      expect(livesOf({ ...good, expires_in: expiresIn })).toBeUndefined();
    },
  );

  it("reads a number that no double holds, and keeps no token for ever", () => {
    const text = '{"access_token":"tok","token_type":"Bearer","expires_in":1e400}';
    expect(livesOf(JSON.parse(text))).toBeUndefined();
  });

  it("takes the last of two members of one name, and an error in any of them for a refusal", () => {
    const twice = (more: string): unknown =>
      JSON.parse(`{"access_token":"tok","token_type":"Bearer","expires_in":60,${more}}`);
    expect(livesOf(twice('"expires_in":1e300'))).toBe(daySecs);
    expect(livesOf(twice('"expires_in":-1'))).toBeUndefined();
    expect(livesOf(twice('"access_token":""'))).toBeUndefined();
    expect(livesOf(twice('"error":"access_denied","error":null'))).toBeUndefined();
  });

  it.each([undefined, null, "", "Basic", "bearer ", ["Bearer"], 7])(
    "refuses the token type %j",
    (type) => {
      expect(livesOf({ ...good, token_type: type, expires_in: 60 })).toBeUndefined();
    },
  );

  it.each([null, undefined, [], [good], "tok", 7])("takes %j for no answer", (json) => {
    expect(livesOf(json)).toBeUndefined();
  });

  it("takes the token type in any case", () => {
    expect(livesOf({ ...good, token_type: "bEARER", expires_in: 60 })).toBe(60);
  });

  it("misses the kind of the token only where one was asked for", () => {
    const kind = "urn:example:kind";
    expect(livesOf({ ...good, expires_in: 60 })).toBe(60);
    expect(livesOf({ ...good, expires_in: 60 }, kind)).toBeUndefined();
    expect(livesOf({ ...good, expires_in: 60, issued_token_type: kind }, kind)).toBe(60);
    for (const odd of [null, 7, [kind], "urn:example:other"]) {
      expect(livesOf({ ...good, expires_in: 60, issued_token_type: odd }, kind)).toBeUndefined();
    }
    expect(livesOf({ ...good, expires_in: 60, issued_token_type: 7 })).toBeUndefined();
  });

  it("reads the end in the token itself where nobody says, and refuses nonsense", () => {
    const lives = (exp: unknown): number | undefined =>
      livesOf({ ...good, access_token: jwtOf({ exp }) });
    expect(lives(nowSecs + 60)).toBe(60);
    expect(lives(1e300)).toBe(daySecs);
    const endless = Buffer.from('{"exp":1e400}').toString("base64url");
    expect(livesOf({ ...good, access_token: `e30.${endless}.sig` })).toBeUndefined();
    for (const exp of [nowSecs, 0, -1, "9999999999", [9_999_999_999], {}, null, true]) {
      expect(lives(exp)).toBeUndefined();
    }
  });

  it("answers with a token that is good for a day at most, or with none, whatever it is given", () => {
    const odd = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom("tok", "Bearer", 60, "60"));
    const names = ["access_token", "token_type", "expires_in", "issued_token_type", "error"];
    const answers = fc.dictionary(fc.constantFrom(...names), odd);
    fc.assert(
      fc.property(answers, (answer) => {
        const lives = livesOf({ ...good, ...answer });
        expect(lives === undefined || (lives >= 0 && lives <= daySecs)).toBe(true);
      }),
    );
  });
});
