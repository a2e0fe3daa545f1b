import { describe, expect, it } from "vitest";
import { ByteReader } from "./byteReader.ts";
import { PacketWriter } from "./packetWriter.ts";
import { capability, collationId, columnType, serverStatus } from "./protocol.ts";
import {
  putColumn,
  putEof,
  putError,
  putOk,
  putPrepared,
  type ColumnDefinition,
  type OkReply,
} from "./reply.ts";

describe("putOk", () => {
  it("writes counts, status and the text behind them", () => {
    expect(okHex({ affectedRows: 300, info: "hi" }, 0)).toBe(`00fc2c01000200000002${ascii("hi")}`);
  });

  it("keeps every digit of an id", () => {
    expect(okHex({ insertId: 7n }, 0)).toBe("00000702000000");
    const last = 18_446_744_073_709_551_615n;
    expect(okHex({ insertId: last }, 0)).toBe("0000feffffffffffffffff02000000");
    expect(
      new ByteReader(Uint8Array.from(Buffer.from("feffffffffffffffff", "hex"))).lenencBig(),
    ).toBe(last);
    expect(new ByteReader(Uint8Array.of(0xfc, 0, 1)).lenencBig()).toBe(256n);
  });

  it("leaves out a text that is empty", () => {
    expect(okHex({}, 0)).toBe("00000002000000");
    expect(okHex({}, capability.sessionTrack)).toBe("00000002000000");
  });

  it("tells changes of schema and variables, and says so in the status", () => {
    const tracked = [
      { kind: "schema", name: "db" },
      { kind: "variable", name: "autocommit", value: "ON" },
    ] as const;
    expect(okHex({ tracked }, capability.sessionTrack)).toBe(
      `0000000240000000150103026462000e0a${ascii("autocommit")}02${ascii("ON")}`,
    );
  });

  it("tells the state of a transaction and that something changed", () => {
    const tracked = [
      { kind: "state" },
      { kind: "characteristics", sql: "" },
      { kind: "transaction", marks: "T_______" },
    ] as const;
    expect(okHex({ tracked }, capability.sessionTrack)).toBe(
      `00000002400000001202020131040100050908${ascii("T_______")}`,
    );
  });

  it("keeps changes to itself when the client can not read them", () => {
    expect(okHex({ tracked: [{ kind: "schema", name: "db" }] }, 0)).toBe("00000002000000");
  });

  it("ends rows with the other header", () => {
    const out = new PacketWriter();
    putOk(out, okOf({}), 0, 0xfe);
    expect(hexOf(out)).toBe("fe000002000000");
  });
});

describe("putError", () => {
  it("writes number, state and message", () => {
    const out = new PacketWriter();
    putError(out, { errno: 1064, sqlState: "42000", message: "no" });
    expect(hexOf(out)).toBe(`ff2804${ascii("#42000no")}`);
  });
});

describe("putEof", () => {
  it("writes warnings before status", () => {
    const out = new PacketWriter();
    putEof(out, serverStatus.moreResults, 3);
    expect(hexOf(out)).toBe("fe03000800");
  });
});

describe("putColumn", () => {
  it("writes the definition MySQL 8 sends for `select 1 as a`", () => {
    const out = new PacketWriter();
    putColumn(out, columnOf());
    expect(hexOf(out)).toBe("036465660000000161000c3f0002000000088100000000");
  });

  it("gives a column of a table its own name there", () => {
    const out = new PacketWriter();
    putColumn(out, { ...columnOf(), table: "t" });
    expect(hexOf(out)).toBe("036465660001740174016101610c3f0002000000088100000000");
  });

  it("ends with a NULL default in a field list", () => {
    const out = new PacketWriter();
    putColumn(out, columnOf(), { withDefault: true });
    expect(hexOf(out).slice(-8)).toBe("000000fb");
  });
});

describe("putPrepared", () => {
  it("writes the id and both counts", () => {
    const out = new PacketWriter();
    putPrepared(out, 7, { columns: 2, parameters: 1 });
    expect(hexOf(out)).toBe("000700000002000100000000");
  });
});

function okOf(more: Partial<OkReply>): OkReply {
  return {
    affectedRows: 0,
    insertId: 0n,
    status: serverStatus.autocommit,
    warnings: 0,
    info: "",
    tracked: [],
    ...more,
  };
}

function okHex(more: Partial<OkReply>, capabilities: number): string {
  const out = new PacketWriter();
  putOk(out, okOf(more), capabilities);
  return hexOf(out);
}

function columnOf(): ColumnDefinition {
  return {
    schema: "",
    table: "",
    name: "a",
    collation: collationId.binary,
    length: 2,
    type: columnType.longlong,
    flags: 0x81,
    decimals: 0,
  };
}

function hexOf(out: PacketWriter): string {
  return Buffer.from(out.written()).toString("hex");
}

function ascii(text: string): string {
  return Buffer.from(text, "ascii").toString("hex");
}
