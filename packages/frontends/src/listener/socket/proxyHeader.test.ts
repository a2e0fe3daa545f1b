import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { proxyHeaderBytesMax } from "../limits.ts";
import { readProxyHeader } from "./proxyHeader.ts";

const signature = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10];
const ipv6 = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1];

describe("readProxyHeader", () => {
  it.each([
    ["PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n", "192.0.2.1"],
    ["PROXY TCP6 2001:db8::1 2001:db8::2 1 65535\r\n", "2001:db8::1"],
    ["PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1"],
    ["PROXY UNKNOWN\r\n", undefined],
    ["PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", undefined],
  ])("reads the client of the line %j", (text, address) => {
    const bytes = Buffer.from(`${text}SELECT`, "latin1");
    expect(readProxyHeader(bytes)).toEqual({ kind: "done", length: text.length, address });
  });

  it.each([
    "GET / HTTP/1.1\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 56324\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 56324 443 9\r\n",
    "PROXY TCP4 2001:db8::1 192.0.2.2 1 2\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 65536 443\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 01 443\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 1 443\n",
    "PROXY UDP4 192.0.2.1 192.0.2.2 1 443\r\n",
    `PROXY UNKNOWN ${"x".repeat(200)}\r\n`,
    `PROXY UNKNOWN ${"x".repeat(200)}`,
  ])("refuses %j", (text) => {
    expect(readProxyHeader(Buffer.from(text, "latin1"))).toEqual({ kind: "bad" });
  });

  it.each([
    [binaryOf(0x21, 0x11, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4]), "192.0.2.1"],
    [binaryOf(0x21, 0x21, [...ipv6, ...ipv6, 1, 2, 3, 4]), "2001:db8::1"],
    [binaryOf(0x21, 0x21, [...mapped, ...ipv6, 1, 2, 3, 4]), "192.0.2.1"],
    [binaryOf(0x21, 0x11, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4, 0x04, 0, 2, 9, 9]), "192.0.2.1"],
    [binaryOf(0x20, 0x00, []), undefined],
    [
      binaryOf(
        0x21,
        0x31,
        Array.from({ length: 216 }, () => 0),
      ),
      undefined,
    ],
  ])("reads version 2 with its extensions: %#", (bytes, address) => {
    const header = readProxyHeader(Buffer.concat([bytes, Buffer.from("rest")]));
    expect(header).toEqual({ kind: "done", length: bytes.length, address });
  });

  it.each([
    [binaryOf(0x11, 0x11, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4])],
    [binaryOf(0x22, 0x11, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4])],
    [binaryOf(0x21, 0x11, [192, 0, 2, 1])],
    [binaryOf(0x21, 0x21, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4])],
    [binaryOf(0x21, 0x11, [], proxyHeaderBytesMax)],
  ])("refuses a version, command or length that is wrong: %#", (bytes) => {
    expect(readProxyHeader(bytes)).toEqual({ kind: "bad" });
  });

  it("asks for more at every cut of a header, and never beyond its limit", () => {
    const line = Buffer.from("PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n", "latin1");
    const binary = binaryOf(0x21, 0x11, [192, 0, 2, 1, 192, 0, 2, 2, 1, 2, 3, 4]);
    for (const header of [line, binary]) {
      for (let length = 0; length < header.length; length += 1) {
        expect(readProxyHeader(header.subarray(0, length))).toEqual({ kind: "more" });
      }
    }
    const bounded = fc.property(fc.uint8Array({ minLength: 3000, maxLength: 3000 }), (noise) => {
      const starts = [signature, [...Buffer.from("PROXY ")], []];
      for (const start of starts) {
        const bytes = Uint8Array.from([...start, ...noise]);
        expect(readProxyHeader(bytes).kind).not.toBe("more");
      }
    });
    fc.assert(bounded);
  });
});

function binaryOf(
  command: number,
  family: number,
  body: readonly number[],
  length = body.length,
): Buffer {
  return Buffer.from([...signature, command, family, length >> 8, length & 0xff, ...body]);
}
