import { Secret } from "@gateway/core/secret.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { keyRing } from "../secret/keyRing.ts";
import { buildBody, builtOf, logBytesOf } from "../snapshot/build.ts";
import type { StoredRevision } from "../../store/store.ts";
import type { ConfigObject } from "../file.ts";
import { openRevision, revisionCell } from "./loaded.ts";

const host = virtualHost(1);
const keys = keyRing([new Secret("k".repeat(32))], (length) => host.randomBytes(length));

describe("openRevision", () => {
  it("serves what was built, byte for byte, plain and compressed", async () => {
    const built = await builtOf(body, { revision, schemaVersion: 1, createdAt: 5 });
    const opened = await openRevision(keys, storedOf(logBytesOf(built)));
    expect(opened).toEqual({ ok: true, value: built });
  });

  it("serves the same bytes of a revision that was kept before it was compressed", async () => {
    const opened = await openRevision(keys, storedOf(body.bytes));
    expect(opened.ok && opened.value.bytes).toEqual(body.bytes);
    expect(opened.ok && opened.value.body).toEqual(body.body);
  });

  it("refuses a revision whose bytes are not those that its hash names", async () => {
    const other = buildBody([]);
    const place = { revision: { ...revision, hash: other.hash }, schemaVersion: 1, createdAt: 5 };
    const logged = logBytesOf(await builtOf(other, place));
    const detail = "revision 1.2 (hashDiffers)";
    expect(await openRevision(keys, storedOf(logged))).toEqual({
      ok: false,
      error: { code: "unreadable", detail },
    });
    const cut = { code: "unreadable", detail: "revision 1.2 (notABody)" };
    expect(await openRevision(keys, storedOf(logged.subarray(0, -9)))).toEqual({
      ok: false,
      error: cut,
    });
  });
});

const objects: readonly ConfigObject[] = [
  { kind: "cluster", name: "é", body: { engine: "duckDb" } },
];
const body = buildBody(objects);
const revision = { epoch: 1, sequence: 2, hash: body.hash };

function storedOf(logged: Uint8Array): StoredRevision {
  return {
    revision,
    schemaVersion: 1,
    sealed: keys.seal(logged, revisionCell(revision)),
    keyId: keys.currentId,
    createdAt: 5,
    createdBy: "ann",
    summary: "put",
  };
}
