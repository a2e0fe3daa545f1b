import { err, ok } from "@gateway/core/result.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "./driver.ts";
import {
  FrameReader,
  messageFrames,
  nextRequest,
  nextReturn,
  requestFrame,
  returnFrame,
} from "./frames.ts";
import type { BatchResult, Request, ThreadMessage } from "./message.ts";

describe("FrameReader", () => {
  it("reads what was written, however the bytes are cut", () => {
    const bytes = fc.uint8Array({ maxLength: 20_000 });
    const message = fc.oneof(
      fc.record({
        kind: fc.constant("schema" as const),
        message: bytes.map(bufferOf),
        statementType: fc.option(fc.nat(40), { nil: undefined }),
      }),
      fc.record({ kind: fc.constant("batch" as const), message: bytes }),
      fc.constant<ThreadMessage>({ kind: "reply", reply: ok({ kind: "done" }) }),
      fc.string().map((text): ThreadMessage => ({
        kind: "reply",
        reply: err({ ...failureOf("driver", text), details: new Map([["key", text]]) }),
      })),
    );
    const check = fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 40 }),
      (sent, cuts) => {
        expect(readBack(joined(messageFrames(sent)), cuts)).toEqual(sent);
      },
    );
    fc.assert(check);
  });

  it("stops when its owner has had enough, and keeps what came with it", () => {
    const got: ThreadMessage[] = [];
    const reader = new FrameReader(
      (messages) => (got.push(...messages), false),
      () => {},
    );
    const batch: ThreadMessage = { kind: "batch", message: new Uint8Array(24) };
    const wire = joined(messageFrames([batch, batch]));
    reader.place().set(wire);
    expect(reader.take(wire.length)).toBe(false);
    expect(got).toEqual([batch, batch]);
  });

  it("uses the memory of a large batch again once it was released, and only within its answer", () => {
    const got: ThreadMessage[] = [];
    const reader = new FrameReader(
      (messages) => (got.push(...messages), true),
      () => {},
    );
    const received = (message: ThreadMessage): ThreadMessage | undefined => {
      feed(reader, joined(messageFrames([message])));
      return got.at(-1);
    };
    const memories = new Set<ArrayBuffer>();
    const batch = (fill: number, length: number): BatchResult => {
      const message = { kind: "batch" as const, message: new Uint8Array(length).fill(fill) };
      const read = received(message);
      if (read?.kind !== "batch") throw new Error("no batch");
      expect(Buffer.compare(read.message, message.message)).toBe(0);
      memories.add(read.message.buffer);
      return read;
    };
    const first = batch(1, 200_000);
    const kept = batch(2, 200_000);
    expect(memories.size).toBe(2);
    first.release?.();
    first.release?.();
    batch(3, 199_000);
    batch(4, 200_000);
    expect(memories.size).toBe(3);
    expect(kept.message.every((byte) => byte === 2)).toBe(true);
    kept.release?.();
    received({ kind: "reply", reply: ok({ kind: "done" }) });
    batch(5, 200_000).release?.();
    expect(memories.size).toBe(4);
    expect(kept.message.every((byte) => byte === 2)).toBe(true);
  });

  it("reads nothing behind a frame that it did not understand", () => {
    const got: ThreadMessage[] = [];
    const reader = new FrameReader(
      (messages) => (got.push(...messages), true),
      () => {},
    );
    const inBlock = { kind: "batch" as const, message: new Uint8Array(8) };
    // There are no blocks here.
    expect(() => feed(reader, joined(messageFrames([inBlock], () => 3)))).toThrow(/block/);
    feed(reader, joined(messageFrames([{ kind: "reply", reply: ok({ kind: "done" }) }])));
    expect(got).toEqual([]);
  });

  it("throws on what nobody here writes, before it takes memory for it", () => {
    for (const [kind, length] of [
      [9, 0],
      [2, 0xffff_ffff],
      [3, 5],
    ] as const) {
      const head = new Uint8Array(21);
      new DataView(head.buffer).setUint32(0, kind, true);
      new DataView(head.buffer).setUint32(4, length, true);
      expect(() => readBack(head, [64])).toThrow(/frame|deserializ/i);
    }
  });
});

describe("requestFrame", () => {
  it("is read by a thread that waits for each piece", () => {
    const requests: Request[] = [
      { kind: "disconnect" },
      { kind: "runAll", statements: ["select 'ä\u{1f600}'", ["key", "value"]] },
    ];
    const wire = joined(
      requests.map((request, index) => requestFrame({ turn: index + 7, seat: 3, request })),
    );
    let at = 0;
    const read = (into: Uint8Array): number => {
      const some = wire.subarray(at, at + Math.min(into.length, 3));
      into.set(some);
      at += some.length;
      return some.length;
    };
    expect([nextRequest(read), nextRequest(read), nextRequest(read)]).toEqual([
      { turn: 7, seat: 3, request: requests[0] },
      { turn: 8, seat: 3, request: requests[1] },
      undefined,
    ]);
  });

  it("may come behind blocks that were given back", () => {
    const request: Request = { kind: "disconnect" };
    const wire = joined([
      returnFrame(5),
      returnFrame(0),
      returnFrame(2),
      requestFrame({ turn: 1, seat: 0, request }),
    ]);
    let at = 0;
    const read = (into: Uint8Array): number => {
      const some = wire.subarray(at, at + into.length);
      into.set(some);
      at += some.length;
      return some.length;
    };
    const returned: number[] = [];
    expect(nextReturn(read)).toBe(5);
    expect(nextRequest(read, (block) => returned.push(block))?.request).toEqual(request);
    expect(returned).toEqual([0, 2]);
    expect(nextReturn(read)).toBeUndefined();
  });
});

/** Gives bytes to a reader in pieces of these sizes, over and over, never more than it has room for. */
function readBack(wire: Uint8Array, cuts: readonly number[]): readonly ThreadMessage[] {
  const got: ThreadMessage[] = [];
  const reader = new FrameReader(
    (messages) => (got.push(...messages), true),
    () => {},
  );
  feed(reader, wire, cuts);
  return got;
}

function feed(reader: FrameReader, wire: Uint8Array, cuts: readonly number[] = [65_536]): void {
  for (let at = 0, turn = 0; at < wire.length; turn += 1) {
    const place = reader.place();
    expect(place.length).toBeGreaterThan(0);
    const piece = wire.subarray(at, at + Math.min(cuts[turn % cuts.length] ?? 1, place.length));
    place.set(piece);
    reader.take(piece.length);
    at += piece.length;
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
