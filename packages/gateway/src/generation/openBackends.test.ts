import type { SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { OpenBackends, type OpenBackend } from "./openBackends.ts";

type ClusterConfig = SnapshotConfig["clusters"][string];

describe("OpenBackends", () => {
  it("opens a cluster once while its configuration is the same, and closes it with its last hold", async () => {
    const { backends, log } = counted();
    const first = await backends.hold("a", configOf());
    const second = await backends.hold("a", configOf());
    expect(first.ok && second.ok && first.value.backend === second.value.backend).toBe(true);
    if (first.ok) {
      await first.value[Symbol.asyncDispose]();
      await first.value[Symbol.asyncDispose]();
    }
    expect(log).toEqual(["open a"]);
    if (second.ok) await second.value[Symbol.asyncDispose]();
    expect(log).toEqual(["open a", "close a"]);
    await backends.hold("a", configOf());
    expect(log).toEqual(["open a", "close a", "open a"]);
  });

  it("opens anew what has another name or any other value, for instance a changed password", async () => {
    const { backends, log } = counted();
    await backends.hold("a", configOf());
    await backends.hold("b", configOf());
    await backends.hold("a", configOf({ memoryLimit: "2GB" }));
    await backends.hold("a", configOf({ password: "one" }));
    await backends.hold("a", configOf({ password: "two" }));
    expect(log).toEqual(["open a", "open b", "open a", "open a", "open a"]);
  });

  it("does not share a failure with whoever asks later", async () => {
    const { backends, log } = counted([false, true]);
    expect(await backends.hold("a", configOf())).toMatchObject({ ok: false });
    expect(await backends.hold("a", configOf())).toMatchObject({ ok: true });
    expect(log).toEqual(["open a", "open a"]);
  });

  it("takes no value whose text does not tell it from another one", async () => {
    const { backends } = counted();
    const hidden = configOf({ password: new Secret("one") });
    await expect(backends.hold("a", hidden)).rejects.toThrow(TypeError);
  });
});

/** Backends that tell when they are opened and closed; `works`: whether each opening does, all by default. */
function counted(works: readonly boolean[] = []) {
  const log: string[] = [];
  const open: OpenBackend = async (cluster) => {
    const attempt = log.push(`open ${cluster}`) - 1;
    if (works[attempt] === false) return err({ cluster, reason: "it is down" });
    const backend: Partial<Backend> = {
      cluster,
      [Symbol.asyncDispose]: async () => void log.push(`close ${cluster}`),
    };
    return ok({ backend: backend as Backend, exchange: undefined });
  };
  return { backends: new OpenBackends(open), log };
}

function configOf(more: Readonly<Record<string, unknown>> = {}): ClusterConfig {
  return { engine: "duckDb", enabled: true, ...more } as Partial<ClusterConfig> as ClusterConfig;
}
