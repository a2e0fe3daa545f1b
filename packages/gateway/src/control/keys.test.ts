import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterAll, describe, expect, it } from "vitest";
import { persistenceSchema } from "../config/persistence.ts";
import { keyFileOf, sealingSecrets } from "./keys.ts";

const folder = mkdtempSync(join(tmpdir(), "keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("sealingSecrets", () => {
  it("makes a key beside an embedded database once, readable by its owner only", () => {
    const path = join(folder, "one", "db");
    const first = revealed({ type: "pglite", path });
    expect(statSync(keyFileOf(path)).mode & 0o777).toBe(0o600);
    expect(Buffer.from(first[0] ?? "", "base64")).toHaveLength(32);
    expect(revealed({ type: "pglite", path }, 2)).toEqual(first);
    expect(readFileSync(keyFileOf(path), "utf8").trim()).toBe(first[0]);
  });

  it("takes the config's keys in their order, and makes none then", () => {
    const keys = ["the-newest-key-of-all", "the-key-before-it"];
    const path = join(folder, "two");
    expect(revealed({ type: "pglite", path, encryptionKey: keys })).toEqual(keys);
    expect(statSync(keyFileOf(path), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("says which file can not be used", () => {
    const path = join(folder, "three");
    writeFileSync(keyFileOf(path), "\n");
    expect(
      sealingSecrets(persistenceSchema.parse({ type: "pglite", path }), virtualHost(1)),
    ).toEqual({ ok: false, error: `${keyFileOf(path)} is empty` });
  });
});

function revealed(persistence: object, seed = 1): readonly string[] {
  const secrets = sealingSecrets(persistenceSchema.parse(persistence), virtualHost(seed));
  if (!secrets.ok) throw new Error(secrets.error);
  return secrets.value.map((secret) => secret.reveal());
}
