import { compareSync, hashSync } from "bcryptjs";
import { describe, expect, it } from "vitest";
import type { Host } from "@gateway/core/port/host.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { StaticUser } from "../config.ts";
import { Hasher } from "./hasher.ts";
import type { HashRequest } from "./hashThread.ts";
import { staticAuthenticator } from "./static.ts";

const at = { frontend: "trinoHttp", address: "127.0.0.1" };
const none = { groups: [], roles: [] };
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

  it("compares names of nobody with hashes of the costs that users have, each name with the same one", async () => {
    const { host, compared } = hostOf();
    const users = Object.fromEntries(
      [4, 4, 4, 5].map((cost, n) => [`user${n}`, { passwordHash: hashSync("x", cost), ...none }]),
    );
    const authenticator = staticAuthenticator({ required: true, staticUsers: { users } }, host);
    for (let n = 0; n < 400; n += 1) {
      // Each from an address of its own, so that guessing is not slowed down.
      const from = { frontend: "trinoHttp", address: `198.51.${n % 200}.1` };
      await authenticator.authenticate(passwordOf(`nobody${n % 200}`, "x"), from);
    }
    const costs = compared.map(({ hash }) => hash?.slice(4, 6));
    expect(costs.slice(0, 200)).toEqual(costs.slice(200));
    const expensive = costs.slice(0, 200).filter((cost) => cost === "05").length;
    expect(new Set(costs)).toEqual(new Set(["04", "05"]));
    // A quarter of the names; beyond these bounds once in a million runs.
    expect(expensive).toBeGreaterThan(18);
    expect(expensive).toBeLessThan(85);
  });

  it("lets no address with many logins in line take the turn of another", async () => {
    const { host, compared, answerAll } = hostOf({ mute: true });
    const authenticator = authenticatorOf(host);
    const crowd = Array.from({ length: 300 }, (_, n) =>
      authenticator.authenticate(passwordOf("alice", `wrong ${n}`), at),
    );
    const other = { ...at, address: "192.0.2.7" };
    const login = authenticator.authenticate(passwordOf("alice", "alice-secret"), other);
    // Those that run already, one more of the crowd, and then the newcomer's turn.
    const before = compared.length + 2;
    await answerAll();
    expect((await login).ok).toBe(true);
    const place = compared.findIndex(({ password }) => password === "alice-secret");
    expect(place).toBeLessThan(before);
    const codes = (await Promise.all(crowd)).map((one) => (one.ok ? "let in" : one.error.code));
    expect(codes.filter((code) => code === "auth.unavailable")).toHaveLength(45);
    expect(codes.filter((code) => code === "auth.refused")).toHaveLength(255);
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
    expect(knows({ alice: { ...alice, groups: ["readers", "writers"] } })?.groups).toHaveLength(2);
    expect(knows({ alice: { ...alice, groups: [] } })?.groups).toEqual([]);
    expect(knows({ alice: { ...alice, roles: ["admin"] } })?.roles).toEqual(["admin"]);
    const attributes = { region: "EU" };
    expect(knows({ alice: { ...alice, attributes } })).toEqual({ ...identity, attributes });
    expect(knows({ bob: alice }, false)).toBeUndefined();
  });

  it("takes no name that every object knows for a user", async () => {
    const { host } = hostOf();
    const authenticator = authenticatorOf(host);
    for (const user of ["constructor", "toString", "__proto__"]) {
      const login = await authenticator.authenticate(passwordOf(user, "alice-secret"), at);
      expect(login.ok ? "let in" : login.error.code).toBe("auth.refused");
      const groups: string[] = [];
      expect(authenticator.renew({ user, groups, roles: [], method: "static" })).toBeUndefined();
    }
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

it("recalls each user as himself, whoever was asked for before, and nobody under another's password", async () => {
  const { host } = hostOf();
  const user = { groups: [], roles: [] };
  const users = {
    alice: { ...user, passwordHash: aliceHash },
    bob: { ...user, passwordHash: hashSync("bob-secret", 4) },
  };
  const door = staticAuthenticator({ required: true, staticUsers: { users } }, host);
  const shown = [passwordOf("alice", "alice-secret"), passwordOf("bob", "bob-secret")];
  for (const one of shown) await door.authenticate(one, at);
  const recalled = [...shown, ...shown].map((one) => door.recall?.(one)?.identity.user);
  expect(recalled).toEqual(["alice", "bob", "alice", "bob"]);
  const strangers = [passwordOf("mallory", "bob-secret"), passwordOf("alice", "bob-secret")];
  expect(strangers.map((one) => door.recall?.(one))).toEqual([undefined, undefined]);
});

function authenticatorOf(host: Host) {
  const alice = { passwordHash: aliceHash, groups: ["readers"], roles: ["analyst"] };
  return staticAuthenticator({ required: true, staticUsers: { users: { alice } } }, host);
}

function passwordOf(user: string, password: string) {
  return { kind: "password", user, password: new Secret(password) } as const;
}

describe("a hash thread", () => {
  it("keeps the process alive while it compares, and not while it has nothing to do", async () => {
    const { host, holds, answerAll } = hostOf({ mute: true });
    const hasher = new Hasher(host);
    const asked = hasher.compare(new Secret("alice-secret"), aliceHash);
    expect(holds()).toBe(true);
    await answerAll();
    expect(await asked).toBe("match");
    expect(holds()).toBe(false);
  });
});

describe("a hasher whose thread ends", () => {
  it("says that the comparison failed, and begins the next in another thread", async () => {
    const { host, log, compared, answerAll, end } = hostOf({ mute: true });
    const hasher = new Hasher(host);
    const asked = ["a", "b", "c", "d", "e"].map((password) =>
      hasher.compare(new Secret(password), aliceHash),
    );
    const begun = compared.length;
    end(new Error("out of memory"));
    end(undefined);
    expect(await Promise.all(asked.slice(0, 2))).toEqual(["failed", "failed"]);
    expect(compared.length).toBe(Math.min(begun + 2, 5));
    await answerAll();
    expect(await Promise.all(asked.slice(2))).toEqual(["differs", "differs", "differs"]);
    expect(log.bugs.map(String)).toEqual(["Error: out of memory", "Error: a hash thread ended"]);
  });

  it("is not blamed for a thread that it ended itself", async () => {
    const { host, log, end } = hostOf({ mute: true });
    const hasher = new Hasher(host);
    void hasher.compare(new Secret("a"), aliceHash);
    await hasher[Symbol.asyncDispose]();
    end(undefined);
    expect(log.bugs).toEqual([]);
  });
});

describe("a hasher that is closed", () => {
  it("answers those that are compared, and those in line", async () => {
    const hasher = new Hasher(hostOf({ mute: true }).host);
    const asked = Array.from({ length: 8 }, () => hasher.compare(new Secret("right"), aliceHash));
    const made = hasher.make(new Secret("right"));
    await hasher[Symbol.asyncDispose]();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["failed"]));
    expect(await made).toBe("failed");
  });
});

/** A host whose hash threads run in place and note what they compared; `mute` ones answer when they are told to. */
function hostOf({ mute = false } = {}) {
  const virtual = virtualHost(1);
  const compared: HashRequest[] = [];
  const held: (() => void)[] = [];
  const exits: ((error: unknown) => void)[] = [];
  let holds = false;
  const start = (): Thread => {
    let answer: (message: unknown) => void = () => {};
    let gone = (): unknown => undefined;
    return {
      post: (message) => {
        const { id, password, hash } = message as HashRequest;
        compared.push({ id, password, hash });
        const tell = (): void => answer({ id, match: compareSync(password, hash ?? ""), hash: "" });
        if (!mute) return tell();
        held.push(tell);
        gone = () => held.splice(held.indexOf(tell), 1);
      },
      onMessage: (handle) => {
        answer = handle;
      },
      onExit: (handle) => {
        exits.push((error) => {
          gone();
          handle(error);
        });
      },
      ref: (on) => {
        holds = on;
      },
      terminate: async () => {},
    };
  };
  const host: Host = { ...virtual, threads: { start } };
  return {
    host,
    log: virtual.log,
    compared,
    /** Ends the thread that was started first. */
    end: (error: unknown) => exits.shift()?.(error),
    /** Whether the thread that was told last keeps the process alive. */
    holds: () => holds,
    advance: (ms: number) => virtual.advance(ms),
    answerAll: async () => {
      await virtual.settle();
      for (let tell = held.shift(); tell !== undefined; tell = held.shift()) tell();
    },
  };
}
