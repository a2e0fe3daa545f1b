import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteReader } from "./byteReader.ts";
import { PacketReader } from "./packetReader.ts";
import { lenencBytes, PacketWriter, putLenenc } from "./packetWriter.ts";
import { packetBytesMax } from "./protocol.ts";

describe("putLenenc", () => {
  it("takes the shortest form at every border", () => {
    const forms = [
      [250, "fa"],
      [251, "fcfb00"],
      [0xffff, "fcffff"],
      [0x1_0000, "fd000001"],
      [0xff_ffff, "fdffffff"],
      [0x100_0000, "fe0000000100000000"],
    ] as const;
    for (const [value, hex] of forms) {
      const out = new Uint8Array(9);
      const end = putLenenc(out, 0, value);
      expect(Buffer.from(out.subarray(0, end)).toString("hex")).toBe(hex);
      expect(end).toBe(lenencBytes(value));
    }
  });

  it("reads back as the same number", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const out = new Uint8Array(9);
        const reader = new ByteReader(out.subarray(0, putLenenc(out, 0, value)));
        expect(reader.lenenc()).toBe(value);
        expect(reader.remaining).toBe(0);
      }),
    );
  });
});

describe("PacketWriter", () => {
  it("numbers packets one after the other and wraps at 256", () => {
    const out = new PacketWriter();
    out.sequence = 255;
    for (const byte of [1, 2]) {
      out.begin();
      out.u8(byte);
      out.end();
    }
    expect(Buffer.from(out.written()).toString("hex")).toBe("010000ff010100000002");
  });

  it("cuts a payload of two full parts and an empty last one, and it reads back whole", () => {
    const payload = new Uint8Array(2 * packetBytesMax);
    for (let at = 0; at < payload.length; at += 65_521) payload[at] = at;
    const out = new PacketWriter();
    out.sequence = 1;
    out.begin();
    out.u8(9);
    out.end();
    out.begin();
    out.raw(payload);
    out.end();
    expect(out.sequence).toBe(5);

    const reader = new PacketReader(payload.length);
    reader.push(out.written());
    expect(reader.next()).toMatchObject({ kind: "packet", sequence: 1 });
    const step = reader.next();
    expect(step).toMatchObject({ kind: "packet", sequence: 2, lastSequence: 4 });
    expect(step.kind === "packet" && Buffer.compare(step.payload, payload)).toBe(0);
    expect(reader.bufferedBytes).toBe(0);
  });

  it("forgets a packet that was begun and discarded", () => {
    const out = new PacketWriter();
    out.begin();
    out.u8(1);
    out.end();
    out.begin();
    out.text("half a row");
    out.discard();
    out.begin();
    out.u8(2);
    out.end();
    expect(Buffer.from(out.written()).toString("hex")).toBe("01000000010100000102");
  });

  it("gives its bytes away and does not touch them again", () => {
    const out = new PacketWriter();
    out.text("first");
    const taken = out.release();
    out.text("other");
    expect(Buffer.from(taken).toString()).toBe("first");
  });

  it("puts texts of any length and any characters as their UTF-8 with its length in front", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 90 }),
      fc.string({ unit: "binary-ascii", minLength: 56, maxLength: 72 }),
    );
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 4 }), (values) => {
        const out = new PacketWriter();
        for (const value of values) {
          out.lenencText(value);
          out.nulText(value);
        }
        const reader = new ByteReader(out.written());
        for (const value of values) {
          const bytes = new TextEncoder().encode(value);
          expect(Buffer.compare(reader.lenencBytes(), bytes)).toBe(0);
          const clean = new TextEncoder().encode(value.replaceAll("\0", ""));
          expect(Buffer.compare(reader.untilNul(), clean)).toBe(0);
        }
        expect(reader.failed).toBe(false);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  it("leaves a NUL out of a text that ends with one", () => {
    const out = new PacketWriter();
    out.nulText("a\0b");
    expect(Buffer.from(out.written()).toString("hex")).toBe("616200");
  });
});
