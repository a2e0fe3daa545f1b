import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  attributesHead,
  namedBody,
  recodedAttributes,
  splitExecution,
  type Attributes,
} from "./attributes.ts";
import { parseCommand } from "./command.ts";
import { withTypes } from "./execute.ts";
import { capability, columnType } from "./protocol.ts";

const { varString, longlong, tiny, year, int24, date, time } = columnType;
const head = "03";
const sql = hexOf("select 1");
const a = "fd000161";

describe("a text", () => {
  it("has attributes in front of it, each with type, name and value", () => {
    const read = textOf(`${head}02010201${a}fd0001620178${sql}`);
    expect(read).toMatchObject({ kind: "query", sql: bytesOf(sql) });
    expect(attributesIn(read)).toEqual({
      count: 2,
      nulls: bytesOf("02"),
      types: bytesOf(`${a}fd000162`),
      values: bytesOf("0178"),
    });
  });

  it("has none where none are counted, and where the client did not agree to any", () => {
    expect(textOf(`${head}0001${sql}`)).toEqual({ kind: "query", sql: bytesOf(sql) });
    expect(parseCommand(bytesOf(`${head}0001`), 0)).toEqual({
      kind: "query",
      sql: bytesOf("0001"),
    });
  });

  it.each([
    ["nothing", ""],
    ["no count of sets", "00"],
    ["no set", `0000${sql}`],
    ["two sets", `0002${sql}`],
    ["a count beyond the packet", `c8010001${a}0178${sql}`],
    ["a count that no memory has", `feffffffffffff0f0001${sql}`],
    ["a count that is NULL", `fb01${sql}`],
    ["no types", `010100000178${sql}`],
    ["a name beyond the packet", `01010001fd00fa61${sql}`],
    ["a value beyond the packet", `01010001${a}fa78${sql}`],
    ["a value whose length is NULL", `01010001${a}fb78${sql}`],
    ["a date of five bytes", `01010001${hexOf([date, 0, 1, 0x61])}05${"00".repeat(5)}${sql}`],
  ])("is refused with %s", (_what, rest) => {
    expect(textOf(head + rest)).toMatchObject({ kind: "violation", code: "malformed" });
  });

  // A server takes a string of its own length for each, and would begin its text somewhere else.
  it.each([
    ["a year", year, 0, "0178"],
    ["an integer of three bytes", int24, 0, "01780000"],
    ["no type at all", 0x20, 0, "0178"],
    ["NULL that is not marked so", columnType.null, 0, ""],
    ["a type with more in its second byte", tiny, 1, "01"],
    ["a type with more than the sign", varString, 0xc0, "0178"],
  ])("is refused with %s, whose length servers read otherwise", (_what, type, flag, value) => {
    const rest = `01010001${hexOf([type, flag, 1, 0x61])}${value}${sql}`;
    expect(textOf(head + rest)).toMatchObject({ kind: "violation", code: "malformed" });
  });

  it("takes a NULL of any of the types, and of none", () => {
    for (const type of [varString, longlong, columnType.null]) {
      const read = textOf(`${head}01010101${hexOf([type, 0, 1, 0x61])}${sql}`);
      expect(read).toMatchObject({ kind: "query", sql: bytesOf(sql) });
    }
  });

  it("goes on as it came, whatever the types", () => {
    fc.assert(
      fc.property(attributesArbitrary, (attributes) => {
        const all = [bytesOf(head), attributesHead(attributes), bytesOf(sql)];
        const sent = Uint8Array.from(Buffer.concat(all));
        const read = parseCommand(sent, capability.queryAttributes);
        expect(read).toMatchObject({ kind: "query", sql: bytesOf(sql) });
        expect(attributesIn(read)).toEqual(attributes);
      }),
    );
  });
});

describe("an execution", () => {
  const none = { isAhead: () => false };

  it("is taken apart into one without names, and what came beside it", () => {
    const body = bytesOf(`020201${hexOf([longlong, 0x80, 0])}${a}${"07".repeat(8)}`);
    expect(splitExecution(body, { parameters: 1, counted: true, ...none })).toEqual({
      body: bytesOf(`0001${hexOf([longlong, 0x80])}${"07".repeat(8)}`),
      attributes: { count: 1, nulls: bytesOf("01"), types: bytesOf(a), values: bytesOf("") },
    });
  });

  it("leaves out the values that came ahead", () => {
    const body = bytesOf(`020001${hexOf([varString, 0, 0])}${a}0178`);
    const split = splitExecution(body, { parameters: 1, counted: true, isAhead: () => true });
    expect(split).toMatchObject({
      body: bytesOf(`0001fd00`),
      attributes: { values: bytesOf("0178") },
    });
  });

  it("keeps the types of the last one where it says so, and has no attributes then", () => {
    const context = { parameters: 1, counted: true, ...none };
    expect(splitExecution(bytesOf("0100000178"), context)).toEqual({
      body: bytesOf("00000178"),
      attributes: undefined,
    });
    expect(splitExecution(bytesOf("0200000178"), context)).toMatchObject({ kind: "violation" });
  });

  it("has a count where there are places, or where it says so", () => {
    const without = { body: bytesOf(""), attributes: undefined };
    expect(splitExecution(bytesOf(""), { parameters: 0, counted: false, ...none })).toEqual(
      without,
    );
    expect(splitExecution(bytesOf("00"), { parameters: 0, counted: true, ...none })).toEqual(
      without,
    );
    expect(splitExecution(bytesOf("00"), { parameters: 1, counted: false, ...none })).toBe("fewer");
    for (const [parameters, body] of [
      [0, ""],
      [1, "c80001"],
      [1, `010001${hexOf([varString, 0, 9])}`],
      [1, `020001${hexOf([varString, 0, 0])}${hexOf([year, 0, 0])}01780178`],
      [0, "feffffffffffff0f00"],
    ] as const) {
      const split = splitExecution(bytesOf(body), { parameters, counted: true, ...none });
      expect(split).toMatchObject({ kind: "violation", code: "malformed" });
    }
  });

  it("comes together again as it was, whatever stands in it", () => {
    const counts = fc.tuple(attributesArbitrary, fc.nat(attributesMax));
    fc.assert(
      fc.property(counts, ([all, share]) => {
        const parameters = Math.min(share, all.count);
        const count = all.count < 0xfb ? [all.count] : [0xfd, all.count & 0xff, all.count >> 8, 0];
        const unnamed = withoutNames(all, parameters);
        const body = Buffer.concat([
          Buffer.from(count),
          all.nulls,
          Buffer.of(1),
          unnamed,
          all.values,
        ]);
        const split = splitExecution(body, { parameters, counted: true, ...none });
        if (typeof split === "string" || "kind" in split) throw new Error("not taken");
        const bound = withTypes(split.body, { parameters, types: undefined });
        if ("kind" in bound) throw new Error("no body");
        const again = namedBody({ parameters, body: bound.body }, split.attributes);
        expect(hexOf(Buffer.concat([...again]))).toBe(hexOf(body));
      }),
    );
  });

  it("survives any bytes", () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.nat(70_000), fc.boolean(), (body, parameters, counted) => {
        const split = splitExecution(body, { parameters, counted, ...none });
        if (typeof split === "string" || "kind" in split) return;
        expect(split.body.length).toBeLessThanOrEqual(body.length);
        expect(split.attributes?.values.length ?? 0).toBeLessThanOrEqual(body.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("recodedAttributes", () => {
  it("writes names and texts as UTF-8, and leaves bytes and numbers as they are", () => {
    const types = hexOf([varString, 0, 1, 0xe4, columnType.blob, 0, 1, 0x62, tiny, 0, 1, 0x63]);
    const attributes = {
      count: 3,
      nulls: bytesOf("00"),
      types: bytesOf(types),
      values: bytesOf("01e401e4e4"),
    };
    const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
    expect(recodedAttributes(attributes, latin1)).toEqual({
      ...attributes,
      types: bytesOf(
        hexOf([varString, 0, 2, 0xc3, 0xa4, columnType.blob, 0, 1, 0x62, tiny, 0, 1, 0x63]),
      ),
      values: bytesOf("02c3a401e4e4"),
    });
    expect(recodedAttributes(attributes, () => undefined)).toBeUndefined();
  });
});

/** Enough for a count of more than one byte. */
const attributesMax = 300;

/** A value of a type, in the binary format. */
const valueArbitrary = fc.oneof(
  fc.record({ type: fc.constant(longlong), value: fc.uint8Array({ minLength: 8, maxLength: 8 }) }),
  fc.record({ type: fc.constant(tiny), value: fc.uint8Array({ minLength: 1, maxLength: 1 }) }),
  fc.record({ type: fc.constant(time), value: fc.constant(new Uint8Array(1)) }),
  fc.record({
    type: fc.constantFrom(varString, columnType.blob, columnType.newDecimal, columnType.json),
    value: fc.uint8Array({ maxLength: 20 }).map((bytes) => Uint8Array.of(bytes.length, ...bytes)),
  }),
);
const oneArbitrary = fc.record({
  bound: valueArbitrary,
  flag: fc.constantFrom(0, 0x80),
  absent: fc.boolean(),
  name: fc.uint8Array({ maxLength: 8 }),
});
const attributesArbitrary: fc.Arbitrary<Attributes> = fc
  .array(oneArbitrary, { minLength: 1, maxLength: attributesMax })
  .map((all) => {
    const nulls = new Uint8Array((all.length + 7) >> 3);
    for (const [index, { absent }] of all.entries())
      if (absent) nulls[index >> 3] = (nulls[index >> 3] ?? 0) | (1 << (index & 7));
    const types = all.flatMap(({ bound, flag, name }) => [bound.type, flag, name.length, ...name]);
    const values = all.flatMap(({ bound, absent }) => (absent ? [] : [...bound.value]));
    return {
      count: all.length,
      nulls,
      types: Uint8Array.from(types),
      values: Uint8Array.from(values),
    };
  });

/** The types, the first so many with names of no length. */
function withoutNames({ types }: Attributes, parameters: number): Uint8Array {
  const pieces: number[] = [];
  for (let at = 0, index = 0; at < types.length; index += 1) {
    const end = at + 3 + (types[at + 2] ?? 0);
    if (index < parameters) pieces.push(types[at] ?? 0, types[at + 1] ?? 0, 0);
    else pieces.push(...types.subarray(at, end));
    at = end;
  }
  return Uint8Array.from(pieces);
}

function textOf(hex: string) {
  return parseCommand(bytesOf(hex), capability.queryAttributes);
}

function attributesIn(command: ReturnType<typeof parseCommand>): Attributes | undefined {
  return command.kind === "query" ? command.attributes : undefined;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

function hexOf(bytes: Uint8Array | readonly number[] | string): string {
  return Buffer.from(bytes as Uint8Array).toString("hex");
}
