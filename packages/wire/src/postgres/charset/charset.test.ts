import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter, BodyReader } from "../bytes.ts";
import { parseServer } from "../server.ts";
import { charsetName, charsetNames, charsetOf, type Charset } from "./charset.ts";

describe("charsetName", () => {
  it.each([
    ["latin-1", "LATIN1"],
    ["ISO_8859-15", "LATIN9"],
    ["windows-1252", "WIN1252"],
    ["shift_jis", "SJIS"],
    ["eucjp", "EUC_JP"],
    ["koi8", "KOI8R"],
    ["uhc", "UHC"],
    ["windows-949", "UHC"],
    ["iso8859-16", "LATIN10"],
    ["euc-tw", "EUC_TW"],
    ["utf8", undefined],
    ["mule_internal", undefined],
    ["constructor", undefined],
  ])("%s is PostgreSQL's %s", (given, name) => {
    expect(charsetName(given)).toBe(name);
  });
});

/** Of what every one, two, three and four bytes are read as, as they were compared with PostgreSQL's one by one. */
const digests = {
  EUC_JP: "2da9a66b797413cc",
  SJIS: "796320a7c98d4f0c",
  BIG5: "e4ee1a791d6cb6c2",
  GBK: "0a4a029d68d9e435",
  EUC_CN: "2dd183b5126f85df",
  GB18030: "51e25eb124960881",
  EUC_KR: "297ddcee64a24205",
  UHC: "59d9bb8bf2d94646",
  JOHAB: "f0a5fd5beead619a",
  EUC_TW: "cf00227e03f137e0",
  EUC_JIS_2004: "2a0627467359fbf4",
  SHIFT_JIS_2004: "2c40459d1c15c71a",
} as const;

describe("charsetOf", () => {
  it.each(Object.entries(digests))("%s is read as a server reads it", (name, digest) => {
    const { decode } = charsetFor(name);
    const hash = createHash("sha256");
    for (let first = 0x80; first < 0x100; first += 1)
      for (let second = 0; second < 0x100; second += 1)
        for (const before of [[], [0x8f], [0x8e, 0xa1], [0x8e, 0xa2], [0x82, 0x35]])
          hash.update(`${decode(Uint8Array.from([...before, first, second])) ?? "-"},`);
    expect(hash.digest("hex").slice(0, 16)).toBe(digest);
  });

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
    ["WIN1252", [0xff], "ÿ"],
    ["LATIN10", [0xfe], "ț"],
    ["EUC_JP", [0x8f, 0xb0, 0xa1], "丂"],
    ["BIG5", [0xa1, 0x45], "•"],
    ["EUC_KR", [0xa2, 0xe8], "㉾"],
    ["EUC_CN", [0xb0, 0xa1], "啊"],
    ["UHC", [0x81, 0x41], "갂"],
    ["UHC", [0xfe, 0xfe], "\ue0bb"],
    ["JOHAB", [0x88, 0x61], "가"],
    ["JOHAB", [0x88, 0x41], "ㄱ"],
    ["JOHAB", [0x84, 0x44], "ㄳ"],
    ["JOHAB", [0xd9, 0x5c], "￡"],
    ["JOHAB", [0xe0, 0x31], "伽"],
    ["EUC_TW", [0xc4, 0xa1], "一"],
    ["EUC_TW", [0x8e, 0xa2, 0xf2, 0xc4], "龘"],
    ["GB18030", [0x95, 0x32, 0x82, 0x36], "\u{20000}"],
    ["EUC_JIS_2004", [0x8f, 0xa1, 0xa1], "\u{20089}"],
    ["EUC_JIS_2004", [0xa4, 0xf7], "か\u309a"],
    ["EUC_JIS_2004", [0xab, 0xc4], "æ\u0300"],
    ["EUC_JIS_2004", [0xab, 0xe5], "\u02e9\u02e5"],
    ["EUC_JIS_2004", [0x8e, 0xb1], "ｱ"],
    ["SHIFT_JIS_2004", [0xf0, 0x40], "\u{20089}"],
    ["SHIFT_JIS_2004", [0x82, 0xf5], "か\u309a"],
    ["SHIFT_JIS_2004", [0x95, 0x5c], "表"],
    ["SHIFT_JIS_2004", [0x81, 0x50], "￣"],
    ["SHIFT_JIS_2004", [0xb1], "ｱ"],
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
    ["UHC", [0xb0, 0x27]],
    ["UHC", [0xb0, 0x5c]],
    ["JOHAB", [0x88, 0x27]],
    ["GB18030", [0x81, 0x27]],
    ["GB18030", [0x81, 0x30, 0x81, 0x27]],
    ["GB18030", [0x81, 0x30, 0x81]],
    ["EUC_TW", [0x8e, 0xa2, 0xf2, 0x27]],
    ["EUC_TW", [0x8e, 0xa2, 0xf2]],
    ["EUC_JP", [0x8f, 0xb0, 0x5c]],
    ["WIN1252", [0x81]],
    ["EUC_JIS_2004", [0x8f, 0xa1, 0x5c]],
    ["EUC_JIS_2004", [0xa4]],
    ["EUC_JIS_2004", [0x8e, 0x27]],
    ["SHIFT_JIS_2004", [0x95, 0x27]],
    ["SHIFT_JIS_2004", [0x81, 0x5f]],
    ["SHIFT_JIS_2004", [0x81, 0xb0]],
  ])("%s takes no quotation mark or end into a character: %j", (name, bytes) => {
    expect(charsetFor(name).decode(Uint8Array.from(bytes))).toBeUndefined();
  });

  it.each([
    ["EUC_JP", [0xfc, 0xfe]],
    ["EUC_KR", [0x81, 0x41]],
    ["EUC_TW", [0x8e, 0xae, 0xa1, 0xa6]],
    ["JOHAB", [0x88, 0x5c]],
    // In the edition of 2022 these bytes are another character.
    ["GB18030", [0xa8, 0xbc]],
    ["GB18030", [0xfe, 0x59]],
  ])("%s has no character that the server has not: %j", (name, bytes) => {
    expect(charsetFor(name).decode(Uint8Array.from(bytes))).toBeUndefined();
  });

  it("says a character and the sign behind it as one where the set has them so, and else as two", () => {
    const charset = charsetFor("EUC_JIS_2004");
    const said = (text: string) => Buffer.from(charset.encode(text) ?? []).toString("hex");
    expect(said("か\u309aか")).toBe("a4f7a4ab");
    expect(said("\u02e9\u02e9")).toBe(said("\u02e9").repeat(2));
    expect(charset.encode("あ\u309a")).toBeUndefined();
    expect(said("\u{20089}か")).toBe("8fa1a1a4ab");
    expect(charset.encode("か\u0301x\u0323")).toBeUndefined();
    expect(charset.shown(Uint8Array.from([0xa4, 0xab, 0xff, 0x41]))).toBe("か?A");
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
    const reader = new BodyReader(bytes, charsetFor("SJIS").decode);
    expect([reader.text(), reader.verdict()]).toEqual(["表?", "ok"]);
    const plain = new BodyReader(bytes);
    expect([plain.text(), plain.verdict()]).toEqual(["", "text"]);
  });

  it("of a server have a question mark for what the server itself does not read", () => {
    const body = Uint8Array.from([0x53, 0x8e, 0xae, 0xa1, 0xa6, 0xc4, 0xa1, 0, 0]);
    const read = parseServer({ type: 0x4e, body }, charsetFor("EUC_TW"));
    expect(read?.kind === "notice" ? read.report.get("S") : undefined).toBe("?一");
    expect(parseServer({ type: 0x4e, body })).toBeUndefined();
  });
});

function charsetFor(name: string): Charset {
  const charset = charsetOf(name);
  if (charset === undefined) throw new Error(`no character set ${name}`);
  return charset;
}
