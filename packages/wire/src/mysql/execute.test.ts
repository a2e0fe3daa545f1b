import { describe, expect, it } from "vitest";
import {
  parseExecute,
  recoded,
  withTypes,
  type BoundParameters,
  type BoundValue,
} from "./execute.ts";
import { columnType } from "./protocol.ts";

describe("parseExecute", () => {
  it("reads what the MariaDB connector sends", () => {
    // execute("select ?, …", [1, "x", null, true, new Date("1970-01-01T02:00Z"), Buffer.of(255, 0)])
    const body = "04010300fd00fd0001000c00fc000100000001780107b207010100000002ff00";
    expect(valuesOf(body, 6)).toEqual([
      { kind: "integer", value: 1n },
      { kind: "bytes", value: bytesOf("78") },
      { kind: "null" },
      { kind: "integer", value: 1n },
      datetimeOf({ year: 1970, month: 1, day: 1 }),
      { kind: "bytes", value: bytesOf("ff00") },
    ]);
  });

  it("reads integers of every width, signed and unsigned", () => {
    const { tiny, short, long, longlong, int24, year } = columnType;
    expect(valueOf(tiny, "ff")).toEqual({ kind: "integer", value: -1n });
    expect(valueOf(tiny, "ff", true)).toEqual({ kind: "integer", value: 255n });
    expect(valueOf(short, "ffff")).toEqual({ kind: "integer", value: -1n });
    expect(valueOf(year, "ea07", true)).toEqual({ kind: "integer", value: 2026n });
    expect(valueOf(int24, "ffffffff", true)).toEqual({ kind: "integer", value: 4294967295n });
    expect(valueOf(long, "00000080")).toEqual({ kind: "integer", value: -2147483648n });
    expect(valueOf(longlong, "f".repeat(16), true)).toEqual({
      kind: "integer",
      value: 18446744073709551615n,
    });
    expect(valueOf(longlong, `${"0".repeat(14)}80`)).toEqual({
      kind: "integer",
      value: -9223372036854775808n,
    });
  });

  it("reads floats", () => {
    expect(valueOf(columnType.double, "666666666666f63f")).toEqual({ kind: "float", value: 1.4 });
    expect(valueOf(columnType.float, "0000c03f")).toEqual({ kind: "float", value: 1.5 });
  });

  it("reads dates and times with their trailing zeros left out", () => {
    const { date, datetime, timestamp, time } = columnType;
    expect(valueOf(datetime, "00")).toEqual(datetimeOf({}));
    expect(valueOf(date, "04ea070203")).toEqual(datetimeOf({ year: 2026, month: 2, day: 3 }));
    expect(valueOf(timestamp, "0bea07020304050640420f00")).toEqual(
      datetimeOf({ year: 2026, month: 2, day: 3, hour: 4, minute: 5, second: 6, microsecond: 1e6 }),
    );
    expect(valueOf(time, "0c010200000003040507000000")).toEqual({
      kind: "time",
      negative: true,
      days: 2,
      hour: 3,
      minute: 4,
      second: 5,
      microsecond: 7,
    });
    expect(valueOf(time, "00")).toMatchObject({ kind: "time", negative: false, days: 0, hour: 0 });
  });

  it("keeps the types of the last execution when the client leaves them out", () => {
    const context = {
      parameters: 1,
      types: [{ type: columnType.tiny, unsigned: false }],
      longData: new Map(),
    };
    expect(parseExecute(bytesOf("000007"), context)).toMatchObject({
      values: [{ kind: "integer", value: 7n }],
    });
    expect(parseExecute(bytesOf("000007"), { ...context, types: undefined })).toMatchObject({
      kind: "violation",
    });
  });

  it("takes values sent ahead instead of the body's", () => {
    const parsed = parseExecute(bytesOf("0001fc00010005"), {
      parameters: 2,
      types: undefined,
      longData: new Map([[0, bytesOf("abcd")]]),
    });
    expect(parsed).toMatchObject({
      values: [
        { kind: "bytes", value: bytesOf("abcd") },
        { kind: "integer", value: 5n },
      ],
    });
  });

  it("reads the NULL bitmap beyond its first byte", () => {
    const types = "0600".repeat(8) + "0100".repeat(2);
    const values = valuesOf(`000201${types}05`, 10);
    expect(values.at(8)).toEqual({ kind: "integer", value: 5n });
    expect(values.at(9)).toEqual({ kind: "null" });
  });

  it("refuses bodies that are cut short, of unknown types or lengths", () => {
    const context = { parameters: 1, types: undefined, longData: new Map() };
    const bodies = [
      "",
      "00",
      "0001",
      "000108",
      "00010800",
      "0001080001",
      "00010c0003ffffff",
      "00010b0007010000000000",
      "0001fd00ff",
      "0001fd00fe00000000ffffffff",
      "0001130001",
    ];
    for (const body of bodies) {
      expect([body, parseExecute(bytesOf(body), context).kind]).toEqual([body, "violation"]);
    }
  });

  it("makes no array for 65,535 parameters that a short body does not hold", () => {
    const context = { parameters: 65_535, types: undefined, longData: new Map() };
    expect(parseExecute(new Uint8Array(8_193).fill(1), context)).toMatchObject({
      kind: "violation",
    });
  });
});

describe("recoded", () => {
  const { varString, blob, long, string } = columnType;
  const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  const types = [varString, blob, long, string, varString].map((type) => ({
    type,
    unsigned: false,
  }));
  // The fourth is NULL, and the last came ahead.
  const head = "0801fd00fc000300fe00fd00";
  const body = Buffer.from(`${head}02e46102e46107000000`, "hex");
  const ahead = new Map([[4, Uint8Array.of(0xff)]]);

  it("reads texts and leaves bytes and numbers as they are", () => {
    const values = recoded({ body, types }, ahead, latin1);
    expect(Buffer.from(values?.body ?? []).toString("hex")).toBe(`${head}03c3a46102e46107000000`);
    expect(values?.longData).toEqual(new Map([[4, new TextEncoder().encode("ÿ")]]));
  });

  it.each([0, 0xfa, 0xfb, 0xffff, 0x1_0000])("tells the length of a text of %s", (length) => {
    const text = { type: varString, unsigned: false };
    const whole = Buffer.alloc(4 + 4 + length, 0x61);
    whole.set([0, 1, varString, 0, 0xfd, length & 0xff, (length >> 8) & 0xff, length >> 16]);
    const values = recoded({ body: whole, types: [text] }, new Map(), latin1);
    const context = { parameters: 1, types: undefined, longData: new Map<number, Uint8Array>() };
    expect(parseExecute(values?.body ?? whole, context)).toMatchObject({
      values: [{ kind: "bytes", value: new Uint8Array(length).fill(0x61) }],
    });
  });

  it("refuses a text that is none, and a body that is cut short", () => {
    expect(recoded({ body, types }, ahead, () => undefined)).toBeUndefined();
    expect(recoded({ body: body.subarray(0, 14), types }, ahead, latin1)).toBeUndefined();
  });
});

describe("withTypes", () => {
  it("leaves a body with types as it is, and tells them", () => {
    const body = bytesOf("000103800f000161");
    const made = withTypes(body, { parameters: 2, types: undefined });
    const types = [
      { type: 3, unsigned: true },
      { type: 15, unsigned: false },
    ];
    expect(made).toEqual({ body, types });
  });

  it("writes the types of an earlier execution into a body without", () => {
    const types = [{ type: 8, unsigned: true }];
    const made = withTypes(bytesOf("00000700000000000000"), { parameters: 1, types });
    expect(made).toEqual({ body: bytesOf("000108800700000000000000"), types });
  });

  it("refuses a body that is cut short, or has no types at all", () => {
    for (const [body, parameters] of [
      ["", 1],
      ["00", 1],
      ["0001", 1],
      ["0000", 1],
    ] as const) {
      const made = withTypes(bytesOf(body), { parameters, types: undefined });
      expect([body, made]).toMatchObject([body, { kind: "violation" }]);
    }
  });
});

function valuesOf(hex: string, parameters: number): readonly BoundValue[] {
  const parsed = parseExecute(bytesOf(hex), { parameters, types: undefined, longData: new Map() });
  return (parsed as BoundParameters).values;
}

function valueOf(type: number, hex: string, unsigned = false): BoundValue | undefined {
  const flag = unsigned ? "80" : "00";
  return valuesOf(`0001${type.toString(16).padStart(2, "0")}${flag}${hex}`, 1)[0];
}

function datetimeOf(parts: object): object {
  const zero = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, microsecond: 0 };
  return { kind: "datetime", ...zero, ...parts };
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}
