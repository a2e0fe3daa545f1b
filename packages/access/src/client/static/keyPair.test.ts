import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Host } from "@gateway/core/port/host.ts";
import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { Secret } from "@gateway/core/secret.ts";
import { authSchema, type StaticUser } from "../config.ts";
import { staticAuthenticator } from "./static.ts";

const at = { frontend: "snowflakeHttp", address: "127.0.0.1" };
const nowSecs = virtualStartUnixMs / 1_000;

interface Pair {
  readonly secret: KeyObject;
  readonly pem: string;
  readonly base64: string;
  readonly fingerprint: string;
}

let first: Pair;
let second: Pair;
let foreign: Pair;
beforeAll(() => {
  [first, second, foreign] = [pairOf(), pairOf(), pairOf()];
});

describe("a login by key pair", () => {
  it("is the user's whose key signed it, with either of two keys, and leaves nothing to pass through", async () => {
    const { ask } = opened();
    for (const pair of [first, second]) {
      expect(await ask(tokenOf(pair))).toMatchObject({
        ok: true,
        value: {
          identity: { user: "ann", groups: ["readers"], method: "static" },
          credential: { kind: "none" },
        },
      });
    }
    expect(await ask(tokenOf(first), "Ann")).toMatchObject({ ok: true });
    expect(
      await ask(tokenOf(first, { iat: nowSecs * 1_000, exp: nowSecs * 1_000 + 120_000 })),
    ).toMatchObject({ ok: true });
  });

  it("is refused alike whatever is wrong with its token", async () => {
    const { ask } = opened();
    const { fingerprint } = first;
    const right = tokenOf(first);
    const refused: [string, string, string?][] = [
      ["forged: signed by another key", tokenOf(first, {}, { signer: foreign })],
      ["a key of nobody", tokenOf(foreign)],
      [
        "the other user's key",
        tokenOf(second, { sub: "ACME.BOB", iss: `ACME.BOB.${second.fingerprint}` }),
      ],
      ["a user without keys", tokenOf(first, { sub: "ACME.EVE", iss: `ACME.EVE.${fingerprint}` })],
      ["nobody", tokenOf(first, { sub: "ACME.MAL", iss: `ACME.MAL.${fingerprint}` })],
      ["another account", tokenOf(first, { sub: "OTHER.ANN", iss: `OTHER.ANN.${fingerprint}` })],
      [
        "issuer and subject differ",
        tokenOf(first, { sub: "ACME.ANN", iss: `ACME.BOB.${fingerprint}` }),
      ],
      ["no fingerprint", tokenOf(first, { iss: "ACME.ANN" })],
      ["expired", tokenOf(first, { iat: nowSecs - 300, exp: nowSecs - 61 })],
      [
        "older than an hour, whatever its end",
        tokenOf(first, { iat: nowSecs - 3_661, exp: nowSecs + 1e9 }),
      ],
      ["from the future", tokenOf(first, { iat: nowSecs + 120, exp: nowSecs + 180 })],
      ["not yet", tokenOf(first, { nbf: nowSecs + 120 })],
      ["without an end", tokenOf(first, { exp: undefined })],
      ["without a beginning", tokenOf(first, { iat: undefined })],
      ["with an issuer that is no text", tokenOf(first, { iss: 7 })],
      ["with a subject that is no text", tokenOf(first, { sub: 7 })],
      ["with an end that is no number", tokenOf(first, { exp: "x" })],
      ["with a beginning that is no number", tokenOf(first, { nbf: "x" })],
      [
        "changed",
        right.replace(/\.[\w-]+\./, `.${part({ ...claimsOf(first), sub: "ACME.BOB" })}.`),
      ],
      ["unsigned", `${part({ alg: "none" })}.${part(claimsOf(first))}.`],
      ["of a symmetric algorithm", tokenOf(first, {}, { algorithm: "HS256" })],
      ["of another algorithm", tokenOf(first, {}, { algorithm: "RS512" })],
      ["in another spelling", `${right}=`],
      ["no token", "x"],
      ["of another than who logs in", right, "bob"],
    ];
    for (const [why, token, claimed] of refused) {
      expect([why, await ask(token, claimed)]).toEqual([
        why,
        { ok: false, error: expect.objectContaining({ code: "auth.refused" }) },
      ]);
    }
  });

  it.each<readonly [string, object, boolean]>([
    ["from as far ahead as clocks may differ", { iat: nowSecs + 60, exp: nowSecs + 90 }, true],
    ["from further ahead", { iat: nowSecs + 60.001, exp: nowSecs + 90 }, false],
    ["that just ended, as clocks may differ", { exp: nowSecs - 59.999 }, true],
    ["that ended before", { exp: nowSecs - 60 }, false],
    ["of nearly an hour", { iat: nowSecs - 3_659, exp: nowSecs + 1e9 }, true],
    ["for no account", { sub: "ANN" }, false],
  ])("takes a token %s or does not: %j", async (_, claims, isTaken) => {
    const { sub = "ACME.ANN" } = claims as { sub?: string };
    const iss = `${sub}.${first.fingerprint}`;
    expect(await opened().ask(tokenOf(first, { ...claims, iss }))).toMatchObject({ ok: isTaken });
  });

  it("is nobody's where the configuration names no account, and one's with the second key alone", async () => {
    const second2 = opened({ rsaPublicKey2: second.base64 });
    expect(await second2.ask(tokenOf(second))).toMatchObject({ ok: true });
    const unnamed = opened(undefined, "");
    const nameless = tokenOf(first, { sub: ".ANN", iss: `.ANN.${first.fingerprint}` });
    expect(await unnamed.ask(nameless)).toMatchObject({ ok: false });
  });

  it("is refused once its key is gone from the config, or its account another", async () => {
    const { ask } = opened({ rsaPublicKey: first.pem });
    expect(await ask(tokenOf(second))).toMatchObject({ ok: false });
    expect(await ask(tokenOf(first))).toMatchObject({ ok: true });
    expect(await opened({ rsaPublicKey: first.pem }, "other").ask(tokenOf(first))).toMatchObject({
      ok: false,
    });
  });

  it("leaves a user who has keys only without any password", async () => {
    const { authenticator } = opened();
    const shown = (user: string) =>
      ({ kind: "password", user, password: new Secret("x") }) as const;
    expect(await authenticator.authenticate(shown("eve"), at)).toMatchObject({ ok: true });
    expect(await authenticator.authenticate(shown("ann"), at)).toMatchObject({ ok: false });
  });
});

describe("keys in the config", () => {
  it("are RSA keys of a sure length, for an account that is named and names that differ", () => {
    const problems = (users: object, account?: string): readonly string[] => {
      const read = authSchema.safeParse({ provider: "static", staticUsers: { account, users } });
      return read.success ? [] : read.error.issues.map(({ path }) => path.slice(1).join("."));
    };
    const rsaPublicKey = first.pem;
    const short = pairOf(1_024).base64;
    const long = "A".repeat(4_097);
    const { publicKey } = generateKeyPairSync("ed25519");
    const other = publicKey.export({ format: "pem", type: "spki" });
    expect(problems({ ann: { rsaPublicKey, rsaPublicKey2: second.base64 } }, "acme")).toEqual([]);
    for (const wrong of [short, long, other.toString(), "x", ""]) {
      expect(problems({ ann: { rsaPublicKey: wrong } }, "acme")).toContain(
        "users.ann.rsaPublicKey",
      );
    }
    expect(problems({ ann: {} }, "acme")).toEqual(["users.ann.passwordHash"]);
    expect(problems({ ann: { rsaPublicKey } })).toEqual(["account"]);
    const same = { ann: { rsaPublicKey }, ANN: { rsaPublicKey } };
    expect(problems(same, "acme")).toEqual(["users.ANN.rsaPublicKey"]);
  });
});

function pairOf(modulusLength = 2_048): Pair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength });
  const der = publicKey.export({ format: "der", type: "spki" });
  return {
    secret: privateKey,
    pem: publicKey.export({ format: "pem", type: "spki" }).toString(),
    base64: der.toString("base64"),
    fingerprint: `SHA256:${createHash("sha256").update(der).digest("base64")}`,
  };
}

function opened(
  keys: Partial<StaticUser> = { rsaPublicKey: first.pem, rsaPublicKey2: second.base64 },
  account: string | undefined = "acme",
) {
  const host: Host = { ...virtualHost(1), threads: { start: yes } };
  const passwordHash = `$2b$04$${"x".repeat(53)}`;
  const users = {
    ann: { ...keys, groups: ["readers"], roles: [] },
    bob: { rsaPublicKey: foreign.pem, groups: [], roles: [] },
    eve: { passwordHash, groups: [], roles: [] },
  };
  const authenticator = staticAuthenticator(
    { required: true, staticUsers: { account, users } },
    host,
  );
  const ask = (token: string, user?: string) => {
    asked += 1;
    // Each from an address of its own, so that guessing is not slowed down.
    const from = { ...at, address: `198.51.${asked}.1` };
    return authenticator.authenticate({ kind: "keyPair", token: new Secret(token), user }, from);
  };
  return { authenticator, ask };
}

let asked = 0;

/** A thread that says of every password that it matches. */
function yes(): Thread {
  let answer: (message: unknown) => void = () => {};
  return {
    post: (message) => answer({ id: (message as { id: number }).id, match: true, hash: "" }),
    onMessage: (handle) => {
      answer = handle;
    },
    onExit: () => {},
    ref: () => {},
    terminate: async () => {},
  };
}

function claimsOf({ fingerprint }: Pair) {
  const iss = `ACME.ANN.${fingerprint}`;
  return { iss, sub: "ACME.ANN", iat: nowSecs, exp: nowSecs + 60 };
}

function tokenOf(
  pair: Pair,
  claims: Readonly<Record<string, unknown>> = {},
  {
    signer = pair,
    algorithm = "RS256",
  }: { readonly signer?: Pair; readonly algorithm?: string } = {},
): string {
  const text = `${part({ alg: algorithm, typ: "JWT" })}.${part({ ...claimsOf(pair), ...claims })}`;
  const digest = algorithm === "RS512" ? "RSA-SHA512" : "RSA-SHA256";
  return `${text}.${sign(digest, Buffer.from(text), signer.secret).toString("base64url")}`;
}

function part(document: object): string {
  return Buffer.from(JSON.stringify(document)).toString("base64url");
}
