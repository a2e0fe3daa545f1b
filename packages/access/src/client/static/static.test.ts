import { compareSync, hashSync } from "bcryptjs";
import { describe, expect, it } from "vitest";
import type { Host } from "@gateway/core/port/host.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/port/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { StaticUser } from "../config.ts";
import type { HashRequest } from "./hashThread.ts";
import { staticAuthenticator } from "./static.ts";

const at = { frontend: "trinoHttp", address: "127.0.0.1" };
const aliceHash = hashSync("alice-secret", 4);

describe("staticAuthenticator", () => {
  it("gives a right password the user's groups and roles", async () => {
    const { host } = hostOf();
    const login = await authenticatorOf(host).authenticate(passwordOf("alice", "alice-secret"), at);
    expect(login).toMatchObject({
      ok: true,
      value: {
        identity: { user: "alice", groups: ["readers"], roles: ["analyst"], method: "static" },
      },
    });
  });

  it("refuses a wrong password and an unknown user with the same answer after the same work", async () => {
    const { host, compared } = hostOf();
    const authenticator = authenticatorOf(host);
    const wrong = await authenticator.authenticate(passwordOf("alice", "no"), at);
    const unknown = await authenticator.authenticate(passwordOf("mallory", "no"), at);
    expect(wrong).toMatchObject({ ok: false, error: { code: "auth.refused" } });
    expect(unknown).toEqual(wrong);
    expect(compared).toHaveLength(2);
  });

  it("renews a session by what it knows of the user now, and ends one of a user who is gone", async () => {
    const { host } = hostOf();
    const login = await authenticatorOf(host).authenticate(passwordOf("alice", "alice-secret"), at);
    if (!login.ok) throw new Error("not let in");
    const { identity } = login.value;
    const knows = (users: Record<string, StaticUser>, required = true) =>
      staticAuthenticator({ required, staticUsers: { users } }, host).renew(identity);
    const alice = { passwordHash: aliceHash, groups: ["readers"], roles: ["analyst"] };
    expect(knows({ alice })).toBe(identity);
    expect(knows({ alice: { ...alice, groups: ["writers"] } })).toEqual({
      ...identity,
      groups: ["writers"],
    });
    expect(knows({ bob: alice }, false)).toBeUndefined();
  });

  it("ends sessions whose name nobody verified, and anonymous ones where a login is required", () => {
    const { host } = hostOf();
    const users = { alice: { passwordHash: aliceHash, groups: [], roles: [] } };
    const renewed = (method: "none" | "anonymous", required: boolean) =>
      staticAuthenticator({ required, staticUsers: { users } }, host).renew({
        user: "alice",
        groups: [],
        roles: [],
        method,
      });
    expect(renewed("none", false)).toBeUndefined();
    expect(renewed("anonymous", true)).toBeUndefined();
    expect(renewed("anonymous", false)).toMatchObject({ method: "anonymous" });
  });

  it("compares a repeated login once a minute", async () => {
    const { host, compared, advance } = hostOf();
    const authenticator = authenticatorOf(host);
    const presented = passwordOf("alice", "alice-secret");
    await authenticator.authenticate(presented, at);
    await authenticator.authenticate(presented, at);
    expect(compared).toHaveLength(1);
    await advance(60_001);
    await authenticator.authenticate(presented, at);
    expect(compared).toHaveLength(2);
  });

  it("never remembers a wrong password", async () => {
    const { host, compared } = hostOf();
    const authenticator = authenticatorOf(host);
    await authenticator.authenticate(passwordOf("alice", "no"), at);
    const again = await authenticator.authenticate(passwordOf("alice", "no"), at);
    expect(again.ok).toBe(false);
    expect(compared).toHaveLength(2);
  });

  it("makes guesses wait and lets a right password in after its turn, at once where it was right before", async () => {
    const { host, compared, advance } = hostOf();
    const authenticator = authenticatorOf(host);
    const right = passwordOf("alice", "alice-secret");
    expect((await authenticator.authenticate(right, at)).ok).toBe(true);
    for (let n = 0; n < 11; n += 1) {
      await authenticator.authenticate(passwordOf("alice", `guess ${n}`), at);
    }
    const before = compared.length;
    expect((await authenticator.authenticate(right, at)).ok).toBe(true);
    await advance(60_001);
    const guess = authenticator.authenticate(passwordOf("alice", "another"), at);
    const waiting = authenticator.authenticate(right, at);
    await advance(0);
    expect(compared.length - before).toBe(1);
    await advance(10_000);
    expect((await guess).ok).toBe(false);
    expect((await waiting).ok).toBe(true);
  });

  it("refuses a password beyond bcrypt's 72 bytes although its beginning is right", async () => {
    const { host } = hostOf();
    const long = "x".repeat(72);
    const users = { bob: { passwordHash: hashSync(long, 4), groups: [], roles: [] } };
    const authenticator = staticAuthenticator({ required: true, staticUsers: { users } }, host);
    expect((await authenticator.authenticate(passwordOf("bob", long), at)).ok).toBe(true);
    expect((await authenticator.authenticate(passwordOf("bob", `${long}y`), at)).ok).toBe(false);
  });

  it("takes a request without a credential as anonymous only where none is required", async () => {
    const { host } = hostOf();
    const nothing = { kind: "nothing", user: "alice", asked: false } as const;
    const required = await authenticatorOf(host).authenticate(nothing, at);
    expect(required).toMatchObject({ ok: false, error: { code: "auth.required" } });
    const config = { required: false, staticUsers: { users: {} } };
    const open = await staticAuthenticator(config, host).authenticate(nothing, at);
    expect(open).toMatchObject({
      ok: true,
      value: { identity: { user: "anonymous", groups: [] } },
    });
  });

  it("refuses a client that was asked for a password and showed none, also where none is required", async () => {
    const { host } = hostOf();
    const open = staticAuthenticator({ required: false, staticUsers: { users: {} } }, host);
    const shown = { kind: "nothing", user: "anonymous", asked: true } as const;
    expect(await open.authenticate(shown, at)).toMatchObject({
      ok: false,
      error: { code: "auth.required" },
    });
  });

  it("answers that it is busy instead of holding thousands of logins", async () => {
    const { host } = hostOf({ mute: true });
    const authenticator = authenticatorOf(host);
    for (let n = 0; n < 256; n += 1) {
      void authenticator.authenticate(passwordOf("alice", `wrong ${n}`), at);
    }
    const refused = await authenticator.authenticate(passwordOf("alice", "one more"), at);
    expect(refused).toMatchObject({ ok: false, error: { code: "auth.unavailable" } });
  });
});

function authenticatorOf(host: Host) {
  const alice = { passwordHash: aliceHash, groups: ["readers"], roles: ["analyst"] };
  return staticAuthenticator({ required: true, staticUsers: { users: { alice } } }, host);
}

function passwordOf(user: string, password: string) {
  return { kind: "password", user, password: new Secret(password) } as const;
}

/** A host whose hash thread runs in place and notes what it compared; `mute` never answers. */
function hostOf({ mute = false } = {}) {
  const virtual = virtualHost(1);
  const compared: HashRequest[] = [];
  const start = (): Thread => {
    let answer: (message: unknown) => void = () => {};
    return {
      post: (message) => {
        const request = message as HashRequest;
        compared.push(request);
        if (mute) return;
        answer({
          id: request.id,
          match: compareSync(request.password, request.hash ?? ""),
          hash: "",
        });
      },
      onMessage: (handle) => {
        answer = handle;
      },
      onExit: () => {},
      ref: () => {},
      terminate: async () => {},
    };
  };
  const host: Host = { ...virtual, threads: { start } };
  return { host, compared, advance: (ms: number) => virtual.advance(ms) };
}
