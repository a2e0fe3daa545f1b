import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valueOf } from "../../rig/backend.ts";
import { scopeKey, type KeyPart } from "./scopeKey.ts";
import { Scopes, type HeldScope, type ScopeLimits } from "./scopes.ts";

const never = new AbortController().signal;

describe("scopeKey", () => {
  const part: fc.Arbitrary<readonly [string, KeyPart]> = fc.oneof(
    fc.constant(["absent", undefined] as const),
    fc.string({ unit: "binary" }).map((text) => [`text ${text}`, text] as const),
    // What another part would look like inside a key.
    fc
      .constantFrom("-", "t0:", "t1:-", "s", "t2:t0", ":", "")
      .map((text) => [`text ${text}`, text] as const),
    fc.string().map((text) => [`secret ${text}`, new Secret(text)] as const),
  );
  const parts = fc.array(part, { maxLength: 6 });

  it("is equal for equal parts, and for no others", () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const same =
          JSON.stringify(left.map(([name]) => name)) ===
          JSON.stringify(right.map(([name]) => name));
        expect(keyOf(left) === keyOf(right)).toBe(same);
      }),
    );
  });

  it("tells apart what is split, joined or moved between parts", () => {
    fc.assert(
      fc.property(parts, parts, fc.string(), (left, right, text) => {
        const joined = [...left, ["", text] as const, ...right].map(([, one]) => one);
        const split = [...left, ["", ""] as const, ["", text] as const, ...right].map(
          ([, one]) => one,
        );
        expect(scopeKey(joined)).not.toBe(scopeKey(split));
      }),
    );
  });

  it("holds nothing of a secret", () => {
    expect(scopeKey(["alice", new Secret("canary-1234")])).not.toContain("canary");
    expect(scopeKey([new Secret("a")])).not.toBe(scopeKey([new Secret("b")]));
    expect(scopeKey([new Secret("a")])).not.toBe(scopeKey(["a"]));
  });

  function keyOf(list: readonly (readonly [string, KeyPart])[]): string {
    return scopeKey(list.map(([, one]) => one));
  }
});

describe("Scopes", () => {
  it("finds what it built, and builds once for all who ask at a time", async () => {
    const { take, built } = scopesOf();
    const many = await Promise.all(Array.from({ length: 20 }, () => take("a")));
    expect(new Set(many.map(({ value }) => value)).size).toBe(1);
    expect((await take("a")).value).toBe(many[0]?.value);
    expect(built).toEqual(["a"]);
  });

  it("keeps 500 identities of 501, drops the one that was looked up longest ago, and closes it", async () => {
    const { take, closed, scopes, watched, host } = scopesOf({ countMax: 500 });
    for (let n = 0; n < 500; n += 1) (await take(`${n}`))[Symbol.dispose]();
    (await take("0"))[Symbol.dispose]();
    (await take("500"))[Symbol.dispose]();
    await host.settle();
    expect(scopes.count).toBe(500);
    expect(closed).toEqual(["1"]);
    expect(watched).toEqual({ count: 500, idle: 0, lru: 1 });
  });

  it("never reuses an expired scope between sweeps, and shows it until a sweep or the next one", async () => {
    const { take, host, built, closed, scopes, watched } = scopesOf({ idleMs: 90_000 });
    (await take("a"))[Symbol.dispose]();
    await host.advance(89_999);
    (await take("a"))[Symbol.dispose]();
    // Sweeps are at 60 s and 120 s, 180 s.
    await host.advance(89_999);
    expect(built).toEqual(["a"]);
    await host.advance(1);
    expect(scopes.count).toBe(1);
    const anew = await take("a", "second");
    expect(anew.value.name).toBe("second");
    await host.settle();
    expect(closed).toEqual(["a"]);
    expect(watched).toEqual({ count: 1, idle: 1, lru: 0 });
  });

  it("stays in the count after a lookup rejected it, until something new is there", async () => {
    const { host, scopes, take } = scopesOf({ idleMs: 61_000 });
    (await take("a"))[Symbol.dispose]();
    await host.advance(60_000);
    await host.advance(1_000);
    const refused = await scopes.take(
      { key: "a", group: "g", build: async () => err(gatewayError("cluster.connectFailed")) },
      never,
    );
    expect(refused.ok).toBe(false);
    expect(scopes.count).toBe(1);
    (await take("b"))[Symbol.dispose]();
    expect(scopes.count).toBe(1);
  });

  it.each([
    [5_000, 5_000],
    [900_000, 960_000],
  ])("is swept without traffic: idle after %i ms, gone at %i ms", async (idleMs, goneMs) => {
    const { take, host, scopes, closed } = scopesOf({ idleMs });
    (await take("a"))[Symbol.dispose]();
    await host.advance(goneMs - 60_001 > 0 ? goneMs - 60_001 : goneMs - 1);
    expect(scopes.count).toBe(1);
    await host.advance(60_001);
    expect(scopes.count).toBe(0);
    expect(closed).toEqual(["a"]);
    // Nothing is there, so nothing is looked for.
    expect(host.timerCount).toBe(0);
  });

  it("lets a query that runs keep what is forgotten, and closes it behind the last one", async () => {
    const { take, host, closed } = scopesOf({ countMax: 1 });
    const first = await take("a");
    const second = await take("a");
    (await take("b"))[Symbol.dispose]();
    await host.settle();
    expect(closed).toEqual([]);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await host.settle();
    expect(closed).toEqual([]);
    const anew = await take("a", "anew");
    expect(anew.value).not.toBe(second.value);
    second[Symbol.dispose]();
    await host.settle();
    expect(closed).toEqual(["b", "a"]);
  });

  it("remembers nothing that could not be built, and tries again", async () => {
    const { scopes, take, watched } = scopesOf();
    const refused = gatewayError("auth.noBackendIdentity");
    const build = async (): Promise<Result<Stub, GatewayError>> => err(refused);
    const answers = await Promise.all([
      scopes.take({ key: "a", group: "g", build }, never),
      scopes.take({ key: "a", group: "g", build }, never),
    ]);
    expect(answers).toEqual([err(refused), err(refused)]);
    expect(scopes.count).toBe(0);
    expect((await take("a")).value.name).toBe("a");
    expect(watched.count).toBe(1);
  });

  it("builds so many at once, the others in line, and none for whoever left", async () => {
    const { scopes, host } = scopesOf({ buildsMax: 2 });
    const gates: (() => void)[] = [];
    const begun: string[] = [];
    const build = (key: string) => async (): Promise<Result<Stub, GatewayError>> => {
      begun.push(key);
      await new Promise<void>((resolve) => gates.push(resolve));
      return ok(new Stub(key, []));
    };
    const left = new AbortController();
    const wishes = ["a", "b", "c", "d"].map((key) =>
      scopes.take({ key, group: "g", build: build(key) }, key === "c" ? left.signal : never),
    );
    await host.settle();
    expect(begun).toEqual(["a", "b"]);
    left.abort();
    expect(await wishes[2]).toMatchObject({ ok: false, error: { code: "query.cancelled" } });
    gates[0]?.();
    await host.settle();
    expect(begun).toEqual(["a", "b", "d"]);
    for (const open of gates) open();
    expect((await Promise.all([wishes[0], wishes[1], wishes[3]])).every((one) => one?.ok)).toBe(
      true,
    );
  });

  it("refuses when too many wait to be built", async () => {
    const { scopes } = scopesOf({ waitingMax: 1 });
    const build = (): Promise<Result<Stub, GatewayError>> => new Promise(() => {});
    void scopes.take({ key: "a", group: "g", build }, never);
    const refused = await scopes.take({ key: "b", group: "g", build }, never);
    expect(refused).toMatchObject({ ok: false, error: { code: "cluster.unavailable" } });
  });

  it("gives nobody a scope that is closed or another's, and leaves none open", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { scopes, host, open, watched } = scopesOf({ countMax: 3, idleMs: 10 });
        const held: HeldScope<Stub>[] = [];
        const wrong: string[] = [];
        const asked: Promise<void>[] = [];
        const ask = async ({ key, buildMs, leaves }: Asking): Promise<void> => {
          const controller = new AbortController();
          const wish = { key, group: "g", build: slowBuild(host, open, { key, buildMs }) };
          const taking = scopes.take(wish, controller.signal);
          if (leaves) controller.abort();
          const taken = await taking;
          if (!taken.ok) return;
          const { value } = taken.value;
          if (value.isClosed || value.name !== key) wrong.push(key);
          held.push(taken.value);
        };
        for (const one of steps) {
          if (one.kind === "wait") await host.advance(one.ms);
          else if (one.kind === "release") held.shift()?.[Symbol.dispose]();
          else asked.push(ask(one));
          wrong.push(...held.filter(({ value }) => value.isClosed).map(({ value }) => value.name));
          expect(scopes.count).toBeLessThanOrEqual(3);
          expect(watched.count).toBe(scopes.count);
        }
        await host.advance(100);
        await Promise.all(asked);
        expect(wrong).toEqual([]);
        for (const one of held) one[Symbol.dispose]();
        await host.advance(100);
        expect([...open].filter((one) => !one.isClosed)).toEqual([]);
      }),
    );
  });

  it("closes what is held too when the cluster is closed, and builds nothing more", async () => {
    const { scopes, take, closed, watched } = scopesOf();
    await take("a");
    (await take("b"))[Symbol.dispose]();
    await scopes.close();
    expect(closed.toSorted()).toEqual(["a", "b"]);
    expect(watched).toEqual({ count: 0, idle: 0, lru: 0 });
    await expect(take("c")).rejects.toThrow("cluster.unavailable");
  });
});

interface Asking {
  readonly key: string;
  readonly buildMs: number;
  readonly leaves: boolean;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("take" as const),
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    buildMs: fc.nat(15),
    leaves: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(20) }),
  fc.record({ kind: fc.constant("release" as const) }),
);

class Stub {
  readonly name: string;
  readonly #closed: string[];
  isClosed = false;

  constructor(name: string, closed: string[]) {
    this.name = name;
    this.#closed = closed;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.#closed.push(this.name);
  }
}

function slowBuild(
  { clock }: VirtualHost,
  open: Set<Stub>,
  { key, buildMs }: { readonly key: string; readonly buildMs: number },
) {
  return async (): Promise<Result<Stub, GatewayError>> => {
    await new Promise<void>((resolve) => void clock.timer(buildMs, resolve));
    const stub = new Stub(key, []);
    open.add(stub);
    return ok(stub);
  };
}

function scopesOf(limits: Partial<ScopeLimits> = {}) {
  const host = virtualHost(1);
  const built: string[] = [];
  const closed: string[] = [];
  const open = new Set<Stub>();
  const watched = { count: 0, idle: 0, lru: 0 };
  const scopes = new Scopes<Stub>(
    host.clock,
    { idleMs: 900_000, countMax: 500, buildsMax: 8, waitingMax: 1_000, ...limits },
    {
      added: () => void (watched.count += 1),
      removed: (_group, reason) => {
        watched.count -= 1;
        if (reason !== undefined) watched[reason] += 1;
      },
      bug: (error) => {
        throw error;
      },
    },
  );
  const take = async (key: string, name = key): Promise<HeldScope<Stub>> => {
    const build = async (): Promise<Result<Stub, GatewayError>> => {
      built.push(name);
      return ok(new Stub(name, closed));
    };
    const { signal } = new AbortController();
    return valueOf(await scopes.take({ key, group: "g", build }, signal));
  };
  return { host, scopes, take, built, closed, open, watched };
}
