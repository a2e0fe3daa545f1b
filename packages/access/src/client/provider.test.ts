import { describe, expect, it } from "vitest";
import { gatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import { err, ok } from "@gateway/core/result.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { noneAuthenticator } from "./none.ts";
import { attributeOf, namesOf, verifying, type Provider } from "./provider.ts";

const at = { frontend: "trinoHttp", address: "127.0.0.1" };
const ann = { user: "ann", groups: [], roles: [], method: "static" } as const;
const nothing = { kind: "nothing", user: "ann", asked: false } as const;
const password = { kind: "password", user: "ann", password: new Secret("x") } as const;

describe("verifying", () => {
  it("asks no provider about who shows nothing: it is anonymous, or refused where a login is required or was asked for", async () => {
    const open = opened({ required: false });
    expect(await open.show(nothing)).toBe("anonymous by anonymous");
    expect(await open.show({ ...nothing, asked: true })).toBe("auth.required");
    const closed = opened({ required: true });
    expect(await closed.show(nothing)).toBe("auth.required");
    expect([...open.asked, ...closed.asked]).toEqual([]);
  });

  it("asks the provider about a credential, and not again about one that it remembers", async () => {
    const first = opened({ required: true });
    expect(await first.show(password)).toBe("ann by static");
    expect(first.asked).toEqual(["recall", "verify"]);
    const again = opened({ required: true, remembers: true });
    expect(await again.show(password)).toBe("ann by static");
    expect(again.asked).toEqual(["recall"]);
  });

  it("recalls what its provider remembers, and nothing for who shows nothing", () => {
    const { authenticator } = opened({ required: false, remembers: true });
    expect(authenticator.recall?.(password)?.identity.user).toBe("ann");
    expect(authenticator.recall?.(nothing)).toBeUndefined();
    expect(opened({ required: true }).authenticator.recall?.(password)).toBeUndefined();
  });

  it("renews an anonymous session without its provider, unless a login is required by now", () => {
    const anonymous = { ...ann, user: "anonymous", method: "anonymous" } as const;
    const open = opened({ required: false });
    expect(open.authenticator.renew(anonymous)).toBe(anonymous);
    const closed = opened({ required: true });
    expect(closed.authenticator.renew(anonymous)).toBeUndefined();
    expect([...open.asked, ...closed.asked]).toEqual([]);
    expect(closed.authenticator.renew(ann)).toBe(ann);
    expect(closed.asked).toEqual(["renew"]);
  });

  it("slows down who is refused again and again, and nobody whom a provider out of reach could not judge", async () => {
    const codesOf = async (code: "auth.refused" | "auth.unavailable") => {
      const { show, host } = opened({ required: true, fails: code });
      const codes: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        void show(password).then((shown) => codes.push(shown));
        await host.settle();
      }
      return codes;
    };
    expect(await codesOf("auth.unavailable")).toHaveLength(12);
    // Ten mistypings are free, and the first above them makes the next one wait.
    expect(await codesOf("auth.refused")).toHaveLength(11);
  });

  it("slows nobody down for refused certificates and key pairs that only claim a name", async () => {
    const token = new Secret("x");
    for (const shown of [
      { kind: "keyPair", token, user: "ann" },
      { kind: "certificate", names: ["bob"], user: "ann" },
    ] as const) {
      const { show, host } = opened({ required: true, fails: "auth.refused" });
      const codes: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        void show(shown).then((code) => codes.push(code));
        await host.settle();
      }
      expect(codes).toHaveLength(12);
    }
  });

  it("says what its provider takes, and takes no token unless the provider says so", () => {
    expect(opened({ required: true }).authenticator).toMatchObject({
      asksPassword: true,
      takesTokens: false,
    });
    expect(opened({ required: true, takesTokens: true }).authenticator.takesTokens).toBe(true);
  });
});

describe("what a provider says of a user", () => {
  const texts = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);

  it.each<readonly [string, unknown, unknown]>([
    ["a text", "EU", "EU"],
    ["the longest text", "x".repeat(256), "x".repeat(256)],
    ["a longer one", "x".repeat(257), undefined],
    ["a number", 1, "1"],
    ["a truth", true, "true"],
    ["an object", {}, undefined],
    ["a list", ["EU", 1], ["EU", "1"]],
    ["the longest list", texts(1_000), texts(1_000)],
    ["a longer one", texts(1_001), undefined],
    ["a list with what is no text", ["EU", null], undefined],
    ["a text that ends its line", "E\nU", undefined],
  ])("is an attribute, or none, where it is %s", (_, said, attribute) => {
    expect(attributeOf(said)).toEqual(attribute);
  });

  it("is each group once, and none where there are too many or one is no name", () => {
    expect(namesOf(["a", "b", "a"])).toEqual(["a", "b"]);
    expect(namesOf(texts(1_000))).toHaveLength(1_000);
    expect(namesOf(texts(1_001))).toBeUndefined();
    for (const wrong of ["", "x".repeat(257), "a\u0000"]) {
      expect(namesOf(["a", wrong])).toBeUndefined();
    }
  });
});

describe("noneAuthenticator", () => {
  it("asks for no password, believes the name that is said, and renews no name that another provider verified", async () => {
    const authenticator = noneAuthenticator();
    expect(authenticator.asksPassword).toBe(false);
    const login = await authenticator.authenticate(nothing, at);
    expect(login).toMatchObject({ value: { identity: { user: "ann", method: "none" } } });
    const unnamed = await authenticator.authenticate({ ...nothing, user: undefined }, at);
    expect(unnamed).toMatchObject({ value: { identity: { user: "anonymous", method: "none" } } });
    expect(authenticator.renew(ann)).toBeUndefined();
    const believed = { ...ann, method: "none" } as const;
    expect(authenticator.renew(believed)).toBe(believed);
  });
});

interface Asked {
  readonly required: boolean;
  readonly remembers?: boolean;
  readonly takesTokens?: boolean;
  /** What its provider answers every login with. */
  readonly fails?: "auth.refused" | "auth.unavailable";
}

function opened({ required, remembers = false, takesTokens, fails }: Asked) {
  const host = virtualHost(1);
  const asked: string[] = [];
  const login = { identity: ann, credential: { kind: "none" } } as const;
  const provider: Provider = {
    ...(takesTokens !== undefined && { takesTokens }),
    recall: () => {
      asked.push("recall");
      return remembers ? login : undefined;
    },
    verify: () => {
      asked.push("verify");
      return Promise.resolve(fails === undefined ? ok(login) : err(gatewayError(fails)));
    },
    renew: (identity) => {
      asked.push("renew");
      return identity;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const authenticator = verifying(provider, required, host);
  const show = async (presented: Presented): Promise<string> => {
    const answer = await authenticator.authenticate(presented, at);
    if (!answer.ok) return answer.error.code;
    const { user, method } = answer.value.identity;
    return `${user} by ${method}`;
  };
  return { asked, authenticator, show, host };
}
