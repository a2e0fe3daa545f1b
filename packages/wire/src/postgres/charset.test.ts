import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter, BodyReader } from "./bytes.ts";
import { charsetName, charsetNames, charsetOf, type Charset } from "./charset.ts";

describe("charsetName", () => {
  it.each([
    ["latin-1", "LATIN1"],
    ["ISO_8859-15", "LATIN9"],
    ["windows-1252", "WIN1252"],
    ["shift_jis", "SJIS"],
    ["eucjp", "EUC_JP"],
    ["koi8", "KOI8R"],
    ["utf8", undefined],
    ["EUC_TW", undefined],
    ["constructor", undefined],
  ])("%s is PostgreSQL's %s", (given, name) => {
    expect(charsetName(given)).toBe(name);
  });
});

describe("charsetOf", () => {
  it.each(charsetNames)("what %s writes it reads again, ASCII as it is", (name) => {
    const charset = charsetFor(name);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = charset.decode(bytes);
        const again = text === undefined ? undefined : charset.encode(text);
        return text === (again && charset.decode(again));
      }),
    );
    const ascii = Uint8Array.from({ length: 128 }, (_, at) => at);
    expect(charset.encode(charset.decode(ascii) ?? "")).toEqual(ascii);
  });

  it.each([
    ["WIN1252", [0x80], "€"],
    ["LATIN1", [0x80], "\u0080"],
    ["LATIN9", [0xa4], "€"],
    ["SJIS", [0x95, 0x5c], "表"],
    ["SJIS", [0xb1], "ｱ"],
    ["GBK", [0x81, 0x5c], "乗"],
  ])("%s has %j for a character", (name, bytes, text) => {
    const charset = charsetFor(name);
    expect(charset.decode(Uint8Array.from(bytes))).toBe(text);
    expect(charset.encode(text)).toEqual(Uint8Array.from(bytes));
  });

  it.each([
    ["SJIS", [0x95]],
    ["SJIS", [0x95, 0x27]],
    ["GBK", [0x81, 0x27]],
    ["BIG5", [0xa5, 0x27]],
    ["EUC_KR", [0xb0, 0x5c]],
    ["WIN1252", [0x81]],
  ])("%s takes no quotation mark or end into a character: %j", (name, bytes) => {
    expect(charsetFor(name).decode(Uint8Array.from(bytes))).toBeUndefined();
  });

  it("has no bytes for what the set does not have", () => {
    expect(charsetFor("LATIN1").encode("a€")).toBeUndefined();
    expect(charsetOf("UTF8")).toBeUndefined();
  });
});

describe("a message's texts", () => {
  it("are written and read in the set, and a character that is none of it is a question mark", () => {
    const out = new ByteWriter();
    out.charset = charsetFor("SJIS");
    out.text("表é");
    const bytes = out.take();
    expect([...bytes]).toEqual([0x95, 0x5c, 0x3f, 0]);
    const reader = new BodyReader(bytes, charsetFor("SJIS"));
    expect([reader.text(), reader.verdict()]).toEqual(["表?", "ok"]);
    const plain = new BodyReader(bytes);
    expect([plain.text(), plain.verdict()]).toEqual(["", "text"]);
  });
});

function charsetFor(name: string): Charset {
  const charset = charsetOf(name);
  if (charset === undefined) throw new Error(`no character set ${name}`);
  return charset;
}
