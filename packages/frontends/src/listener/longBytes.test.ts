import { characterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { suiteHost } from "../rig/host.ts";
import { areLong, decodedInSlices } from "./longBytes.ts";

const { slices } = suiteHost();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

describe("decodedInSlices", () => {
  it("answers what decoding in one go answers, wherever characters lie, and whatever is no text", async () => {
    const unit = fc.constantFrom("a", "ä", "字", "😀", "\u{feff}", "\0");
    const broken = fc.constantFrom(
      [],
      [],
      [],
      [0x80],
      [0xe4],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
    );
    const parts = fc.array(fc.tuple(unit, fc.integer({ min: 1, max: 30_000 }), broken), {
      maxLength: 6,
    });
    const alike = fc.asyncProperty(parts, async (written) => {
      const bytes = Buffer.concat(
        written.flatMap(([text, count, bad]) => [
          Buffer.from(text.repeat(count)),
          Buffer.from(bad),
        ]),
      );
      expect(await decodedInSlices(bytes, decode, whoOf(), slices)).toEqual({
        text: decode(bytes),
      });
    });
    await fc.assert(alike, { numRuns: 60 });
  });

  it("ends pieces where the characters of another set end", async () => {
    const { decode: decodeSjis, encode, pieceEnd } = characterSet("sjis");
    // The second byte of the character is a backslash's too, and clients write that by itself.
    const both = Buffer.concat([encode("表"), Buffer.from("\\")]);
    const bytes = Buffer.concat([Buffer.from("a"), Buffer.alloc(30_000 * both.length, both)]);
    if (pieceEnd === undefined) throw new Error("a character may begin anywhere");
    const how = { decode: decodeSjis, pieceEnd };
    const found = await decodedInSlices(bytes, how, whoOf(), slices);
    expect(found?.text).toBe(decodeSjis(bytes));
    expect((await decodedInSlices(bytes, decodeSjis, whoOf(), slices))?.text).not.toBe(found?.text);
  });

  it("lets others go first many times", async () => {
    let pieces = 0;
    const bytes = Buffer.alloc(2_000_000, "ä");
    expect(areLong(bytes)).toBe(true);
    const counting = (piece: Uint8Array) => ((pieces += 1), decode(piece));
    const found = await decodedInSlices(bytes, counting, whoOf(), slices);
    expect(found?.text).toBe("ä".repeat(1_000_000));
    expect(pieces).toBeGreaterThan(50);
  });

  it("decodes nothing more for a client that left", async () => {
    const client = { over: false };
    const reading = decodedInSlices(Buffer.alloc(10_000_000, "a"), decode, whoOf(client), slices);
    client.over = true;
    expect(await reading).toBeUndefined();
  });
});

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function whoOf(client = { over: false }) {
  return { user: "ann", client };
}
