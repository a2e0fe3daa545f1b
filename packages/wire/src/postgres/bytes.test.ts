import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText } from "../text.ts";
import { BodyReader, ByteWriter, getInt32, putInt16, putInt32, Scratch } from "./bytes.ts";

describe("ByteWriter", () => {
  it("keeps what was written before it grew", () => {
    const out = new ByteWriter();
    for (let value = 0; value < 2000; value += 1) out.i32(value);
    const bytes = out.take();
    expect(bytes.length).toBe(8000);
    expect(getInt32(bytes, 4 * 1999)).toBe(1999);
  });

  it("starts anew after its bytes were taken", () => {
    const out = new ByteWriter();
    out.u8(1);
    expect([...out.take()]).toEqual([1]);
    expect(out.take().length).toBe(0);
    out.u8(2);
    expect([...out.take()]).toEqual([2]);
  });

  it("asks for no memory until something is written", () => {
    const asked: number[] = [];
    const scratch = new Scratch((bytes) => {
      asked.push(bytes);
      return new Uint8Array(bytes);
    });
    const out = new ByteWriter(scratch);
    expect(asked).toEqual([]);
    out.u8(1);
    expect(asked).toEqual([4_096]);
    expect([...out.take()]).toEqual([1]);
    out.u8(2);
    out.u8(3);
    expect([...out.take()]).toEqual([2, 3]);
    expect(asked).toEqual([4_096, 1, 2]);
  });

  it("writes into memory of its own where another has the scratch, and where it has more", () => {
    const scratch = new Scratch((bytes) => new Uint8Array(bytes));
    const [first, second, third] = [1, 2, 3].map(() => new ByteWriter(scratch)) as [
      ByteWriter,
      ByteWriter,
      ByteWriter,
    ];
    first.text("first");
    second.text("second");
    const lent = first.buffer;
    expect(second.buffer).not.toBe(lent);
    // What was written moves along.
    first.leaveScratch();
    first.leaveScratch();
    third.text("third");
    expect(third.buffer).toBe(lent);
    third.bytes(new Uint8Array(5_000).fill(7));
    first.text("more");
    expect(Buffer.from(third.take()).toString("latin1")).toBe(`third\0${"\x07".repeat(5_000)}`);
    expect(Buffer.from(second.take()).toString("latin1")).toBe("second\0");
    expect(Buffer.from(first.take()).toString("latin1")).toBe("first\0more\0");
    second.u8(1);
    expect(second.buffer).toBe(lent);
    // Long and short are copied in two ways.
    second.bytes(new Uint8Array(1_000).fill(8));
    expect(Buffer.from(second.take()).toString("latin1")).toBe(`\x01${"\b".repeat(1_000)}`);
  });

  it("leaves a NUL out of text, because the client would read the rest as something else", () => {
    const out = new ByteWriter();
    out.text("a\0b");
    expect([...out.take()]).toEqual([97, 98, 0]);
  });

  it("sets the length of a message when it is closed, counting the length itself", () => {
    const out = new ByteWriter();
    out.u8(9);
    const start = out.begin(0x43);
    out.text("OK");
    out.end(start);
    expect([...out.take()]).toEqual([9, 0x43, 0, 0, 0, 7, 79, 75, 0]);
  });

  it("writes integers that read back", () => {
    const roundTrip = fc.property(fc.integer(), fc.integer({ min: -32768, max: 32767 }), (a, b) => {
      const bytes = new Uint8Array(6);
      putInt16(bytes, putInt32(bytes, 0, a), b);
      const view = new DataView(bytes.buffer);
      expect([view.getInt32(0), view.getInt16(4)]).toEqual([a, b]);
      expect(getInt32(bytes, 0)).toBe(a);
    });
    fc.assert(roundTrip);
  });
});

describe("BodyReader", () => {
  it("finds a body good only when every byte was read", () => {
    const reader = new BodyReader(Uint8Array.of(0, 0, 0, 7, 1));
    expect(reader.i32()).toBe(7);
    expect(reader.verdict()).toBe("short");
    expect(reader.u8()).toBe(1);
    expect(reader.verdict()).toBe("ok");
  });

  it("stays failed after it was asked for more than there is", () => {
    const reader = new BodyReader(Uint8Array.of(1, 2, 3));
    expect(reader.i32()).toBe(0);
    expect(reader.left).toBe(0);
    expect(reader.u8()).toBe(0);
    expect(reader.text()).toBe("");
    expect(reader.verdict()).toBe("short");
  });

  it("refuses a view of negative length", () => {
    const reader = new BodyReader(Uint8Array.of(1, 2, 3));
    expect(reader.view(-5).length).toBe(0);
    expect(reader.verdict()).toBe("short");
  });

  it("tells text that is not UTF-8 from a body that is too short", () => {
    const reader = new BodyReader(Uint8Array.of(0xff, 0xfe, 0));
    expect(reader.text()).toBe("");
    expect(reader.verdict()).toBe("text");
  });

  it("refuses text without its terminator", () => {
    const reader = new BodyReader(Uint8Array.of(65, 66));
    expect(reader.text()).toBe("");
    expect(reader.verdict()).toBe("short");
  });
});

describe("decodeText", () => {
  it("keeps a leading byte order mark, which is the client's", () => {
    expect(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 65))).toBe("\ufeffA");
  });

  it("refuses bytes that are not UTF-8 instead of replacing them", () => {
    expect(decodeText(Uint8Array.of(0xc3, 0x28))).toBeUndefined();
  });
});
