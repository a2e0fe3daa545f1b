import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { characterSet, isCharacterSet, type CharacterSet } from "./characterSet.ts";

/** Of what every two and three bytes are read as, as they were compared with those of MySQL 9 one by one. */
const digests = {
  sjis: "f7a9f9559695f9d2",
  cp932: "022dffb5b10b28f1",
  ujis: "383f15d2b8c94343",
  eucjpms: "c5f3f42dcb137d30",
  gbk: "2e445dc6fb55fe2a",
  gb2312: "26b56f4773709c78",
  gb18030: "409c50461ebebd90",
  big5: "8dcbf7cd8a1bb0de",
  euckr: "e28e312cfdc15119",
} as const;

describe("a character set of several bytes a character", () => {
  it.each(Object.entries(digests))("%s is read as a server reads it", (name, digest) => {
    const { decode } = setFor(name);
    const hash = createHash("sha256");
    for (let first = 0x80; first < 0x100; first += 1)
      for (let second = 0; second < 0x100; second += 1) {
        hash.update(`${decode(Uint8Array.of(first, second)) ?? "-"},`);
        hash.update(`${decode(Uint8Array.of(0x8f, first, second)) ?? "-"};`);
      }
    expect(hash.digest("hex").slice(0, 16)).toBe(digest);
  });

  it.each([
    ["sjis", "955c", "表"],
    ["cp932", "835c8740b1", "ソ①ｱ"],
    ["ujis", "8fb0a1b0a1", "丂亜"],
    ["eucjpms", "ada1f5a1", "①\ue000"],
    ["gbk", "815c", "乗"],
    ["gb2312", "b0a1", "啊"],
    ["gb18030", "81308130813181319438e1349835f3368135f437", "\u0080\u060b🀄\u{2a6d6}\ue7c7"],
    ["big5", "a55cc6a1", "功ヾ"],
    ["euckr", "b0a28141a2e6", "각갂€"],
  ] as const)("%s reads and writes %s", (name, hex, text) => {
    const { decode, encode } = setFor(name);
    expect(decode(Buffer.from(hex, "hex"))).toBe(text);
    expect(Buffer.from(encode(text)).toString("hex")).toBe(hex);
  });

  it.each([
    ["sjis", "9527"],
    ["sjis", "95"],
    ["sjis", "815f"],
    ["cp932", "8127"],
    ["gbk", "8127"],
    ["gbk", "80"],
    ["big5", "a527"],
    ["ujis", "b05c"],
    ["ujis", "a1c0"],
    ["ujis", "8fa2b7"],
    ["euckr", "b05c"],
    ["gb2312", "815c"],
    ["gb18030", "81308127"],
    ["gb18030", "813081"],
  ])("%s has no character of ASCII or of half the bytes in %s", (name, hex) => {
    expect(setFor(name).decode(Buffer.from(hex, "hex"))).toBeUndefined();
  });

  it("writes what it has read so that it is shown again, and ASCII as it is but a backslash of sjis", () => {
    for (const name of Object.keys(digests)) {
      const { decode, encode, shown } = setFor(name);
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 6 }), (bytes) => {
          const text = decode(bytes);
          return text === undefined || shown(encode(text)) === text;
        }),
      );
      const ascii = Uint8Array.from({ length: 128 }, (_, byte) => byte);
      // As both servers do; cp932 and the others have it in its own byte.
      const backslash = name === "sjis" ? [0x81, 0x5f] : [0x5c];
      const written = [...ascii.subarray(0, 0x5c), ...backslash, ...ascii.subarray(0x5d)];
      expect([...encode(decode(ascii) ?? "")]).toEqual(written);
    }
  });

  it("has every character of Unicode as gb18030", () => {
    const { decode, encode } = setFor("gb18030");
    const planes = [
      [0, 0xd7ff],
      [0xe000, 0xffff],
      [0x1_0000, 0x1_0400],
      [0x10_fc00, 0x10_ffff],
    ] as const;
    for (const [from, to] of planes) {
      const all = Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at));
      const text = all.join("");
      expect(decode(encode(text)) === text).toBe(true);
    }
  });

  it("is read in pieces as in one go", () => {
    for (const name of Object.keys(digests)) {
      const { decode, encode, pieceEnd } = setFor(name);
      const text = fc.string({ unit: fc.constantFrom("a", "\\", "表", "亜", "\u{2a6d6}", "ｱ") });
      fc.assert(
        fc.property(text, fc.integer({ min: 1, max: 9 }), (written, length) => {
          const bytes = Buffer.concat(
            Array.from(written, (one) => (one === "\\" ? Buffer.from(one) : encode(one))),
          );
          const pieces: string[] = [];
          for (let at = 0; at < bytes.length;) {
            const end = pieceEnd?.(bytes, at, at + length) ?? bytes.length;
            pieces.push(decode(bytes.subarray(at, end)) ?? "none");
            at = end;
          }
          expect(pieces.join("")).toBe(decode(bytes));
        }),
      );
    }
  });

  it("has a question mark for what it lacks, in both directions", () => {
    expect(Buffer.from(setFor("sjis").encode("é表💩")).toString("hex")).toBe("3f955c3f");
    const shown = setFor("sjis").shown(Buffer.from("955c8127815f", "hex"));
    expect(shown).toBe("表?'\\");
  });

  it.each(["utf16", "ucs2", "utf32", "hebrew", "toString"])("is not %s", (name) =>
    expect(isCharacterSet(name)).toBe(false),
  );
});

function setFor(name: string): CharacterSet {
  if (!isCharacterSet(name)) throw new Error(`no character set ${name}`);
  return characterSet(name);
}
