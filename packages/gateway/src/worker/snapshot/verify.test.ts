import { gzipSync } from "node:zlib";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snapshotBytesMax, snapshotDepthMax, snapshotInflatedBytesMax } from "../limits.ts";
import { bodyOf, otherSecret, signed, snapshotOf, testSecret } from "../rig/snapshot.ts";
import { faultText, headKeysOf, inflated, verifyHead, verifySnapshot } from "./verify.ts";

const keys = headKeysOf([testSecret]);

describe("verifySnapshot", () => {
  it("takes what a control plane with our secret serves", async () => {
    const { bytes, head, bodyText } = snapshotOf();
    const verified = await verifySnapshot(bytes, keys);
    expect(verified).toMatchObject({ ok: true, value: { head, body: bodyOf("duck") } });
    expect(verified.ok && Buffer.from(verified.value.bytes).toString("utf8")).toBe(bodyText);
  });

  it("takes the same values in other bytes, and has their canonical form", async () => {
    const { head, bodyText } = snapshotOf();
    const rewritten = JSON.stringify({ ...bodyOf("duck"), head }, undefined, 2);
    const verified = await verifySnapshot(Buffer.from(rewritten, "utf8"), keys);
    expect(verified.ok && Buffer.from(verified.value.bytes).toString("utf8")).toBe(bodyText);
  });

  it("takes a head that is authentic under either of two secrets", async () => {
    const { bytes } = snapshotOf();
    expect((await verifySnapshot(bytes, headKeysOf([otherSecret, testSecret]))).ok).toBe(true);
    expect(await verifySnapshot(bytes, headKeysOf([otherSecret]))).toMatchObject(refused("mac"));
    expect(await verifySnapshot(bytes, [])).toMatchObject(refused("mac"));
  });

  it("refuses a format that this build does not read, whatever its shape", async () => {
    const { bytes } = snapshotOf({ schemaVersion: 2 });
    expect(await verifySnapshot(bytes, keys)).toMatchObject(refused("schemaUnknown"));
    const later = { head: { schemaVersion: 9, signature: "new" }, content: [] };
    expect(await verifySnapshot(Buffer.from(JSON.stringify(later)), keys)).toMatchObject(
      refused("schemaUnknown"),
    );
  });

  it("refuses a changed position, age or hash", async () => {
    const { head, bodyText } = snapshotOf();
    const changes = [
      { epoch: head.epoch + 1 },
      { sequence: head.sequence + 1 },
      { confirmedAt: head.confirmedAt + 1 },
      { revision: `sha256:${"0".repeat(64)}` },
    ];
    for (const change of changes) {
      const text = `{"head":${JSON.stringify({ ...head, ...change })},${bodyText.slice(1)}`;
      expect(await verifySnapshot(Buffer.from(text), keys)).toMatchObject(refused("mac"));
    }
  });

  it("refuses an authentic head with the body of another snapshot", async () => {
    const { head } = snapshotOf();
    const { bodyText } = snapshotOf({ name: "other" });
    const text = `{"head":${JSON.stringify(head)},${bodyText.slice(1)}`;
    expect(await verifySnapshot(Buffer.from(text), keys)).toMatchObject(refused("hash"));
  });

  it("refuses missing, null and extra fields even under an authentic head", async () => {
    const whole = bodyOf("duck");
    const names = Object.keys(whole).filter((name) => name !== "routingFallback");
    const bodies = [
      ...names.map((name) => Object.fromEntries(Object.entries(whole).filter(([k]) => k !== name))),
      ...names.map((name) => ({ ...whole, [name]: null })),
      { ...whole, extra: 1 },
      { ...whole, settings: { extra: {} } },
      { ...whole, clusters: { duck: "text" } },
    ];
    for (const body of bodies) {
      expect(await verifySnapshot(snapshotOf({ body }).bytes, keys)).toMatchObject(
        refused("shape"),
      );
    }
  });

  it("refuses what would set a prototype", async () => {
    const { bytes } = snapshotOf({
      body: { ...bodyOf("a"), clusters: JSON.parse('{"__proto__":{}}') },
    });
    expect(await verifySnapshot(bytes, keys)).toMatchObject(refused("shape"));
  });

  it("refuses nesting that would run a reader out of stack", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(snapshotDepthMax)}1${"}".repeat(snapshotDepthMax)}`);
    const { bytes } = snapshotOf({ body: { ...bodyOf("a"), translation: deep } });
    expect(await verifySnapshot(bytes, keys)).toMatchObject(refused("tooDeep"));
    const deeper = `{"head":{},"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect((await verifySnapshot(Buffer.from(deeper), keys)).ok).toBe(false);
  });

  it("refuses ten times too much before it looks inside", async () => {
    const bytes = new Uint8Array(snapshotInflatedBytesMax + 1);
    expect(await verifySnapshot(bytes, keys)).toMatchObject(refused("tooLarge"));
  });

  it("never takes a snapshot with flipped bits", async () => {
    const { bytes } = snapshotOf();
    const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(flips, async (places) => {
        const broken = Uint8Array.from(bytes);
        for (const [at, mask] of places) broken[at] = (broken[at] ?? 0) ^ mask;
        fc.pre(Buffer.compare(broken, bytes) !== 0);
        const verified = await verifySnapshot(broken, keys);
        // A flip inside the white space or escapes of JSON could leave the values as they were; here none can.
        expect(verified.ok).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("never takes a truncated snapshot, nor one with something behind it", async () => {
    const { bytes } = snapshotOf();
    for (let length = 0; length < bytes.length; length += 1) {
      expect((await verifySnapshot(bytes.subarray(0, length), keys)).ok).toBe(false);
    }
    for (const more of ["}", ",", '{"a":1}', "\0"]) {
      expect((await verifySnapshot(Buffer.concat([bytes, Buffer.from(more)]), keys)).ok).toBe(
        false,
      );
    }
  });

  it("never throws and never takes what is arbitrary", async () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.json().map((text) => Buffer.from(`{"head":${text},"clusters":{}}`)),
      fc.string().map((text) => Buffer.from(`{"head":{${text}},${text}`)),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const verified = await verifySnapshot(bytes, keys);
        expect(verified.ok).toBe(false);
        expect(verified.ok ? "" : faultText(verified.error)).not.toBe("");
      }),
      { numRuns: 1_000 },
    );
  });

  it("does not throw on text and numbers that canonical JSON can not hold", async () => {
    const { head } = snapshotOf();
    for (const value of ['"\\ud800"', "1e999"]) {
      const text = `{"a":${value},"head":${JSON.stringify(head)}}`;
      expect(await verifySnapshot(Buffer.from(text), keys)).toMatchObject(refused("notJson"));
    }
  });

  it("never names a value in a fault", async () => {
    const body = { ...bodyOf("duck"), history: "hunter2-hunter2" };
    const verified = await verifySnapshot(snapshotOf({ body }).bytes, keys);
    expect(verified.ok ? "" : faultText(verified.error)).toBe(
      "the snapshot has a missing, wrong or unknown field: snapshot.history",
    );
  });
});

describe("verifyHead", () => {
  it("takes an authentic head and nothing else", async () => {
    const { head } = snapshotOf();
    expect(verifyHead(head, keys)).toEqual({ ok: true, value: head });
    expect(verifyHead({ ...head, sequence: 2 }, keys)).toMatchObject(refused("mac"));
    expect(verifyHead({ ...head, more: 1 }, keys)).toMatchObject(refused("shape"));
    expect(verifyHead(undefined, keys)).toMatchObject(refused("shape"));
    expect(verifyHead(signed(head, otherSecret), keys)).toMatchObject(refused("mac"));
  });
});

describe("inflated", () => {
  it("inflates gzip and leaves identity alone", async () => {
    const { bytes } = snapshotOf();
    expect(await inflated(gzipSync(bytes), "gzip")).toEqual({ ok: true, value: bytes });
    expect(await inflated(bytes, undefined)).toEqual({ ok: true, value: bytes });
    expect(await inflated(bytes, "br")).toMatchObject(refused("unknownCoding"));
  });

  it("stops a bomb at the limit", async () => {
    const bomb = gzipSync(new Uint8Array(snapshotInflatedBytesMax + 1));
    expect(bomb.length).toBeLessThan(snapshotBytesMax);
    expect(await inflated(bomb, "gzip")).toMatchObject(refused("tooLarge"));
  });

  it("refuses more compressed bytes than allowed", async () => {
    const sent = new Uint8Array(snapshotBytesMax + 1);
    expect(await inflated(sent, "gzip")).toMatchObject(refused("tooLarge"));
  });

  it("never throws on damaged gzip, and never lets it through as something else", async () => {
    const sent = gzipSync(snapshotOf().bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sent.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const broken = Uint8Array.from(sent);
          broken[at] = (broken[at] ?? 0) ^ mask;
          const plain = await inflated(broken, "gzip");
          // The header holds bytes that carry nothing (time, system): those change no content.
          const same = plain.ok && Buffer.compare(plain.value, snapshotOf().bytes) === 0;
          expect(plain.ok && !same && (await verifySnapshot(plain.value, keys)).ok).toBe(false);
        },
      ),
    );
    expect(await inflated(sent.subarray(0, sent.length - 9), "gzip")).toMatchObject(
      refused("notGzip"),
    );
  });

  it("agrees with the canonical form about what is hashed", async () => {
    const { bodyText } = snapshotOf();
    expect(canonicalJson(JSON.parse(bodyText))).toBe(bodyText);
  });
});

function refused(code: string) {
  return { ok: false, error: { code } };
}
