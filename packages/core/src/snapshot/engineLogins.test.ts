import { describe, expect, it } from "vitest";
import { gatewayError } from "../error.ts";
import type { Authenticator, Login, Presented } from "../port/authenticator.ts";
import type { EngineLogins } from "../port/backend.ts";
import type { AuthContext, ClientCredential } from "../query/identity.ts";
import type { Session } from "../query/query.ts";
import { err, ok } from "../result.ts";
import { Secret } from "../secret.ts";
import { backendIdentityOf } from "./backendIdentity.ts";
import { withEngineLogins, withinRealm } from "./engineLogins.ts";

const never = new AbortController().signal;
const at = { frontend: "snowflakeHttp", address: "127.0.0.1" };

describe("withEngineLogins", () => {
  it("asks the engine of the account that a login names, and nobody else", async () => {
    const { authenticator, asked } = rigOf({ sales: logins("xy1"), other: undefined });
    const login = await authenticator.authenticate(password("alice", "XY1"), at);
    expect(login).toMatchObject({
      ok: true,
      value: {
        identity: {
          user: "engine:xy1:alice",
          method: "engine",
          realm: "xy1",
          groups: [],
          roles: [],
        },
        credential: { kind: "password", user: "alice" },
      },
    });
    expect(asked).toEqual(["xy1 alice alice-secret"]);
    const again = await authenticator.authenticate(password("Alice", "xy1.eu-west-1"), at);
    expect(asked).toEqual(["xy1 alice alice-secret", "xy1 Alice Alice-secret"]);
    // One user, whatever the spelling; the engine is told the client's own.
    expect(again).toMatchObject({
      value: { identity: { user: "engine:xy1:alice" }, credential: { user: "Alice" } },
    });
  });

  it("asks the provider where a login names no account, another one, or shows no password", async () => {
    const { authenticator, asked } = rigOf({ sales: logins("xy1") });
    const token: Presented = { kind: "bearer", token: new Secret("t"), claimedUser: "alice" };
    for (const shown of [password("alice"), password("alice", "else"), token]) {
      expect(await authenticator.authenticate(shown, at)).toMatchObject({
        value: { identity: { user: "alice", method: "static" } },
      });
    }
    expect(asked).toEqual(["provider", "provider", "provider"]);
  });

  it("recalls a login of the provider, but none that names an account or has a reserved name", () => {
    const { authenticator, asked } = rigOf({ sales: logins("xy1") });
    expect(authenticator.recall?.(password("alice"))?.identity.user).toBe("alice");
    expect(authenticator.recall?.(password("alice", "xy1"))).toBeUndefined();
    expect(authenticator.recall?.(password("engine:xy1:alice"))).toBeUndefined();
    expect(asked).toEqual(["recall", "recall"]);
  });

  it("does not ask the provider when the engine refuses, or can not be asked", async () => {
    const vendor = { of: "snowflake", code: 390_100 } as const;
    for (const refusal of [
      gatewayError("auth.refused", { vendor }),
      gatewayError("auth.unavailable"),
    ]) {
      const { authenticator, asked } = rigOf({
        sales: { ...logins("xy1"), logIn: async () => err(refusal) },
      });
      expect(await authenticator.authenticate(password("alice", "xy1"), at)).toEqual(err(refusal));
      expect(asked).toEqual([]);
    }
  });

  it("tries no password at an account that two addresses have", async () => {
    const { authenticator, asked } = rigOf({
      a: logins("xy1", "xy1@a"),
      b: logins("xy1", "xy1@b"),
    });
    expect(await authenticator.authenticate(password("alice", "xy1"), at)).toMatchObject({
      error: { code: "auth.refused" },
    });
    const same = rigOf({ a: logins("xy1"), b: logins("xy1") });
    expect((await same.authenticator.authenticate(password("alice", "xy1"), at)).ok).toBe(true);
    expect([...asked, ...same.asked]).toHaveLength(1);
  });

  it.each(["", "a\0b", "a\nb", "x".repeat(257)])(
    "asks about no such name (case %#)",
    async (user) => {
      const { authenticator, asked } = rigOf({ sales: logins("xy1") });
      expect((await authenticator.authenticate(password(user, "xy1"), at)).ok).toBe(false);
      expect(asked).toEqual([]);
    },
  );

  it.each(["engine:xy1:alice", "ENGINE:x", "ｅngine:xy1:alice"])(
    "lets no provider name a user %s",
    async (user) => {
      const { authenticator } = rigOf({ sales: logins("xy1") });
      expect(await authenticator.authenticate(password(user), at)).toMatchObject({
        error: { code: "auth.refused" },
      });
    },
  );

  it("knows the user as long as a cluster of the account is there", () => {
    const identity = engineUser("xy1");
    expect(rigOf({ sales: logins("xy1") }).authenticator.renew(identity)).toBe(identity);
    expect(rigOf({ sales: logins("xy2") }).authenticator.renew(identity)).toBeUndefined();
    expect(rigOf({ sales: undefined }).authenticator.renew(identity)).toBeUndefined();
  });
});

describe("a user whom an engine let in", () => {
  const groups = {
    mine: { members: ["a1", "a2"] },
    mixed: { members: ["a1", "b1"] },
    shared: { members: ["a1", "service"] },
    theirs: { members: ["b1"] },
    service: { members: ["service"] },
    off: { members: ["gone"] },
  };
  const backends = new Map(
    Object.entries({ a1: logins("a"), a2: logins("a"), b1: logins("b"), service: undefined }).map(
      ([name, found]) =>
        [name, { logins: found && { ...found, logIn: async () => ok("") } }] as const,
    ),
  );
  const open = withinRealm({ mayUse: () => true, mayCancel: async () => false }, groups, backends);

  it("may use groups of that account alone", () => {
    const allowed = Object.keys({ ...groups, constructor: 1 }).filter(
      (group) => open.mayUse(engineUser("a"), group, never) === true,
    );
    expect(allowed).toEqual(["mine"]);
    expect(open.mayUse({ ...engineUser("a"), method: "static" }, "mixed", never)).toBe(true);
  });

  it("may use none that the authorizer does not open", () => {
    const closed = withinRealm(
      { mayUse: () => false, mayCancel: async () => false },
      groups,
      backends,
    );
    expect(closed.mayUse(engineUser("a"), "mine", never)).toBe(false);
  });

  it("is itself at that account, and nobody at any other cluster, whatever its mode", async () => {
    const credential: ClientCredential = {
      kind: "password",
      user: "alice",
      password: new Secret("p"),
    };
    const session = { identity: engineUser("a"), credential } as Session;
    const decided = (rule: object) =>
      backendIdentityOf(
        { session, group: "g" },
        {
          queryAuth: { type: "passthrough" },
          forwards: ["password"],
          exchange: undefined,
          ...rule,
        },
        never,
      );
    expect(await decided({ realm: "a" })).toMatchObject({
      value: { mode: "passthrough", principal: "alice" },
    });
    for (const rule of [
      {},
      { realm: "b" },
      { realm: "a", queryAuth: { type: "serviceAccount" } },
      { queryAuth: { type: "serviceAccount" } },
      { queryAuth: { type: "impersonate" } },
    ]) {
      expect(await decided(rule)).toMatchObject({ error: { code: "auth.noBackendIdentity" } });
    }
  });
});

function engineUser(realm: string): AuthContext {
  return { user: `engine:${realm}:alice`, groups: [], roles: [], method: "engine", realm };
}

function password(user: string, account?: string): Presented {
  return { kind: "password", user, password: new Secret(`${user}-secret`), account };
}

/** `logIn` is the rig's own unless said otherwise. */
function logins(
  account: string,
  realm = account,
): Pick<EngineLogins, "account" | "realm"> & Partial<EngineLogins> {
  return { account, realm };
}

/** An authenticator over clusters, and who was asked for a login. */
function rigOf(clusters: Readonly<Record<string, ReturnType<typeof logins> | undefined>>) {
  const asked: string[] = [];
  const backends = new Map(
    Object.entries(clusters).map(([name, found]) => {
      if (found === undefined) return [name, {}] as const;
      const logIn: EngineLogins["logIn"] = async ({ user, password: secret }) => {
        asked.push(`${found.realm} ${user} ${secret.reveal()}`);
        return ok(user.toLowerCase());
      };
      return [name, { logins: { logIn, ...found } }] as const;
    }),
  );
  const loginBy = (presented: Presented): Login => {
    const user = presented.kind === "password" ? presented.user : "alice";
    const identity = { user, groups: [], roles: [], method: "static" } as const;
    return { identity, credential: { kind: "none" } };
  };
  const provider: Authenticator = {
    asksPassword: true,
    renew: () => undefined,
    authenticate: async (presented) => {
      asked.push("provider");
      return ok(loginBy(presented));
    },
    recall: (presented) => {
      asked.push("recall");
      return loginBy(presented);
    },
  };
  return { authenticator: withEngineLogins(provider, backends), asked };
}
