import { randomBytes } from "node:crypto";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyRing, type KeyRing, type SealedCell } from "./keyRing.ts";

describe("keyRing", () => {
  it("opens what it sealed, in both forms", () => {
    const roundTrip = fc.property(
      fc.uint8Array(),
      fc.string({ unit: "grapheme" }),
      (bytes, text) => {
        const ring = ringOf("a");
        expect(ring.open(ring.seal(bytes, cell), cell)).toEqual({ ok: true, value: bytes });
        expect(ring.openText(ring.sealText(text, cell), cell)).toEqual({ ok: true, value: text });
      },
    );
    fc.assert(roundTrip);
  });

  it("opens under a previous key and seals under the current one", () => {
    const old = ringOf("a").sealText("word", cell);
    const ring = ringOf("b", "a");
    expect(ring.openText(old, cell)).toEqual({ ok: true, value: "word" });
    expect(ring.sealText("word", cell).split(".")[1]).toBe(ring.currentId);
    expect(ring.ids).toEqual([ringOf("b").currentId, ringOf("a").currentId]);
  });

  it("names the key that is not in the ring", () => {
    const keyId = ringOf("a").currentId;
    const error = { code: "keyUnknown", keyId };
    const sealed = ringOf("a").sealText("word", cell);
    expect(ringOf("b").openText(sealed, cell)).toEqual({ ok: false, error });
    expect(ringOf("b").open(ringOf("a").seal(new Uint8Array(3), cell), cell)).toEqual({
      ok: false,
      error,
    });
  });

  it.each<Partial<SealedCell>>([{ table: "other" }, { row: "other" }, { field: "other" }])(
    "does not open what was moved to another place (%j)",
    (elsewhere) => {
      const ring = ringOf("a");
      const sealed = ring.sealText("word", cell);
      const error = { code: "notAuthentic", keyId: ring.currentId };
      expect(ring.openText(sealed, { ...cell, ...elsewhere })).toEqual({ ok: false, error });
    },
  );

  it("keeps the parts of a place apart", () => {
    const ring = ringOf("a");
    const sealed = ring.sealText("word", { table: "a", row: "b,c", field: "d" });
    expect(ring.openText(sealed, { table: "a", row: "b", field: "c,d" }).ok).toBe(false);
  });

  it("notices each changed or missing byte", () => {
    const ring = ringOf("a");
    const sealed = ring.seal(Uint8Array.of(1, 2, 3), cell);
    for (const [index, byte] of sealed.entries()) {
      const changed = Uint8Array.from(sealed);
      changed[index] = byte ^ 1;
      expect(ring.open(changed, cell).ok).toBe(false);
      expect(ring.open(sealed.subarray(0, index), cell).ok).toBe(false);
    }
  });

  it.each(["", "v1", "v2.a.b.c", "word", "v1.0123456789abcdef.AAAAAAAAAAAAAAAA."])(
    "does not take %j for something sealed",
    (text) => {
      const error = { code: "malformed" };
      expect(ringOf("a").openText(text, cell)).toEqual({ ok: false, error });
    },
  );

  it("never seals one text into the same bytes twice, and shows nothing of it", () => {
    const ring = ringOf("a");
    const first = ring.sealText("correct horse battery staple", cell);
    expect(first).not.toBe(ring.sealText("correct horse battery staple", cell));
    expect(first).toMatch(/^v1\.[0-9a-f]{16}\.[\w-]{16}\.[\w-]+$/);
    expect(first).not.toContain("horse");
  });
});

const cell: SealedCell = { table: "config_documents", row: "cluster/duck", field: "password" };

function ringOf(current: string, ...previous: string[]): KeyRing {
  const secret = (letter: string) => new Secret(letter.repeat(32));
  return keyRing([secret(current), ...previous.map(secret)], (length) => randomBytes(length));
}
