import type { SnapshotHead } from "@gateway/contract/snapshot.ts";
import { describe, expect, it } from "vitest";
import type { ConfigSource, SourceEvent, OfferSource } from "../port/configSource.ts";
import { virtualHost, type VirtualHost } from "../rig/virtual.ts";
import { err, ok, type Result } from "../result.ts";
import { offerOfHead, takenOf, type ConfigLife, type Rejection } from "./lifecycle.ts";
import { compileMsMax, runLifecycle } from "./lifecycleLoop.ts";
import { clockSkewMsMax } from "./offer.ts";

describe("runLifecycle", () => {
  it("swaps a compiled snapshot in, and discards nothing that is used", async () => {
    await using test = running();
    await test.say(offerOf(1, "a"), offerOf(2, "b"));
    expect(test.swapped).toEqual(["body 1", "body 2"]);
    expect(test.discarded).toEqual([]);
    expect(test.loop.active()).toMatchObject({
      body: "body 2",
      taken: { revision: { sequence: 2 } },
    });
  });

  it("does not wait for the queries of the previous generation", async () => {
    await using test = running({ swap: () => new Promise(() => {}) });
    await test.say(offerOf(1, "a"), offerOf(2, "b"), offerOf(3, "c"));
    expect(test.swapped).toEqual(["body 1", "body 2", "body 3"]);
    test.forgetSwaps();
  });

  it("leaves the active one alone when a snapshot can not be opened, and says so once", async () => {
    await using test = running({
      compile: (body) => Promise.resolve(body === "body 2" ? err(["no driver"]) : ok(body)),
    });
    await test.say(offerOf(1, "a"), offerOf(2, "b"));
    await test.host.advance(600_000);
    expect(test.swapped).toEqual(["body 1"]);
    expect(test.rejections).toEqual([expect.objectContaining({ reason: "no driver" })]);
    expect(test.loop.life().lastError?.text).toBe("no driver");
    expect(test.lines("worker.configRejected")).toBe(1);
    expect(test.loop.life().consecutiveFailures).toBeGreaterThan(5);
  });

  it("tries a snapshot again that could not be opened, until it can", async () => {
    let mounted = false;
    await using test = running({
      compile: (body) => Promise.resolve(mounted ? ok(body) : err(["secret is not mounted"])),
    });
    await test.say(offerOf(1, "a"));
    await test.host.advance(20_000);
    mounted = true;
    await test.host.advance(60_000);
    expect(test.swapped).toEqual(["body 1"]);
    expect(test.loop.life()).toMatchObject({ lastError: undefined, consecutiveFailures: 0 });
    const { timerCount } = test.host;
    expect(timerCount).toBe(0);
  });

  it("does not go back to a broken snapshot when a newer one came", async () => {
    let broken = true;
    await using test = running({
      compile: (body) => Promise.resolve(broken && body === "body 1" ? err(["broken"]) : ok(body)),
    });
    await test.say(offerOf(1, "a"), offerOf(2, "b"));
    broken = false;
    await test.host.advance(600_000);
    expect(test.swapped).toEqual(["body 2"]);
  });

  it("gives up an opening that takes too long, and closes what it opened after all", async () => {
    const slow = resolvable();
    let first = true;
    await using test = running({
      compile: (body) => {
        if (!first) return Promise.resolve(ok(body));
        first = false;
        return slow.promise;
      },
    });
    await test.say(offerOf(1, "a"));
    await test.host.advance(compileMsMax);
    expect(test.rejections).toMatchObject([{ stage: "compile" }]);
    await test.say(offerOf(2, "b"));
    expect(test.swapped).toEqual(["body 2"]);
    slow.resolve(ok("late"));
    await test.host.settle();
    expect(test.discarded).toEqual(["late"]);
  });

  it("takes a throw in the compiler for a refusal, and reports the bug", async () => {
    await using test = running({ compile: () => Promise.reject(new Error("bug")) });
    await test.say(offerOf(1, "a"));
    expect(test.rejections).toMatchObject([{ reason: "internal failure" }]);
    expect(test.host.log.bugs).toHaveLength(1);
  });

  it("counts each snapshot that can not be verified", async () => {
    await using test = running();
    const bad = { kind: "unverified", source: "controlPlane", reason: "no JSON" } as const;
    await test.say(bad, bad, offerOf(1, "a"), bad);
    expect(test.rejections).toHaveLength(3);
    expect(test.swapped).toEqual(["body 1"]);
  });

  it("serves a copy as stale until the control plane confirms it without a body", async () => {
    await using test = running();
    await test.say(offerOf(1, "a", "peer"));
    expect(test.lives.at(-1)?.state.kind).toBe("copied");
    await test.host.advance(5_000);
    await test.say({ ...offerOf(1, "a", "controlPlane", 5_000), body: undefined });
    expect(test.swapped).toEqual(["body 1"]);
    expect(test.loop.life().state.kind).toBe("active");
    const head = test.loop.active()?.taken.head;
    expect(head?.confirmedAt).toBe(test.host.clock.unixMs());
  });

  it("closes what was opened when the stop comes during the opening", async () => {
    const slow = resolvable();
    const test = running({ compile: () => slow.promise });
    await test.say(offerOf(1, "a"));
    const ended = test[Symbol.asyncDispose]();
    slow.resolve(ok("late"));
    await ended;
    expect(test.swapped).toEqual([]);
    expect(test.discarded).toEqual(["late"]);
    expect(test.host.timerCount).toBe(0);
  });
});

interface Options {
  compile?(body: string): Promise<Result<string, readonly string[]>>;
  swap?(opened: string): Promise<void>;
}

function running(options: Options = {}) {
  const host: VirtualHost = virtualHost(1);
  const feed = feedOf();
  const swapped: string[] = [];
  const discarded: string[] = [];
  const rejections: Rejection[] = [];
  const lives: ConfigLife[] = [];
  const held: (() => void)[] = [];
  const loop = runLifecycle<string, string>({
    host,
    source: feed.source,
    limitsOf: () => ({ copyAgeMsMax: 86_400_000, clockSkewMsMax }),
    compile: (body) => options.compile?.(body) ?? Promise.resolve(ok(body)),
    swap: (opened) => {
      swapped.push(opened);
      if (options.swap === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        held.push(resolve);
      });
    },
    discard: (opened) => {
      discarded.push(opened);
      return Promise.resolve();
    },
    rejected: (rejection) => rejections.push(rejection),
    changed: (life) => lives.push(life),
  });
  return {
    host,
    loop,
    swapped,
    discarded,
    rejections,
    lives,
    lines: (event: string) => host.log.lines.filter((line) => line.event === event).length,
    say: async (...events: readonly SourceEvent<string>[]) => {
      for (const event of events) feed.push(event);
      await host.settle();
      expect(takenOf(loop.life())).toEqual(loop.active()?.taken);
    },
    forgetSwaps: () => {
      for (const end of held) end();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** A source that says what the test pushes. */
function feedOf() {
  const waiting: SourceEvent<string>[] = [];
  let wake: () => void = () => {};
  const source: ConfigSource<string> = {
    events: async function* (signal) {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
  const push = (event: SourceEvent<string>): void => {
    waiting.push(event);
    wake();
  };
  return { source, push };
}

function offerOf(
  sequence: number,
  letter: string,
  source: OfferSource = "controlPlane",
  afterMs = 0,
): Extract<SourceEvent<string>, { kind: "offer" }> {
  const head: SnapshotHead = {
    schemaVersion: 1,
    revision: `sha256:${letter.repeat(64)}`,
    epoch: 1,
    sequence,
    confirmedAt: 1_767_225_600_000 + afterMs,
    mac: "0".repeat(64),
  };
  return { kind: "offer", offer: offerOfHead(source, head), head, body: `body ${sequence}` };
}

function resolvable() {
  let resolve: (value: Result<string, readonly string[]>) => void = () => {};
  const promise = new Promise<Result<string, readonly string[]>>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve: (value: Result<string, readonly string[]>) => resolve(value) };
}
