import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader, frameHeader, frameHeaderBytes } from "./compressed.ts";

const body = fc.uint8Array({ maxLength: 300 });
const frame = fc.record({ bytes: body, contentBytes: fc.nat(0xff_ffff) });

describe("FrameReader", () => {
  it("finds every frame again, wherever the stream is cut", () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 10 }), cuts, (frames, sizes) => {
        const stream = Buffer.concat(
          frames.flatMap(({ bytes, contentBytes }, index) => [
            frameHeader(bytes.length, index, contentBytes),
            bytes,
          ]),
        );
        const reader = new FrameReader();
        const found: unknown[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          reader.push(stream.subarray(at, at + size));
          at += size;
          for (let step = reader.next(); step.kind === "frame"; step = reader.next()) {
            found.push([step.sequence, [...step.bytes], step.contentBytes]);
          }
        }
        const wanted = frames.map(({ bytes, contentBytes }, index) => [
          index,
          [...bytes],
          contentBytes === 0 ? undefined : contentBytes,
        ]);
        expect(found).toEqual(wanted);
        expect(reader.bufferedBytes).toBe(0);
      }),
    );
  });

  it("begins again at 0, goes on where it is told, and refuses every other number for good", () => {
    const reader = new FrameReader();
    reader.push(Buffer.concat([frameHeader(0, 0, 0), frameHeader(0, 1, 0), frameHeader(0, 0, 0)]));
    expect([reader.next(), reader.next(), reader.next()].map(({ kind }) => kind)).toEqual(
      Array.from({ length: 3 }, () => "frame"),
    );
    reader.expect(5);
    reader.push(frameHeader(0, 5, 0));
    expect(reader.next().kind).toBe("frame");
    reader.push(frameHeader(0, 9, 0));
    expect(reader.next()).toMatchObject({ kind: "violation", code: "outOfOrder" });
    reader.push(frameHeader(0, 0, 0));
    expect(reader.next().kind).toBe("violation");
  });

  it("takes no memory for a length that is only claimed", () => {
    const reader = new FrameReader();
    reader.push(frameHeader(0xff_ffff, 0, 0xff_ffff));
    expect(reader.next().kind).toBe("more");
    expect(reader.bufferedBytes).toBe(frameHeaderBytes);
  });
});
