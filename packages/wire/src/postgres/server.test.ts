import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeBackend } from "./backend.ts";
import { ByteWriter } from "./bytes.ts";
import { FrameReader, type Frame } from "./frame.ts";
import type { BackendMessage } from "./message.ts";
import { parseServer, rowFits, serverRow, serverTypes } from "./server.ts";

describe("parseServer", () => {
  const field = { name: "n", type: 23, size: 4, modifier: -1, format: 1 } as const;
  const messages: readonly (readonly [BackendMessage, object])[] = [
    [{ kind: "authenticationOk" }, { kind: "authenticationOk" }],
    [{ kind: "authenticationCleartext" }, { kind: "authenticationCleartext" }],
    [
      { kind: "authenticationSasl", mechanisms: ["A", "B"] },
      { kind: "authenticationSasl", mechanisms: ["A", "B"] },
    ],
    [
      { kind: "parameterStatus", name: "a", value: "b" },
      { kind: "parameterStatus", name: "a", value: "b" },
    ],
    [
      { kind: "ready", status: "E" },
      { kind: "ready", status: "E" },
    ],
    [
      { kind: "parameterDescription", types: [23, 4_000_000_000] },
      { kind: "parameterDescription", types: [23, 4_000_000_000] },
    ],
    [
      { kind: "rowDescription", fields: [{ ...field, table: 16_384, column: 2 }] },
      { kind: "rowDescription", fields: [{ ...field, table: 16_384, column: 2 }] },
    ],
    [
      { kind: "commandComplete", tag: "SELECT 1" },
      { kind: "commandComplete", tag: "SELECT 1" },
    ],
    [
      {
        kind: "error",
        report: { severity: "ERROR", sqlState: "42601", message: "no", where: "here", line: "7" },
      },
      {
        kind: "error",
        report: new Map([
          ["S", "ERROR"],
          ["V", "ERROR"],
          ["C", "42601"],
          ["M", "no"],
          ["W", "here"],
          ["L", "7"],
        ]),
      },
    ],
  ];

  it.each(messages)("reads what a server writes: %o", (message, read) => {
    const out = new ByteWriter();
    writeBackend(out, message);
    expect(parseServer(frameOf(out.take()))).toEqual(read);
  });

  it("never takes part of a message for a whole one", () => {
    const property = fc.property(fc.constantFrom(...messages), fc.nat(), ([message], cut) => {
      const out = new ByteWriter();
      writeBackend(out, message);
      const { type, body } = frameOf(out.take());
      fc.pre(body.length > 0);
      const found = parseServer({ type, body: body.subarray(0, cut % body.length) });
      expect(found).toBeUndefined();
    });
    fc.assert(property);
  });

  it("answers any bytes, and never throws", () => {
    const types = fc.constantFrom(...serverTypes);
    const property = fc.property(types, fc.uint8Array({ maxLength: 60 }), (type, body) => {
      expect(() => parseServer({ type, body })).not.toThrow();
    });
    fc.assert(property);
  });
});

describe("rowFits", () => {
  it("takes exactly the cells that lie in the row", () => {
    const cells = fc.array(fc.option(fc.uint8Array({ maxLength: 5 }), { nil: undefined }), {
      maxLength: 5,
    });
    const property = fc.property(cells, fc.integer({ min: -3, max: 3 }), (row, off) => {
      const body = rowOf(row);
      expect(rowFits(body, 0, body.length, row.length)).toBe(true);
      fc.pre(off !== 0);
      expect(rowFits(body, 0, body.length, row.length + off)).toBe(false);
      expect(rowFits(body, 0, body.length - Math.abs(off), row.length)).toBe(false);
    });
    fc.assert(property);
  });

  it.each([
    ["a length below NULL", [0, 1, 255, 255, 255, 254]],
    ["a length beyond the row", [0, 1, 0x7f, 255, 255, 255, 1]],
    ["bytes behind the last cell", [0, 1, 255, 255, 255, 255, 0]],
    ["half a length", [0, 1, 0, 0]],
    ["no count", [0]],
  ])("refuses %s", (_what, body) => {
    expect(rowFits(Uint8Array.from(body), 0, body.length, 1)).toBe(false);
  });
});

describe("a run of frames", () => {
  const fits = (bytes: Uint8Array, start: number, end: number): boolean =>
    rowFits(bytes, start, end, 1);
  const rule = { bytesMax: 1_000, fits };
  const row = Uint8Array.from([0x44, 0, 0, 0, 11, 0, 1, 0, 0, 0, 1, 0x31]);

  it("is every whole row at the front, and nothing of what follows", () => {
    const reader = new FrameReader();
    reader.push(Buffer.concat([row, row, row.subarray(0, 7)]));
    expect(reader.run(serverRow, 1_000, rule)).toMatchObject({ count: 2, sound: true });
    expect(reader.run(serverRow, 1_000, rule)).toBeUndefined();
    reader.push(Buffer.concat([row.subarray(7), Uint8Array.from([0x5a, 0, 0, 0, 5, 0x49])]));
    expect(reader.run(serverRow, 1_000, rule)).toMatchObject({ count: 1, sound: true });
    expect(reader.next({ types: serverTypes, maxBytes: 10 }).kind).toBe("frame");
  });

  it("stops at its size, and at a row that is none", () => {
    const reader = new FrameReader();
    const none = Uint8Array.from([0x44, 0, 0, 0, 6, 0, 2]);
    reader.push(Buffer.concat([row, row, none]));
    expect(reader.run(serverRow, 1_000, { ...rule, bytesMax: 1 })).toMatchObject({ count: 1 });
    expect(reader.run(serverRow, 1_000, rule)).toMatchObject({ count: 1, sound: false });
  });

  it("leaves a length that no frame may have to the reader's own judgement", () => {
    const reader = new FrameReader();
    reader.push(Uint8Array.from([0x44, 0x7f, 255, 255, 255, 0]));
    expect(reader.run(serverRow, 1_000, rule)).toBeUndefined();
    expect(reader.next({ types: serverTypes, maxBytes: 1_000 })).toMatchObject({
      kind: "violation",
      violation: { kind: "tooLarge" },
    });
  });
});

function rowOf(cells: readonly (Uint8Array | undefined)[]): Uint8Array {
  const out = new ByteWriter();
  out.i16(cells.length);
  for (const cell of cells) {
    out.i32(cell?.length ?? -1);
    if (cell !== undefined) out.bytes(cell);
  }
  return out.take();
}

function frameOf(bytes: Uint8Array): Frame {
  const reader = new FrameReader();
  reader.push(bytes);
  const step = reader.next({ types: serverTypes, maxBytes: 1_000_000 });
  if (step.kind !== "frame") throw new Error("no frame");
  return step.frame;
}
