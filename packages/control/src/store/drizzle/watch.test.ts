import type { Revision } from "@gateway/contract/revision.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import type { Database } from "../database.ts";
import { revisionOf } from "../rig/samples.ts";
import { watchHead } from "./watch.ts";

describe("watchHead", () => {
  it("looks at once, and wakes for what came before it began", async () => {
    const watched = watchedOf(undefined);
    watched.head = revisionOf(1);
    await using _watch = watched.start();
    await watched.host.settle();
    expect(watched.woken).toBe(1);
  });

  it("wakes only after looks that found the head moved", async () => {
    const watched = watchedOf(undefined);
    await using _watch = watched.start();
    await watched.host.advance(10_000);
    expect(watched.woken).toBe(1);
    watched.head = revisionOf(1);
    await watched.host.advance(1_000);
    expect(watched.woken).toBe(2);
    watched.head = revisionOf(1, { hash: revisionOf(2).hash });
    await watched.host.advance(5_000);
    expect(watched.woken).toBe(3);
  });

  it("wakes at a notification without waiting for a look", async () => {
    const wakes: (() => void)[] = [];
    const watched = watchedOf(wakes);
    const watch = watched.start();
    await watched.host.settle();
    for (const wake of wakes) wake();
    expect(watched.woken).toBe(2);
    await watch[Symbol.asyncDispose]();
    for (const wake of wakes) wake();
    expect(watched.woken).toBe(2);
  });

  it("goes on looking while the database is away, and wakes for what it missed", async () => {
    const watched = watchedOf(undefined);
    watched.head = revisionOf(1);
    await using _watch = watched.start();
    await watched.host.settle();
    watched.away = true;
    watched.head = revisionOf(2);
    await watched.host.advance(60_000);
    expect(watched.woken).toBe(1);
    watched.away = false;
    await watched.host.advance(1_000);
    expect(watched.woken).toBe(2);
  });

  it("leaves no timer and wakes nobody once it is over", async () => {
    const watched = watchedOf([]);
    const watch = watched.start();
    const ended = watch[Symbol.asyncDispose]();
    watched.head = revisionOf(3);
    await ended;
    await watched.host.advance(60_000);
    expect([watched.woken, watched.host.timerCount]).toEqual([0, 0]);
  });
});

/** A watcher over a head that the test moves; `wakes` collects listeners where the driver can listen. */
function watchedOf(wakes: (() => void)[] | undefined) {
  const host = virtualHost(1);
  const silent: Pick<Database, "listen"> = {};
  const listening: Pick<Database, "listen"> = {
    listen: (_channel, wake) => {
      wakes?.push(wake);
      return { [Symbol.asyncDispose]: () => Promise.resolve() };
    },
  };
  const state = {
    host,
    head: undefined as Revision | undefined,
    away: false,
    woken: 0,
    start: () =>
      watchHead(
        {
          database: wakes === undefined ? silent : listening,
          clock: host.clock,
          lookMs: 1_000,
          head: () =>
            Promise.resolve(
              state.away
                ? err({ code: "unavailable", detail: "ECONNREFUSED" } as const)
                : ok(state.head),
            ),
        },
        () => {
          state.woken += 1;
        },
      ),
  };
  return state;
}
