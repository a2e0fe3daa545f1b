import type { Json } from "@gateway/contract/canonical.ts";
import { describe, expect, it } from "vitest";
import type { ConfigObject } from "../file.ts";
import { keepSecrets } from "./keep.ts";
import { secretRefsAllowedDefault } from "./references.ts";

const set = { set: true };
const allowed = { secretRef: "env:GATEWAY_SECRET_A" };
const foreign = { secretRef: "env:PATH" };
const bearer = "gateway.workerApi.history.auth.bearer";

describe("keepSecrets", () => {
  it("takes the stored secret for {set: true}", () => {
    const stored = historyOf("https://a.example", "old").body;
    const kept = keep(historyOf("https://a.example", set), stored);
    expect(kept).toEqual({ body: stored, faults: [] });
  });

  it("takes the stored reference for {set: true}", () => {
    const stored = historyOf("https://a.example", foreign).body;
    expect(keep(historyOf("https://a.example", set), stored)).toEqual({ body: stored, faults: [] });
  });

  it("takes a new secret as it is written", () => {
    const written = historyOf("https://b.example", "new");
    const stored = historyOf("https://a.example", "old").body;
    expect(keep(written, stored)).toEqual({ body: written.body, faults: [] });
  });

  it("asks for the secret again when the address changes", () => {
    const stored = historyOf("https://a.example", "old").body;
    expect(keep(historyOf("https://b.example", set), stored).faults).toEqual([
      {
        path: bearer,
        reason: "must be given again, because gateway.workerApi.history.endpoint changes",
      },
    ]);
    expect(keep(historyOf(undefined, set), stored).faults).toHaveLength(1);
  });

  it("never puts the stored secret beside a changed address", () => {
    const stored = historyOf("https://a.example", "old").body;
    const { body } = keep(historyOf("https://b.example", set), stored);
    expect(JSON.stringify(body)).not.toContain("old");
  });

  it("keeps the secrets of an object whose other fields change", () => {
    const stored = { ...historyBody("https://a.example", "old"), redaction: "full" };
    const body = { ...historyBody("https://a.example", set), redaction: "metadata" };
    const kept = keep({ kind: "setting", name: "history", body }, stored);
    expect(kept).toEqual({ body: { ...stored, redaction: "metadata" }, faults: [] });
  });

  it("has nothing to keep for a new object, or for a new user", () => {
    const reason = "there is no stored secret to keep";
    expect(keep(historyOf("https://a.example", set), undefined).faults).toEqual([
      { path: bearer, reason },
    ]);
    const written = usersOf({ ann: set, bob: set });
    const path = "auth.staticUsers.users.bob.passwordHash";
    expect(keep(written, usersOf({ ann: "old" }).body).faults).toEqual([{ path, reason }]);
  });

  it("keeps a directory's password for the same directory over the same encryption only", () => {
    const authOf = (bindPassword: Json, more: Record<string, Json>): ConfigObject => ({
      kind: "setting",
      name: "auth",
      body: { provider: "ldap", ldap: { url: "ldaps://a.example", bindPassword, ...more } },
    });
    const stored = authOf("old", {}).body;
    expect(keep(authOf(set, { poolSize: 2 }), stored).faults).toEqual([]);
    for (const more of [{ url: "ldap://b.example" }, { startTls: true }, { caFile: "/ca.pem" }]) {
      expect(keep(authOf(set, more), stored).faults).toMatchObject([
        { path: "auth.ldap.bindPassword" },
      ]);
    }
  });

  it("does not take a user's name for an address", () => {
    const stored = usersOf({ ann: "old", url: "old" }).body;
    expect(keep(usersOf({ ann: set, url: "new" }), stored).faults).toEqual([]);
  });

  it("refuses a reference outside the allow list, and says which are inside", () => {
    expect(keep(historyOf("https://a.example", allowed), undefined).faults).toEqual([]);
    expect(keep(historyOf("https://a.example", foreign), undefined).faults).toEqual([
      {
        path: bearer,
        reason:
          "this reference is not allowed here; allowed are env:GATEWAY_SECRET_*, file:/run/secrets/gateway/*",
      },
    ]);
  });

  it("lets a reference stand that is there already, while the address stays", () => {
    const stored = historyOf("https://a.example", foreign).body;
    expect(keep(historyOf("https://a.example", foreign), stored).faults).toEqual([]);
    expect(keep(historyOf("https://b.example", foreign), stored).faults).toHaveLength(1);
  });

  it("allows any reference where nothing is written", () => {
    const written = historyOf("https://a.example", foreign);
    expect(keepSecrets(written, undefined, "any").faults).toEqual([]);
  });
});

function keep(written: ConfigObject, stored: Json | undefined) {
  return keepSecrets(written, stored, secretRefsAllowedDefault);
}

function historyBody(endpoint: string | undefined, secret: Json) {
  return { ...(endpoint === undefined ? {} : { endpoint }), auth: { bearer: secret } };
}

function historyOf(endpoint: string | undefined, secret: Json): ConfigObject {
  return { kind: "setting", name: "history", body: historyBody(endpoint, secret) };
}

function usersOf(hashes: Readonly<Record<string, Json>>): ConfigObject {
  const users = Object.entries(hashes).map(([name, passwordHash]) => [name, { passwordHash }]);
  const body = { provider: "static", staticUsers: { users: Object.fromEntries(users) } };
  return { kind: "setting", name: "auth", body };
}
