import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFrontend, parsePassword, parseSaslInitial, type FrontendStep } from "./frontend.ts";

describe("parseFrontend", () => {
  it.each([
    ["Q", "73656c656374203100", { kind: "query", sql: "select 1" }],
    [
      "P",
      "733100 73656c656374202431 00 0002 00000017 ffffffff",
      { kind: "parse", statement: "s1", sql: "select $1", types: [23, 2 ** 32 - 1] },
    ],
    [
      "B",
      "7000 733100 0001 0001 0003 00000001 2a ffffffff 00000000 0002 0000 0001",
      {
        kind: "bind",
        portal: "p",
        statement: "s1",
        formats: [1],
        values: [Uint8Array.of(42), undefined, new Uint8Array(0)],
        resultFormats: [0, 1],
      },
    ],
    ["D", "53733100", { kind: "describe", target: "statement", name: "s1" }],
    ["D", "5000", { kind: "describe", target: "portal", name: "" }],
    ["E", "700000000032", { kind: "execute", portal: "p", maxRows: 50 }],
    ["E", "00ffffffff", { kind: "execute", portal: "", maxRows: 0 }],
    ["C", "50 7000", { kind: "close", target: "portal", name: "p" }],
    ["H", "", { kind: "flush" }],
    ["S", "", { kind: "sync" }],
    ["X", "", { kind: "terminate" }],
    [
      "F",
      "00000539 0001 0001 0002 00000002 6162 ffffffff 0001",
      {
        kind: "functionCall",
        function: 1337,
        formats: [1],
        values: [bytesOf("6162"), undefined],
        resultFormat: 1,
      },
    ],
    ["p", "736563726574 00", { kind: "password", body: bytesOf("73656372657400") }],
    ["d", "0102", { kind: "copyData", body: Uint8Array.of(1, 2) }],
    ["c", "", { kind: "copyDone" }],
    ["f", "6e6f00", { kind: "copyFail", reason: "no" }],
  ])("reads %s with body %s", (type, hex, message) => {
    expect(parsed(type, hex)).toEqual({ kind: "message", message });
  });

  it.each([
    ["Q", "", "Query"],
    ["Q", "73656c656374", "Query"],
    ["Q", "730073", "Query"],
    ["P", "00000001", "Parse"],
    ["P", "0000ffff00000017", "Parse"],
    ["B", "0000ffff", "Bind"],
    ["B", "0000 0001 0002 0000 0000", "Bind"],
    ["B", "0000 0000 ffff 00000000", "Bind"],
    ["B", "0000 0000 0001 fffffffe 0000", "Bind"],
    ["B", "0000 0000 0001 7fffffff 0000", "Bind"],
    ["B", "0000 0000 0000 0000 00", "Bind"],
    ["D", "5800", "Describe"],
    ["E", "7000", "Execute"],
    ["C", "", "Close"],
    ["S", "00", "Sync"],
    ["F", "00000001 0000 0001 000000ff 0000", "FunctionCall"],
  ])("refuses %s with body %s", (type, hex, what) => {
    expect(parsed(type, hex)).toEqual({
      kind: "violation",
      violation: { kind: "malformed", what },
    });
  });

  it("refuses a type it does not know", () => {
    expect(parsed("z", "")).toEqual({
      kind: "violation",
      violation: { kind: "unknownType", type: 0x7a },
    });
  });

  it("tells text that is not UTF-8 from a broken message", () => {
    expect(parsed("Q", "ff00")).toEqual({
      kind: "violation",
      violation: { kind: "text", what: "Query" },
    });
  });

  it("takes 65535 parameters and refuses a count that its own bytes can not hold", () => {
    const nulls = "ffffffff".repeat(65_535);
    expect(parsed("B", `00000000ffff${nulls}0000`)).toMatchObject({ kind: "message" });
    expect(parsed("B", `00000000ffff${nulls.slice(8)}0000`)).toMatchObject({ kind: "violation" });
  });

  it("never throws, whatever the bytes are", () => {
    const anyFrame = fc.property(
      fc.integer({ min: 0, max: 255 }),
      fc.uint8Array({ maxLength: 120 }),
      (type, body) => {
        expect(["message", "violation"]).toContain(parseFrontend({ type, body }).kind);
      },
    );
    fc.assert(anyFrame);
  });

  it("never throws on a good message with some of its bytes changed or cut off", () => {
    const good = fc.constantFrom(
      { type: 0x50, body: bytesOf("73310073656c6563742024310000020000001700000019") },
      { type: 0x42, body: bytesOf("70007331000001000100010000000401020304000100000000") },
      { type: 0x46, body: bytesOf("00000539000000010000000261620001") },
    );
    fc.assert(
      fc.property(
        good,
        fc.array(fc.tuple(fc.nat(), fc.nat(255))),
        fc.nat(),
        (frame, changes, cut) => {
          const body = frame.body.slice(0, frame.body.length - (cut % 3));
          for (const [at, value] of changes) body[at % Math.max(1, body.length)] = value;
          const step = parseFrontend({ type: frame.type, body });
          expect(["message", "violation"]).toContain(step.kind);
        },
      ),
    );
  });
});

describe("parsePassword", () => {
  it("reads text up to its one terminator at the end", () => {
    expect(parsePassword(bytesOf("73656372657400"))).toBe("secret");
    expect(parsePassword(bytesOf("00"))).toBe("");
  });

  it.each(["", "7365", "73006500", "ff00"])("refuses %s", (hex) => {
    expect(parsePassword(bytesOf(hex))).toBeUndefined();
  });
});

describe("parseSaslInitial", () => {
  it("reads mechanism and first data", () => {
    expect(parseSaslInitial(bytesOf("58000000000203ff"))).toEqual({
      mechanism: "X",
      data: Uint8Array.of(3, 255),
    });
    expect(parseSaslInitial(bytesOf("5800ffffffff"))).toEqual({ mechanism: "X", data: undefined });
  });

  it.each(["5800", "58000000000503ff", "580000000001", "5800fffffffe"])("refuses %s", (hex) => {
    expect(parseSaslInitial(bytesOf(hex))).toBeUndefined();
  });
});

function parsed(type: string, hex: string): FrontendStep {
  return parseFrontend({ type: type.charCodeAt(0), body: bytesOf(hex) });
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/\S\S/g) ?? [], (pair) => Number.parseInt(pair, 16));
}
