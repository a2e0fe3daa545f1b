import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSingleByte, singleByteSet } from "./singleByte.ts";

const names = "latin1 latin2 latin7 cp1250 cp1251 cp1256 cp1257 koi8r koi8u cp866 macroman".split(
  " ",
);

describe("a character set of one byte a character", () => {
  it.each([
    ["latin1", "80e4ff", "€äÿ"],
    ["latin2", "b1e8", "ąč"],
    ["latin7", "e0fe", "ąž"],
    ["cp1250", "80b9", "€ą"],
    ["cp1251", "eff0e8", "при"],
    ["cp1257", "e0fe80", "ąž€"],
    ["koi8r", "d0d2c9", "при"],
    ["koi8u", "a6d2c9", "іри"],
    ["cp866", "afe0a8", "при"],
    ["macroman", "8a9a", "äö"],
  ] as const)("%s reads and writes %s as a server does", (name, hex, text) => {
    const { decode, encode } = singleByteSet(name);
    expect(decode(Buffer.from(hex, "hex"))).toBe(text);
    expect(Buffer.from(encode(text)).toString("hex")).toBe(hex);
  });

  it("gives back whatever it has read", () => {
    for (const name of names) {
      expect(isSingleByte(name)).toBe(true);
      const { decode, encode } = singleByteSet(isSingleByte(name) ? name : "latin1");
      fc.assert(
        fc.property(fc.uint8Array(), (bytes) => {
          const text = decode(bytes);
          expect([...(text === undefined ? bytes : encode(text))]).toEqual([...bytes]);
        }),
      );
    }
  });

  it("reads every byte as latin1, and none that cp1257 has not", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(singleByteSet("latin1").decode(all)).toHaveLength(256);
    expect(singleByteSet("cp1257").decode(Uint8Array.of(0x61, 0xa1))).toBeUndefined();
  });

  it("has a question mark for what it lacks", () => {
    const written = singleByteSet("latin1").encode("ą💩a");
    expect(Buffer.from(written).toString("latin1")).toBe("??a");
  });

  it("shows a question mark for a byte that is no character", () =>
    expect(singleByteSet("cp1257").shown(Uint8Array.of(0x61, 0xa1))).toBe("a?"));

  it.each(["utf8mb4", "binary", "toString"])("is not %s", (name) =>
    expect(isSingleByte(name)).toBe(false),
  );
});
