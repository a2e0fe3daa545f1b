import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PacketReader, type PacketStep } from "./packetReader.ts";
import { PacketWriter } from "./packetWriter.ts";
import { packetBytesMax } from "./protocol.ts";

describe("PacketReader", () => {
  it("cuts two packets out of one chunk, each by its own length", () => {
    const reader = new PacketReader(100);
    reader.push(bytesOf(2, 0, 0, 0, 0x0e, 0x01, 1, 0, 0, 0, 0x0e));
    expect(reader.next()).toEqual(packetOf(0, [0x0e, 0x01]));
    expect(reader.next()).toEqual(packetOf(0, [0x0e]));
    expect(reader.next()).toEqual({ kind: "more" });
    expect(reader.bufferedBytes).toBe(0);
  });

  it("gives the same packets however the bytes are cut into chunks", () => {
    const payload = fc.uint8Array({ maxLength: 40 });
    const cuts = fc.array(fc.nat(7), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 6 }), cuts, (payloads, sizes) => {
        const stream = streamOf(payloads);
        const reader = new PacketReader(1000);
        const read: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1;
          reader.push(stream.slice(at, at + size));
          read.push(...packetsIn(reader));
          at += size;
        }
        expect(read).toEqual(payloads.map((one) => Uint8Array.from(one)));
      }),
    );
  });

  it("joins continuation packets up to the limit", () => {
    const payload = new Uint8Array(packetBytesMax + 5).fill(7);
    const reader = new PacketReader(payload.length);
    reader.push(streamOf([payload]));
    const step = reader.next();
    expect(step).toMatchObject({ kind: "packet", sequence: 0, lastSequence: 1 });
    expect(step.kind === "packet" && Buffer.compare(step.payload, payload)).toBe(0);
  });

  it("reads the empty packet that ends a payload of exactly 16 MB - 1", () => {
    const reader = new PacketReader(packetBytesMax);
    reader.push(streamOf([new Uint8Array(packetBytesMax)]));
    const step = reader.next();
    expect(step.kind === "packet" && step.payload.length).toBe(packetBytesMax);
    expect(reader.bufferedBytes).toBe(0);
  });

  it("refuses a length over the limit when only its header has arrived", () => {
    const reader = new PacketReader(1000);
    reader.push(bytesOf(0xff, 0xff, 0xff, 0));
    expect(reader.next()).toMatchObject({ kind: "violation", code: "tooLarge" });
    expect(reader.bufferedBytes).toBe(0);
  });

  it("passes over a text beyond its limit, in pieces of any size, and goes on behind it", () => {
    const commands = [
      [0x03, ...Array.from({ length: 12 }, () => 0x20)],
      [0x0e],
      [0x17, ...Array.from({ length: 30 }, () => 1)],
    ].map((bytes) => Uint8Array.from(bytes));
    const stream = streamOf(commands);
    for (let size = 1; size <= stream.length; size += 1) {
      const reader = new PacketReader(1000);
      reader.textBytesMax = 11;
      const steps: PacketStep[] = [];
      for (let at = 0; at < stream.length; at += size) {
        reader.push(stream.slice(at, at + size));
        for (let step = reader.next(); step.kind !== "more"; step = skipping(reader))
          steps.push(step);
      }
      expect(steps[0]).toEqual({ kind: "long", bytes: 12, whole: true });
      expect(steps.map(({ kind }) => kind)).toEqual(["long", "skipped", "packet", "packet"]);
      expect(reader.bufferedBytes).toBe(0);
    }
  });

  it("passes over a text of several packets without keeping them", () => {
    const stream = streamOf([new Uint8Array(packetBytesMax * 2 + 5).fill(3), Uint8Array.of(0x0e)]);
    const reader = new PacketReader(packetBytesMax * 3);
    reader.textBytesMax = packetBytesMax + 10;
    let held = 0;
    const passed: PacketStep[] = [];
    for (let at = 0; at < stream.length - 5; at += 1 << 20) {
      reader.push(stream.slice(at, Math.min(at + (1 << 20), stream.length - 5)));
      for (let step = reader.next(); step.kind !== "more"; step = skipping(reader))
        passed.push(step);
      if (at > packetBytesMax * 2) held = Math.max(held, reader.bufferedBytes);
    }
    reader.push(stream.slice(-5));
    expect(held).toBe(0);
    expect(passed).toEqual([
      { kind: "long", bytes: 2 * packetBytesMax - 1, whole: false },
      { kind: "skipped", sequence: 0, lastSequence: 2 },
    ]);
    expect(reader.next()).toMatchObject({ kind: "packet", sequence: 0 });
  });

  it("takes nothing of a text beyond its limit before it is allowed, and that one alone", () => {
    const text = Uint8Array.of(3, 1, 2, 3, 4, 5);
    const reader = new PacketReader(1000);
    reader.textBytesMax = 3;
    reader.push(streamOf([text, text]));
    const long = { kind: "long", bytes: 5, whole: true };
    expect(reader.next()).toEqual(long);
    expect(reader.next()).toEqual(long);
    reader.allowLong(5);
    expect(reader.next()).toMatchObject({ kind: "packet", payload: text });
    expect(reader.next()).toEqual(long);
    reader.allowLong(4);
    expect(reader.next()).toEqual(long);
  });

  it("takes a text of the limit's length, and of longer values", () => {
    const reader = new PacketReader(1000);
    reader.textBytesMax = 3;
    reader.push(streamOf([Uint8Array.of(3, 1, 2, 3), Uint8Array.of(0x18, 1, 2, 3, 4, 5)]));
    expect(packetsIn(reader)).toHaveLength(2);
  });

  it("counts the parts that came before against the limit", () => {
    const reader = new PacketReader(packetBytesMax + 4);
    reader.push(streamOf([new Uint8Array(packetBytesMax + 5)]));
    expect(reader.next()).toMatchObject({ kind: "violation", code: "tooLarge" });
  });

  it("refuses a continuation that skips a number", () => {
    const reader = new PacketReader(packetBytesMax * 2);
    reader.push(streamOf([new Uint8Array(packetBytesMax + 5)], 2));
    expect(reader.next()).toMatchObject({ kind: "violation", code: "outOfOrder" });
  });

  it("stays refused after a violation", () => {
    const reader = new PacketReader(10);
    reader.push(bytesOf(11, 0, 0, 0));
    const first = reader.next();
    reader.push(bytesOf(1, 0, 0, 0, 0x0e));
    expect(reader.next()).toBe(first);
  });

  it("keeps a payload intact when more bytes arrive after it was given out", () => {
    const reader = new PacketReader(100);
    reader.push(bytesOf(2, 0, 0, 0, 1));
    reader.push(bytesOf(2, 3, 0, 0, 0, 9));
    const first = reader.next();
    reader.push(bytesOf(9, 9));
    reader.push(bytesOf(4, 0, 0, 0, 5, 6, 7, 8));
    expect(first).toEqual(packetOf(0, [1, 2]));
    expect(reader.next()).toEqual(packetOf(0, [9, 9, 9]));
    expect(reader.next()).toEqual(packetOf(0, [5, 6, 7, 8]));
  });

  it("hands over what it has not read, for TLS", () => {
    const reader = new PacketReader(100);
    reader.push(bytesOf(1, 0, 0, 1, 5, 0x16, 0x03, 0x01));
    expect(reader.next()).toMatchObject({ kind: "packet", sequence: 1 });
    expect(reader.takeRest()).toEqual(bytesOf(0x16, 0x03, 0x01));
    expect(reader.next()).toEqual({ kind: "more" });
  });

  it("holds at most about twice what arrived, whatever the header claims", () => {
    const reader = new PacketReader(1 << 24);
    reader.push(bytesOf(0xfe, 0xff, 0xff, 0));
    for (let turn = 0; turn < 1000; turn += 1) {
      reader.push(bytesOf(turn));
      expect(reader.next()).toEqual({ kind: "more" });
    }
    expect(reader.bufferedBytes).toBe(1004);
  });
});

function bytesOf(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

function packetOf(sequence: number, payload: readonly number[]): PacketStep {
  return { kind: "packet", sequence, lastSequence: sequence, payload: Uint8Array.from(payload) };
}

/** Each payload as its own message from sequence 0; `step` other than 1 numbers continuations wrongly. */
function streamOf(payloads: readonly Uint8Array[], step = 1): Uint8Array {
  const out = new PacketWriter();
  for (const payload of payloads) {
    out.sequence = 0;
    const start = out.at;
    out.begin();
    out.raw(payload);
    out.end();
    if (step !== 1) out.bytes[start + packetBytesMax + 4 + 3] = step;
  }
  return out.written().slice();
}

function packetsIn(reader: PacketReader): Uint8Array[] {
  const read: Uint8Array[] = [];
  for (let step = reader.next(); step.kind === "packet"; step = reader.next()) {
    read.push(Uint8Array.from(step.payload));
  }
  return read;
}

/** The next step, of a reader that skips each long text it told of. */
function skipping(reader: PacketReader): PacketStep {
  const step = reader.next();
  if (step.kind !== "long") return step;
  reader.skipLong();
  return reader.next();
}
