import fc from "fast-check";
import { expect, it } from "vitest";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { halvesPackets, standingFor, standingOf } from "./halves.ts";

const textAt = 5;

it("characters of four bytes are two halves of three, and all others what they are in UTF-8", () => {
  const packet = halvesPackets(commandCode.query, "é💩表", Uint8Array.of(9));
  expect(Buffer.from(packet).toString("hex")).toBe("0d0000000309c3a9eda0bdedb2a9e8a1a8");
});

it("halves are UTF-16's, each written as a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const whole = text.replaceAll(/\p{Cs}/gu, "");
      const written = Buffer.from(halvesPackets(commandCode.query, whole)).subarray(textAt);
      const units: number[] = [];
      for (let at = 0; at < written.length;) {
        const byte = written[at] ?? 0;
        const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : 3;
        const rest = [...written.subarray(at + 1, at + length)];
        const first = length === 1 ? byte : byte & (0x7f >> length);
        units.push(rest.reduce((code, one) => (code << 6) | (one & 0x3f), first));
        at += length;
      }
      expect(String.fromCharCode(...units)).toBe(whole);
    }),
  );
});

it("only a client of utf8 has a text of them sent so", () => {
  expect(standingFor("utf8mb3", "select '💩'")).toBe("halves");
  expect(standingFor("utf8mb3", "select '表'")).toBe("utf8mb3");
  expect(standingFor("gb18030", "select '💩'")).toBe("gb18030");
});

it("a value with one of them, in halves or whole, stands as a text with one", () => {
  const of = (body: Uint8Array, ahead?: Uint8Array) =>
    standingOf("utf8mb3", "select ?", {
      body,
      longData: new Map(ahead === undefined ? [] : [[0, ahead]]),
    });
  const plain = Buffer.from("é 表 ퟿");
  const whole = Buffer.from("x💩");
  const halved = halvesPackets(commandCode.query, "x💩").subarray(textAt);
  expect(of(plain)).toBe("utf8mb3");
  for (const value of [whole, halved]) {
    expect(of(value)).toBe("halves");
    expect(of(plain, value)).toBe("halves");
    expect(standingOf("gbk", "select ?", { body: value, longData: new Map() })).toBe("gbk");
  }
  expect(standingOf("utf8mb3", "select 1", undefined)).toBe("utf8mb3");
});
