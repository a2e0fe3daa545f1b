import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStart } from "./start.ts";

describe("parseStart", () => {
  it("reads the start-up packet that psql 15 sent", () => {
    const sent =
      "000300007573657200616e6e0064617461626173650073686f70006f7074696f6e73002d6320676174657761" +
      "792e746167733d7465616d3a726564006170706c69636174696f6e5f6e616d65007073716c0000";
    expect(parseStart(bytesOf(sent))).toEqual({
      kind: "message",
      message: {
        kind: "startup",
        major: 3,
        minor: 0,
        parameters: new Map([
          ["user", "ann"],
          ["database", "shop"],
          ["options", "-c gateway.tags=team:red"],
          ["application_name", "psql"],
        ]),
      },
    });
  });

  it("reads the requests for encryption", () => {
    expect(parseStart(bytesOf("04d2162f"))).toEqual(messageOf({ kind: "sslRequest" }));
    expect(parseStart(bytesOf("04d21630"))).toEqual(messageOf({ kind: "gssRequest" }));
  });

  it("reads cancel requests with the short secret of 3.0 and the long one of 3.2", () => {
    const short = parseStart(bytesOf("04d2162e0000000701020304"));
    expect(short).toEqual(
      messageOf({ kind: "cancelRequest", process: 7, secret: Uint8Array.of(1, 2, 3, 4) }),
    );
    const long = parseStart(bytesOf(`04d2162e00000007${"ab".repeat(32)}`));
    expect(long).toEqual(
      messageOf({ kind: "cancelRequest", process: 7, secret: new Uint8Array(32).fill(0xab) }),
    );
  });

  it("answers another major version without reading its parameters", () => {
    expect(parseStart(bytesOf("0002000011ff11ff"))).toEqual(
      messageOf({ kind: "startup", major: 2, minor: 0, parameters: new Map() }),
    );
  });

  it.each([
    ["nothing at all", "", "StartupMessage"],
    ["no terminator", "00030000", "StartupMessage"],
    ["a name without a value", "00030000757365720000", "StartupMessage"],
    ["bytes behind the terminator", "000300007573657200610000ff", "StartupMessage"],
    ["an empty name before others", "0003000000757365720061000000", "StartupMessage"],
    ["bytes behind an SSLRequest", "04d2162f00", "SSLRequest"],
    ["a cancel request without a secret", "04d2162e00000007", "CancelRequest"],
    ["a cancel secret of 257 bytes", `04d2162e00000007${"00".repeat(257)}`, "CancelRequest"],
  ])("refuses %s", (_, hex, what) => {
    expect(parseStart(bytesOf(hex))).toEqual({
      kind: "violation",
      violation: { kind: "malformed", what },
    });
  });

  it("names text that is not UTF-8", () => {
    expect(parseStart(bytesOf("000300007573657200ff0000"))).toEqual({
      kind: "violation",
      violation: { kind: "text", what: "StartupMessage" },
    });
  });

  it("never throws, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        expect(["message", "violation"]).toContain(parseStart(body).kind);
      }),
    );
  });
});

function messageOf(message: unknown) {
  return { kind: "message", message };
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
