import type { Built } from "@gateway/control/config/configuration.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Generations, type Generation } from "@gateway/core/snapshot/generation.ts";
import { describe, expect, it } from "vitest";
import { follow } from "./follow.ts";

describe("follow", () => {
  it("takes the configuration that is there, and every one after it", async () => {
    const { served, following, active, opened } = followingOf(builtOf(1));
    await following.settled();
    expect(active()).toBe("1");
    served(builtOf(2));
    await following.settled();
    expect(active()).toBe("2");
    expect(opened).toEqual(["1", "2"]);
  });

  it("opens nothing again when only the position moved", async () => {
    const { served, following, opened } = followingOf(builtOf(1));
    await following.settled();
    served({ ...builtOf(1), revision: { epoch: 9, sequence: 1, hash: "1" } });
    await following.settled();
    expect(opened).toEqual(["1"]);
  });

  it("keeps the active one, counts and tells when the next can not be opened", async () => {
    const { served, following, active, host } = followingOf(builtOf(1), ["2"]);
    await following.settled();
    served(builtOf(2));
    await following.settled();
    expect(active()).toBe("1");
    expect(following.problem()).toBe("clusters.a: gone");
    expect(host.metrics.value("gateway_config_reload_failures_total", { stage: "activate" })).toBe(
      1,
    );
    served(builtOf(3));
    await following.settled();
    expect(active()).toBe("3");
    expect(following.problem()).toBeUndefined();
  });

  it("skips what was replaced while another one was being opened", async () => {
    const { served, following, active, opened, hold } = followingOf(builtOf(1));
    await following.settled();
    const release = hold();
    served(builtOf(2));
    served(builtOf(3));
    served(builtOf(4));
    release();
    await following.settled();
    expect(active()).toBe("4");
    expect(opened).toEqual(["1", "2", "4"]);
  });

  it("closes each generation with its last query, and all of them when it is disposed", async () => {
    const { served, following, generations, closed } = followingOf(builtOf(1));
    await following.settled();
    const held = generations.hold();
    served(builtOf(2));
    await following.settled();
    expect(closed).toEqual([]);
    if (held.ok) held.value[Symbol.dispose]();
    await following[Symbol.asyncDispose]();
    expect(closed.toSorted()).toEqual(["1", "2"]);
    served(builtOf(3));
    expect(generations.active).toBeUndefined();
  });
});

/** A follower of what `served` says; configurations in `broken` can not be opened. */
function followingOf(first: Built, broken: readonly string[] = []) {
  const host = virtualHost(1);
  const generations = new Generations();
  const opened: string[] = [];
  const closed: string[] = [];
  const listeners = new Set<() => void>();
  let current = first;
  let gate = Promise.resolve();
  const following = follow(
    {
      host,
      generations,
      configuration: {
        current: () => current,
        onChange: (listener) => {
          listeners.add(listener);
          return { [Symbol.dispose]: () => void listeners.delete(listener) };
        },
      },
      open: async ({ revision: { hash } }) => {
        opened.push(hash);
        await gate;
        if (broken.includes(hash)) return err([{ cluster: "a", reason: "gone" }]);
        return ok(generationOf(hash, () => closed.push(hash)));
      },
    },
    undefined,
  );
  return {
    host,
    generations,
    following,
    opened,
    closed,
    active: () => generations.active?.revision,
    served: (built: Built) => {
      current = built;
      for (const listener of listeners) listener();
    },
    /** Openings wait until the answer is called. */
    hold: () => {
      let release = (): void => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}

function builtOf(sequence: number): Built {
  const bytes = new Uint8Array();
  const body = { clusters: {}, clusterGroups: {}, routers: [], scripts: [], settings: {} };
  return {
    revision: { epoch: 1, sequence, hash: String(sequence) },
    schemaVersion: 1,
    body: { ...body, translation: {}, history: {} },
    bytes,
    gzipTail: bytes,
    createdAt: 0,
  };
}

/** Only what following touches. */
function generationOf(revision: string, close: () => void): Generation {
  return { revision, close: async () => close() } as unknown as Generation;
}
