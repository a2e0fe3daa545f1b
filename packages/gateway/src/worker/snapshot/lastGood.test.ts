import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { judgeOffer } from "@gateway/core/snapshot/offer.ts";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  diskEvent,
  lastGoodFile,
  lastGoodOf,
  lastGoodText,
  type LastGoodParts,
} from "./lastGood.ts";
import { lastGoodFreshMs } from "../limits.ts";
import { seal, unseal } from "../state/sealing.ts";
import { openStateDir } from "../state/stateDir.ts";
import { otherSecret, snapshotOf, testSecret } from "../rig/snapshot.ts";

const root = mkdtempSync(join(tmpdir(), "worker-state-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("lastGoodOf", () => {
  it("reads what it wrote, with the time of its last confirmation", async () => {
    await using state = await stateOf();
    const { head, verified } = snapshotFor({ confirmedAt: virtualStartUnixMs - 5_000 });
    const kept = state.open();
    kept.save(head, verified.bytes);
    await kept.settled();
    expect(await state.open().read()).toEqual({ ok: true, value: verified });
    expect(await diskEvent(state.open())).toMatchObject({
      kind: "offer",
      offer: { source: "disk", confirmedAtMs: virtualStartUnixMs - 5_000 },
    });
  });

  it("has nothing at the first start", async () => {
    await using state = await stateOf();
    expect(await diskEvent(state.open())).toBeUndefined();
  });

  it("keeps no credential readable, and the file to its owner", async () => {
    await using state = await stateOf();
    const { head, verified } = snapshotFor({ name: "canary-password" });
    const kept = state.open();
    kept.save(head, verified.bytes);
    await kept.settled();
    const path = join(state.path, lastGoodFile);
    expect(readFileSync(path, "latin1")).not.toContain("canary");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(state.path).mode & 0o777).toBe(0o700);
    expect(readdirSync(state.path).filter((name) => name.includes("part"))).toEqual([]);
  });

  it("refuses a file of another secret, of another control plane, and says which", async () => {
    await using state = await stateOf();
    const { head, verified } = snapshotFor();
    const kept = state.open();
    kept.save(head, verified.bytes);
    await kept.settled();
    const foreign = state.open({ controlPlaneUrl: "https://other" });
    expect(await foreign.read()).toEqual({ ok: false, error: { code: "foreign" } });
    const stranger = state.open({ secrets: [otherSecret] });
    expect(await diskEvent(stranger)).toEqual({
      kind: "unverified",
      source: "disk",
      reason: lastGoodText({ code: "keyUnknown" }),
    });
  });

  it("never takes a file with flipped bits, a truncated one, or an arbitrary one, and never throws", async () => {
    await using state = await stateOf();
    const { head, verified } = snapshotFor();
    const kept = state.open();
    kept.save(head, verified.bytes);
    await kept.settled();
    const path = join(state.path, lastGoodFile);
    const whole = readFileSync(path);
    const flipped = fc
      .tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }))
      .map(([at, mask]) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        return bytes;
      });
    const cut = fc.nat(whole.length - 1).map((length) => whole.subarray(0, length));
    const broken = fc.oneof(flipped, cut, fc.uint8Array({ maxLength: 300 }));
    await fc.assert(
      fc.asyncProperty(broken, async (bytes) => {
        writeFileSync(path, bytes);
        expect((await state.open().read()).ok).toBe(false);
      }),
    );
  });

  it("refuses a sealed file whose snapshot was forged by somebody without the secret's head key", async () => {
    await using state = await stateOf();
    const forged = snapshotOf({ secret: otherSecret });
    const plain = Buffer.concat([
      Buffer.from('{"controlPlane":"https://control"}\n'),
      forged.bytes,
    ]);
    const bytes = seal(plain, testSecret, { purpose: "last good", context: "" }, virtualHost(1));
    writeFileSync(join(state.path, lastGoodFile), bytes);
    expect(await state.open().read()).toMatchObject({ error: { code: "snapshot" } });
  });

  it("is rewritten under the new secret before the previous one is taken away", async () => {
    await using state = await stateOf();
    const { head, verified } = snapshotFor();
    const before = state.open();
    before.save(head, verified.bytes);
    await before.settled();

    const during = state.open({ secrets: [otherSecret, testSecret] });
    expect((await during.read()).ok).toBe(true);
    const later = snapshotFor({ secret: otherSecret });
    during.save(later.head, later.verified.bytes);
    await during.settled();

    expect((await state.open({ secrets: [otherSecret] }).read()).ok).toBe(true);
  });

  it("writes a new revision at once and a confirmation only now and then", async () => {
    const writes: Uint8Array[] = [];
    const kept = lastGoodOf({
      ...partsOf(),
      dir: {
        read: () => Promise.resolve(ok(undefined)),
        write: (_name, bytes) => {
          writes.push(bytes);
          return Promise.resolve(ok(undefined));
        },
      },
    });
    const save = async (sequence: number, afterMs: number) => {
      const { head, verified } = snapshotFor({
        sequence,
        confirmedAt: virtualStartUnixMs + afterMs,
      });
      kept.save(head, verified.bytes);
      await kept.settled();
      return writes.length;
    };
    expect(await save(1, 0)).toBe(1);
    expect(await save(1, 10_000)).toBe(1);
    expect(await save(1, lastGoodFreshMs)).toBe(2);
    expect(await save(2, lastGoodFreshMs)).toBe(3);
  });

  it("writes one at a time, and of several only the last", async () => {
    const writes: (() => void)[] = [];
    const kept = lastGoodOf({
      ...partsOf(),
      dir: {
        read: () => Promise.resolve(ok(undefined)),
        write: () =>
          new Promise((resolve) => {
            writes.push(() => resolve(ok(undefined)));
          }),
      },
    });
    for (const sequence of [1, 2, 3, 4]) {
      const { head, verified } = snapshotFor({ sequence });
      kept.save(head, verified.bytes);
    }
    expect(writes).toHaveLength(1);
    writes[0]?.();
    await virtualHost(1).settle();
    expect(writes).toHaveLength(2);
    writes[1]?.();
    await kept.settled();
    expect(writes).toHaveLength(2);
  });

  it("goes on when the disk is full, says so once, and writes again when there is room", async () => {
    let full = true;
    const parts = partsOf();
    const kept = lastGoodOf({
      ...parts,
      dir: {
        read: () => Promise.resolve(ok(undefined)),
        write: () => Promise.resolve(full ? err("ENOSPC") : ok(undefined)),
      },
    });
    const { head, verified } = snapshotFor();
    for (let turn = 0; turn < 3; turn += 1) {
      kept.save(head, verified.bytes);
      await kept.settled();
    }
    expect(kept.problem()).toBe("ENOSPC");
    full = false;
    kept.save(head, verified.bytes);
    await kept.settled();
    expect(kept.problem()).toBeUndefined();
    expect(parts.host.log.lines.map(({ event }) => event)).toEqual([
      "worker.lastGoodFailed",
      "worker.lastGoodWritten",
    ]);
  });

  it("is judged by its age like any copy", async () => {
    const { head } = snapshotFor({ confirmedAt: virtualStartUnixMs - 90_000_000 });
    const event = await diskEvent({
      read: () => Promise.resolve(ok(snapshotFor({ confirmedAt: head.confirmedAt }).verified)),
      save: () => {},
      problem: () => undefined,
      settled: () => Promise.resolve(),
    });
    const limits = { copyAgeMsMax: 86_400_000, clockSkewMsMax: 60_000 };
    const offer = event?.kind === "offer" ? event.offer : undefined;
    expect(offer && judgeOffer(offer, undefined, virtualStartUnixMs, limits)).toMatchObject({
      refusal: { code: "copyTooOld" },
    });
  });
});

describe("openStateDir", () => {
  it("is held by one at a time, and free again afterwards", async () => {
    const path = mkdtempSync(join(root, "held-"));
    const first = await openStateDir(path);
    expect(await openStateDir(path)).toEqual({
      ok: false,
      error: `${path} is in use by another process`,
    });
    if (first.ok) await first.value[Symbol.asyncDispose]();
    const again = await openStateDir(path);
    expect(again.ok).toBe(true);
    if (again.ok) await again.value[Symbol.asyncDispose]();
  });

  it("clears away what a crash left half written, and says what can not be done", async () => {
    const path = mkdtempSync(join(root, "crash-"));
    writeFileSync(join(path, "last-good.part"), "half");
    const opened = await openStateDir(path);
    if (!opened.ok) throw new Error(opened.error);
    await using dir = opened.value;
    expect(readdirSync(path)).not.toContain("last-good.part");
    expect(await dir.read("none", 10)).toEqual({ ok: true, value: undefined });
    expect(await dir.write("no/such/folder", new Uint8Array(1))).toEqual({
      ok: false,
      error: "ENOENT",
    });
    await dir.write("large", new Uint8Array(11));
    expect(await dir.read("large", 10)).toEqual({ ok: false, error: "TOO_LARGE" });
  });
});

describe("unseal", () => {
  it("opens only for the purpose and the context it was sealed for", () => {
    const host = virtualHost(1);
    const as = { purpose: "peer answer", context: "nonce" } as const;
    const bytes = seal(Buffer.from("text"), testSecret, as, host);
    const opened = unseal(bytes, [otherSecret, testSecret], as);
    expect(opened).toMatchObject({ ok: true, value: { secretIndex: 1 } });
    expect(unseal(bytes, [testSecret], { ...as, context: "other" })).toEqual(err("notAuthentic"));
    expect(unseal(bytes, [testSecret], { ...as, purpose: "last good" })).toEqual(err("keyUnknown"));
    expect(unseal(bytes, [otherSecret], as)).toEqual(err("keyUnknown"));
  });
});

interface SnapshotFor {
  readonly sequence?: number;
  readonly confirmedAt?: number;
  readonly secret?: Secret;
  readonly name?: string;
}

function snapshotFor(options: SnapshotFor = {}) {
  const { head, bodyText } = snapshotOf(options);
  const bytes = Buffer.from(bodyText, "utf8");
  return { head, verified: { head, body: JSON.parse(bodyText), bytes: Uint8Array.from(bytes) } };
}

function partsOf() {
  const host = virtualHost(1);
  return { host, secrets: [testSecret], controlPlaneUrl: "https://control" } as const;
}

async function stateOf() {
  const path = mkdtempSync(join(root, "state-"));
  const opened = await openStateDir(path);
  if (!opened.ok) throw new Error(opened.error);
  const dir = opened.value;
  return {
    path,
    open: (more: Partial<LastGoodParts> = {}) => lastGoodOf({ ...partsOf(), dir, ...more }),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
