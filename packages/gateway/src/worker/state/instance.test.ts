import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { instanceFile, noInstance, openInstance } from "./instance.ts";
import { overApp, testLink } from "../rig/link.ts";

const secrets = [new Secret(currentSecret)] as const;

describe("openInstance", () => {
  it("takes over its name at once after a crash, because it proves that the old instance ended", async () => {
    const files = new Map<string, Uint8Array>();
    const control = await testControl();
    const start = async (remembers: boolean) => {
      const parts = { host: control.host, secrets, dir: memoryDir(files) };
      const instance = remembers ? await openInstance(parts) : noInstance;
      const link = testLink(overApp(control.app), {
        host: control.host,
        secrets,
        presence: {
          predecessorProof: (id) => instance.predecessorProof(id),
          registered: (registration) => instance.registered(registration),
        },
      });
      await control.host.advance(2_000);
      await instance.settled();
      // A crash: it does not sign off.
      await link.stop();
      const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
      return rows.ok ? rows.value.items.length : 0;
    };
    expect(await start(true)).toBe(1);
    expect(await start(true)).toBe(1);
    expect(await start(false)).toBe(2);
    control.stop();
  });

  it("keeps no token readable, and takes a damaged file for none", async () => {
    const files = new Map<string, Uint8Array>();
    const parts = { host: virtualHost(1), secrets, dir: memoryDir(files) };
    const instance = await openInstance(parts);
    expect(instance.predecessorProof("new")).toBeUndefined();
    instance.registered({ instanceId: "old", instanceToken: "canary-token" });
    await instance.settled();
    const bytes = files.get(instanceFile) ?? new Uint8Array();
    expect(Buffer.from(bytes).toString("latin1")).not.toContain("canary");
    expect((await openInstance(parts)).predecessorProof("new")).toMatch(/^old\.[0-9a-f]{64}$/);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    expect((await openInstance(parts)).predecessorProof("new")).toBeUndefined();
  });
});

function memoryDir(files: Map<string, Uint8Array>) {
  return {
    read: (name: string) => Promise.resolve(ok(files.get(name))),
    write: (name: string, bytes: Uint8Array) => {
      files.set(name, bytes);
      return Promise.resolve(ok(undefined));
    },
  };
}
