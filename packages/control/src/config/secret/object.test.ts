import { randomBytes } from "node:crypto";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import type { ConfigObject } from "../file.ts";
import { keyRing, type KeyRing } from "./keyRing.ts";
import { hideSecrets, openObject, resealObject, sealObject } from "./object.ts";

describe("hideSecrets", () => {
  it("shows that a secret is set, and a reference as it is", () => {
    expect(hideSecrets(historyOf("clear"))).toEqual({
      endpoint: "https://a.example",
      auth: { bearer: { set: true } },
    });
    const reference = { secretRef: "env:GATEWAY_SECRET_A" };
    expect(hideSecrets(historyOf(reference))).toMatchObject({ auth: { bearer: reference } });
  });

  it("hides a part that this release does not know", () => {
    const object: ConfigObject = {
      kind: "cluster",
      name: "a",
      body: { engine: "duckDb", password: "clear", nested: { token: "clear" } },
    };
    expect(JSON.stringify(hideSecrets(object))).not.toContain("clear");
  });

  it("shows routing whole", () => {
    const body = { routers: [{ type: "header", headerName: "a" }], routingFallback: "g" };
    expect(hideSecrets({ kind: "routing", name: "routing", body })).toEqual(body);
  });
});

describe("sealObject", () => {
  it("holds no secret in clear and opens to the same body", () => {
    const object = historyOf("clear");
    const sealed = sealObject(ring, object);
    expect(JSON.stringify(sealed)).not.toContain("clear");
    expect(sealed.keyIds).toEqual([ring.currentId]);
    expect(openObject(ring, { ...object, body: sealed.body })).toEqual({
      ok: true,
      value: object.body,
    });
  });

  it("names no key where there is nothing to seal", () => {
    const object = historyOf({ secretRef: "env:GATEWAY_SECRET_A" });
    expect(sealObject(ring, object)).toEqual({ body: object.body, keyIds: [] });
  });
});

describe("openObject", () => {
  it("does not open a secret that was moved to another user", () => {
    const object = usersOf({ ann: "annsHash", bob: "bobsHash" });
    const text = JSON.stringify(sealObject(ring, object).body);
    const [ann, bob] = [...text.matchAll(/"v1\.[^"]+"/g)].map(([match]) => match);
    const swapped = text.replace(`${ann}`, "?").replace(`${bob}`, `${ann}`).replace("?", `${bob}`);
    const error = { code: "notAuthentic", keyId: ring.currentId };
    expect(openObject(ring, { ...object, body: JSON.parse(swapped) })).toEqual({
      ok: false,
      error,
    });
  });

  it("does not open a secret that was moved to another object", () => {
    const body = sealObject(ring, historyOf("clear")).body;
    const elsewhere: ConfigObject = { kind: "setting", name: "auth", body };
    expect(openObject(ring, elsewhere).ok).toBe(false);
  });

  it("names the key it lacks", () => {
    const object = historyOf("clear");
    const { body } = sealObject(ringOf("b"), object);
    const error = { code: "keyUnknown", keyId: ringOf("b").currentId };
    expect(openObject(ring, { ...object, body })).toEqual({ ok: false, error });
  });
});

describe("resealObject", () => {
  it("puts what is sealed under the current key, also where this release knows no secret", () => {
    const old = ringOf("b");
    const cell = {
      table: "config_documents",
      row: "cluster/a",
      field: '["clusters","a","later"]',
    };
    const body = { engine: "duckDb", later: { $sealed: old.sealText('"clear"', cell) } };
    const object: ConfigObject = { kind: "cluster", name: "a", body };
    const both = ringOf("a", "b");
    const resealed = resealObject(both, object);
    if (!resealed.ok) throw new Error(resealed.error.code);
    expect(resealed.value.keyIds).toEqual([ring.currentId]);
    expect(openObject(ring, { ...object, body: resealed.value.body })).toEqual({
      ok: true,
      value: { engine: "duckDb", later: "clear" },
    });
  });
});

const ring = ringOf("a");

function ringOf(current: string, ...previous: string[]): KeyRing {
  const secret = (letter: string) => new Secret(letter.repeat(32));
  return keyRing([secret(current), ...previous.map(secret)], (length) => randomBytes(length));
}

function historyOf(bearer: string | { readonly secretRef: string }): ConfigObject {
  const body = { endpoint: "https://a.example", auth: { bearer } };
  return { kind: "setting", name: "history", body };
}

function usersOf(hashes: Readonly<Record<string, string>>): ConfigObject {
  const users = Object.entries(hashes).map(([name, passwordHash]) => [name, { passwordHash }]);
  const body = { provider: "static", staticUsers: { users: Object.fromEntries(users) } };
  return { kind: "setting", name: "auth", body };
}
