/**
 * Thirty pools of connections, ten thousand at night, on virtual time: callers whose names, passwords and places are
 * the same text, cut at other places, ask, hold and come back, and scopes expire and are pushed out meanwhile. Nobody is lent what
 * another one opened. A failure names its seed.
 */
import { Secret } from "@gateway/core/secret.ts";
import { ok } from "@gateway/core/result.ts";
import { seededRandom, virtualHost } from "@gateway/core/rig/virtual.ts";
import { scopeKey, type KeyPart } from "@gateway/engines/adbc/scope/scopeKey.ts";
import { Scopes } from "@gateway/engines/adbc/scope/scopes.ts";
import { describe, expect, it } from "vitest";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1";
const seeds = Array.from({ length: nightly ? 10_000 : 30 }, (_, index) => index + 1);
const limitMs = nightly ? 3_600_000 : 120_000;

const callers = 6;
const asks = 20;
const holdMsMost = 500;
const limits = { idleMs: 300, countMax: 3, buildsMax: 2, waitingMax: 1_000 };
/** What stands between and before the parts of a key. */
const pieces = ["a", "-", ":", "t1:", "t0:", "1"];
const piecesOfText = 3;

type KeyOf = (parts: readonly KeyPart[]) => string;

describe("connections that are kept for scopes", () => {
  it(
    "are lent to nobody but those whose scope they are",
    async () => {
      const totals = { lent: 0, again: 0 };
      for (const seed of seeds) {
        const played = await play(seed, scopeKey);
        expect(played.mixedUp, `seed ${seed}`).toEqual([]);
        totals.lent += played.lent;
        totals.again += played.lent - played.built;
      }
      // A pool that keeps nothing proves nothing.
      expect(totals.lent).toBe(callers * asks * seeds.length);
      expect(totals.again).toBeGreaterThan(seeds.length);
    },
    limitMs,
  );

  it.each<readonly [string, KeyOf]>([
    ["puts no length in front of a part", (parts) => parts.map(textOf).join(":")],
    ["takes absent for empty", (parts) => scopeKey(parts.map((part) => part ?? ""))],
    ["leaves the password out", (parts) => scopeKey(parts.map(withoutSecret))],
  ])(
    "finds a planted bug: its key %s",
    async (_what, keyOf) => {
      for (const seed of seeds) {
        if ((await play(seed, keyOf)).mixedUp.length > 0) return;
      }
      expect.fail("no seed found it");
    },
    limitMs,
  );
});

async function play(seed: number, keyOf: KeyOf) {
  const random = seededRandom(seed);
  const host = virtualHost(seed);
  const below = (count: number) => Math.floor(random() * count);
  const text = Array.from({ length: piecesOfText }, () => pieces[below(pieces.length)] ?? "");
  const partsOf = (): readonly KeyPart[] => {
    const cuts = [0, 1].map(() => below(piecesOfText + 1)).toSorted((one, other) => one - other);
    const [name, secret, place] = [0, ...cuts].map((from, at) =>
      text.slice(from, cuts[at] ?? piecesOfText).join(""),
    );
    return [
      name,
      new Secret(`${secret}${below(2)}`),
      place === "" && below(2) === 0 ? undefined : place,
    ];
  };
  const watcher = {
    added: () => {},
    removed: () => {},
    bug: (error: unknown) => host.log.bug(error, {}),
  };
  const scopes = new Scopes<{ readonly owner: string; close(): Promise<void> }>(
    host.clock,
    limits,
    watcher,
  );
  const after = (ms: number) =>
    new Promise<void>((resolve) => {
      host.clock.timer(ms, resolve);
    });
  const books = { lent: 0, built: 0, mixedUp: [] as string[] };
  const people = Array.from({ length: callers }, partsOf);
  const ask = async (parts: readonly KeyPart[]): Promise<void> => {
    const owner = ownerOf(parts);
    for (let number = 0; number < asks; number += 1) {
      await after(random() * holdMsMost);
      const build = async () => {
        books.built += 1;
        await after(random() * 50);
        return ok({ owner, close: () => Promise.resolve() });
      };
      const wish = { key: keyOf(parts), group: "main", build };
      const held = await scopes.take(wish, new AbortController().signal);
      if (!held.ok) throw new Error(held.error.code);
      using scope = held.value;
      books.lent += 1;
      if (scope.value.owner !== owner) books.mixedUp.push(`${owner} had ${scope.value.owner}`);
      await after(random() * (below(2) === 0 ? 1 : holdMsMost));
    }
  };
  let over = false;
  const all = Promise.all(people.map(ask)).finally(() => {
    over = true;
  });
  await host.runUntil(() => over);
  await all;
  await scopes.close();
  return books;
}

/** Who it is, told apart by another way than a key's. */
function ownerOf(parts: readonly KeyPart[]): string {
  return JSON.stringify(
    parts.map((part) => (part instanceof Secret ? [part.reveal()] : (part ?? null))),
  );
}

function textOf(part: KeyPart): string {
  return part instanceof Secret ? part.reveal() : (part ?? "");
}

function withoutSecret(part: KeyPart): KeyPart {
  return part instanceof Secret ? "" : part;
}
