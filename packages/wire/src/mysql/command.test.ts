import { describe, expect, it } from "vitest";
import { parseCommand } from "./command.ts";

describe("parseCommand", () => {
  it("tells every command apart by its first byte", () => {
    const kinds = {
      "01": "quit",
      "0261": "initDb",
      "0361": "query",
      "046100": "fieldList",
      "09": "statistics",
      "0a": "processInfo",
      "0c01000000": "processKill",
      "0e": "ping",
      "1161000000": "changeUser",
      "1661": "prepare",
      "17010000000001000000": "execute",
      "1801000000020061": "sendLongData",
      "1901000000": "closeStatement",
      "1a01000000": "resetStatement",
      "1b0000": "setOption",
      "1c0100000005000000": "fetch",
      "1f": "resetConnection",
      "7f": "unknown",
      "00": "unknown",
    };
    for (const [hex, kind] of Object.entries(kinds)) {
      expect([hex, parseCommand(bytesOf(hex), 0).kind]).toEqual([hex, kind]);
    }
  });

  it("keeps text as bytes, empty text included", () => {
    expect(parseCommand(bytesOf("03"), 0)).toEqual({ kind: "query", sql: bytesOf("") });
    expect(parseCommand(bytesOf("03c3a9"), 0)).toEqual({ kind: "query", sql: bytesOf("c3a9") });
  });

  it("reads ids as unsigned", () => {
    expect(parseCommand(bytesOf("0cffffffff"), 0)).toEqual({
      kind: "processKill",
      connectionId: 0xffff_ffff,
    });
  });

  it("takes a field list without wildcard or NUL", () => {
    const command = parseCommand(bytesOf("0474"), 0);
    expect(command).toEqual({ kind: "fieldList", table: bytesOf("74"), wildcard: bytesOf("") });
  });

  it("separates the head of an execution from its parameters", () => {
    const command = parseCommand(bytesOf("170500000001010000000001fd00"), 0);
    expect(command).toEqual({
      kind: "execute",
      statementId: 5,
      cursor: 1,
      body: bytesOf("0001fd00"),
    });
  });

  it("refuses commands that are cut short, and an empty packet", () => {
    for (const hex of [
      "",
      "0c010000",
      "1b00",
      "1701000000",
      "18010000",
      "19",
      "1c01000000",
      "11",
    ]) {
      expect([hex, parseCommand(bytesOf(hex), 0).kind]).toEqual([hex, "violation"]);
    }
  });
});

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}
