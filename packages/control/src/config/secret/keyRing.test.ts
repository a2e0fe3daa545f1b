import { randomBytes } from "node:crypto";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyRing, type KeyRing, type Place } from "./keyRing.ts";

describe("keyRing", () => {
  it("opens what it sealed, in both forms", () => {
    const roundTrip = fc.property(
      fc.uint8Array(),
      fc.string({ unit: "grapheme" }),
      (bytes, text) => {
        const ring = ringOf("a");
        expect(ring.open(ring.seal(bytes, place), place)).toEqual({ ok: true, value: bytes });
        expect(ring.openText(ring.sealText(text, place), place)).toEqual({ ok: true, value: text });
      },
    );
    fc.assert(roundTrip);
  });

  it("opens under a previous key and seals under the current one", () => {
    const old = ringOf("a").sealText("word", place);
    const ring = ringOf("b", "a");
    expect(ring.openText(old, place)).toEqual({ ok: true, value: "word" });
    expect(ring.sealText("word", place).split(".")[1]).toBe(ring.currentId);
    expect(ring.ids).toEqual([ringOf("b").currentId, ringOf("a").currentId]);
  });

  it("names the key that is not in the ring", () => {
    const keyId = ringOf("a").currentId;
    const error = { code: "keyUnknown", keyId };
    const sealed = ringOf("a").sealText("word", place);
    expect(ringOf("b").openText(sealed, place)).toEqual({ ok: false, error });
    expect(ringOf("b").open(ringOf("a").seal(new Uint8Array(3), place), place)).toEqual({
      ok: false,
      error,
    });
  });

  it.each<Partial<Place>>([{ table: "other" }, { row: "other" }, { field: "other" }])(
    "does not open what was moved to another place (%j)",
    (elsewhere) => {
      const ring = ringOf("a");
      const sealed = ring.sealText("word", place);
      const error = { code: "notAuthentic", keyId: ring.currentId };
      expect(ring.openText(sealed, { ...place, ...elsewhere })).toEqual({ ok: false, error });
    },
  );

  it("keeps the parts of a place apart", () => {
    const ring = ringOf("a");
    const sealed = ring.sealText("word", { table: "a", row: "b,c", field: "d" });
    expect(ring.openText(sealed, { table: "a", row: "b", field: "c,d" }).ok).toBe(false);
  });

  it("notices each changed or missing byte", () => {
    const ring = ringOf("a");
    const sealed = ring.seal(Uint8Array.of(1, 2, 3), place);
    for (const [index, byte] of sealed.entries()) {
      const changed = Uint8Array.from(sealed);
      changed[index] = byte ^ 1;
      expect(ring.open(changed, place).ok).toBe(false);
      expect(ring.open(sealed.subarray(0, index), place).ok).toBe(false);
    }
  });

  it.each(["", "v1", "v2.a.b.c", "word", "v1.0123456789abcdef.AAAAAAAAAAAAAAAA."])(
    "does not take %j for something sealed",
    (text) => {
      const error = { code: "malformed" };
      expect(ringOf("a").openText(text, place)).toEqual({ ok: false, error });
    },
  );

  it("never seals one text into the same bytes twice, and shows nothing of it", () => {
    const ring = ringOf("a");
    const first = ring.sealText("correct horse battery staple", place);
    expect(first).not.toBe(ring.sealText("correct horse battery staple", place));
    expect(first).toMatch(/^v1\.[0-9a-f]{16}\.[\w-]{16}\.[\w-]+$/);
    expect(first).not.toContain("horse");
  });
});

const place: Place = { table: "config_documents", row: "cluster/duck", field: "password" };

function ringOf(current: string, ...previous: string[]): KeyRing {
  const secret = (letter: string) => new Secret(letter.repeat(32));
  return keyRing([secret(current), ...previous.map(secret)], (length) => randomBytes(length));
}
