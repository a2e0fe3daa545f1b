import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { keyRing, type KeyRing } from "../secret/keyRing.ts";
import { memoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { missingKeys } from "./keyCare.ts";
import { openConfiguration, type OwnedConfiguration } from "../open.ts";

const author = { by: "host", address: undefined };
const history = { kind: "setting", name: "history" } as const;

describe("rekey", () => {
  it("seals everything under the current key, so that the old one may go", async () => {
    const { store, config: before } = await filledOf("old");
    await using _before = before;
    const both = ringOf("new", "old");
    await using config = await openOf(store, both);
    expect(await config.rekey(2)).toEqual({ ok: true, value: 5 });
    expect(await store.config.keyIds()).toEqual({ ok: true, value: [both.currentId] });

    await using after = await openOf(store, ringOf("new"));
    expect(after.current()).toEqual(before.current());
    const { epoch } = after.current()?.revision ?? { epoch: 0 };
    const diff = await after.diff({ epoch, sequence: 1 }, { epoch, sequence: 4 });
    expect(diff).toMatchObject({ ok: true, value: [{ object: history, kind: "added" }] });
  });

  it("has nothing to do a second time, and changes no revision", async () => {
    const { store, config } = await filledOf("old");
    await using _config = config;
    await using other = await openOf(store, ringOf("new", "old"));
    const head = await store.config.head();
    await other.rekey(100);
    expect(await other.rekey(100)).toEqual({ ok: true, value: 0 });
    expect(await store.config.head()).toEqual(head);
  });

  it("stops at a row that does not open, and names it", async () => {
    const { store, config } = await filledOf("old");
    await using _config = config;
    const both = ringOf("new", "old");
    await using other = await openOf(store, both);
    const read = await store.config.read();
    const sealed = read.ok ? read.value.documents.filter(({ keyIds }) => keyIds.length > 0) : [];
    const swapped = sealed.map((one) => ({
      ...one,
      body: { auth: { bearer: { $sealed: "v1.a" } } },
    }));
    await store.config.reseal({ documents: swapped, revisions: [] });
    const error = { code: "unreadable", detail: "setting history (malformed)" };
    expect(await other.rekey(100)).toEqual({ ok: false, error });
  });
});

describe("missingKeys", () => {
  it("names the keys that rows need and the ring lacks", async () => {
    const { store, config } = await filledOf("old");
    await using _config = config;
    const missing = (ring: KeyRing) => missingKeys(store.config, ring);
    expect(await missing(ringOf("old"))).toEqual({ ok: true, value: [] });
    expect(await missing(ringOf("new", "old"))).toEqual({ ok: true, value: [] });
    const value = [ringOf("old").currentId];
    expect(await missing(ringOf("new"))).toEqual({ ok: true, value });
  });
});

/** Four revisions and one object with a secret. */
async function filledOf(key: string): Promise<{ store: Store; config: OwnedConfiguration }> {
  const store = memoryStore(virtualHost(1).clock);
  const config = await openOf(store, ringOf(key));
  await config.seed({}, author);
  const secrets = ["one", "two", "three"];
  for (const [index, bearer] of secrets.entries()) {
    const version = config.get(history)?.version;
    const body = { redaction: index === 0 ? "full" : "metadata", auth: { bearer } };
    await config.put(history, body, version === undefined ? "absent" : { version }, author);
  }
  return { store, config };
}

async function openOf(store: Store, keys: KeyRing): Promise<OwnedConfiguration> {
  const { clock, log, metrics } = virtualHost(1);
  const opened = await openConfiguration({ store, keys, clock, log, metrics, follow: false });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
}

function ringOf(current: string, ...previous: string[]): KeyRing {
  const host = virtualHost(1);
  const secret = (name: string) => new Secret(name.padEnd(32, "-"));
  return keyRing([secret(current), ...previous.map(secret)], (length) => host.randomBytes(length));
}
