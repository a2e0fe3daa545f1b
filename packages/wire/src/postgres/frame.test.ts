import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader, type Frame, type FrameRule, type FrameRun, type FrameStep } from "./frame.ts";

const anyType = new Set(Array.from({ length: 255 }, (_, index) => index + 1));
const typed: FrameRule = { types: anyType, maxBytes: 1024 };
const untyped: FrameRule = { types: undefined, maxBytes: 1024 };

describe("FrameReader", () => {
  it("waits for the whole length before it judges it", () => {
    const reader = new FrameReader();
    reader.push(Uint8Array.of(0x51, 0, 0, 0));
    expect(reader.next(typed)).toEqual({ kind: "wait" });
  });

  it("cuts two messages that came in one packet at their ends", () => {
    const reader = new FrameReader();
    reader.push(bytesOf(frameOf(0x51, [1, 2, 3]), frameOf(0x53, [])));
    expect(taken(reader, typed)).toEqual([
      { type: 0x51, body: [1, 2, 3] },
      { type: 0x53, body: [] },
    ]);
    expect(reader.pending).toBe(0);
  });

  it("shows the types of what is ahead without taking it, as far as the bytes tell", () => {
    const reader = new FrameReader();
    const sync = (type: number) => (type === 0x53 ? "sync" : undefined);
    const frames = [frameOf(0x43, [1, 2]), frameOf(0x53, [])];
    const bytes = bytesOf(...frames);
    const seen = Array.from(bytes, (_, index) => {
      reader.push(bytes.subarray(index, index + 1));
      return reader.ahead(sync);
    });
    expect(seen.slice(0, 7).every((found) => found === undefined)).toBe(true);
    expect(seen.slice(7).every((found) => found === "sync")).toBe(true);
    expect(taken(reader, typed)).toHaveLength(2);
    reader.push(Uint8Array.of(0x43, 0, 0, 0, 1, 0x53));
    expect(reader.ahead(sync)).toBeUndefined();
  });

  it("passes over a message beyond the limit of its type, in pieces of any size", () => {
    const rule = { ...typed, typeMaxBytes: new Map([[0x51, 8]]) };
    const bytes = bytesOf(frameOf(0x51, [1, 2, 3, 4, 5]), frameOf(0x51, [1]), frameOf(0x53, []));
    for (let size = 1; size <= bytes.length; size += 1) {
      const reader = new FrameReader();
      const steps: FrameStep[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.slice(at, at + size));
        for (let step = reader.next(rule); step.kind !== "wait"; step = skipping(reader, rule)) {
          steps.push(step);
        }
      }
      expect(steps.map(({ kind }) => kind)).toEqual(["long", "skipped", "frame", "frame"]);
      expect(steps[1]).toEqual({ kind: "skipped", type: 0x51, length: 9 });
      expect(reader.pending).toBe(0);
    }
  });

  it("takes nothing of such a message before it is allowed, and that one alone", () => {
    const rule = { ...typed, typeMaxBytes: new Map([[0x51, 8]]) };
    const reader = new FrameReader();
    reader.push(bytesOf(frameOf(0x51, [1, 2, 3, 4, 5]), frameOf(0x51, [1, 2, 3, 4, 5])));
    const long = { kind: "long", type: 0x51, length: 9 };
    expect(reader.next(rule)).toEqual(long);
    expect(reader.next(rule)).toEqual(long);
    reader.allowLong();
    expect(reader.next(rule)).toMatchObject({ kind: "frame", frame: { type: 0x51 } });
    expect(reader.next(rule)).toEqual(long);
  });

  it("reads packets without a type byte", () => {
    const reader = new FrameReader();
    reader.push(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47));
    expect(taken(reader, untyped)).toEqual([{ type: 0, body: [4, 210, 22, 47] }]);
  });

  it.each([
    [[0x51, 0, 0, 0, 0], { kind: "length", length: 0 }],
    [[0x51, 0, 0, 0, 3], { kind: "length", length: 3 }],
    [[0x51, 0, 0, 4, 1], { kind: "tooLarge", length: 1025, limit: 1024 }],
    [[0x51, 0x40, 0, 0, 0], { kind: "tooLarge", length: 2 ** 30, limit: 1024 }],
    [[0x51, 0x7f, 255, 255, 255], { kind: "tooLarge", length: 2 ** 31 - 1, limit: 1024 }],
    [[0x51, 255, 255, 255, 255], { kind: "tooLarge", length: 2 ** 32 - 1, limit: 1024 }],
  ])("refuses the length in %j from its head alone", (head, violation) => {
    const reader = new FrameReader();
    reader.push(Uint8Array.from(head));
    expect(reader.next(typed)).toEqual({ kind: "violation", violation });
  });

  it("refuses a type by its first byte, however long the frame says it is", () => {
    const reader = new FrameReader();
    reader.push(Uint8Array.of(0x51));
    expect(reader.next({ types: new Set([0x53]), maxBytes: 1024 })).toEqual({
      kind: "violation",
      violation: { kind: "unknownType", type: 0x51 },
    });
  });

  it("accepts a frame of exactly the limit", () => {
    const reader = new FrameReader();
    reader.push(
      frameOf(
        0x51,
        Array.from({ length: 1020 }, () => 7),
      ),
    );
    expect(taken(reader, typed)[0]?.body.length).toBe(1020);
  });

  it("gives the same frames however the stream is cut into chunks", () => {
    const frame = fc.record({
      type: fc.integer({ min: 1, max: 255 }),
      body: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }),
    });
    const sameFrames = fc.property(
      fc.array(frame, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }),
      (frames, cuts) => {
        const stream = bytesOf(...frames.map(({ type, body }) => frameOf(type, body)));
        const reader = new FrameReader();
        const seen: Plain[] = [];
        let at = 0;
        for (let turn = 0; at < stream.length; turn += 1) {
          const next = at + (cuts[turn % cuts.length] ?? 1);
          reader.push(stream.subarray(at, next));
          at = next;
          // Not every chunk is looked at at once: a busy connection lets them pile up.
          if (turn % 2 === 0) seen.push(...taken(reader, typed));
        }
        seen.push(...taken(reader, typed));
        expect(seen).toEqual(frames);
        expect(reader.pending).toBe(0);
      },
    );
    fc.assert(sameFrames);
  });

  it("gives the same rows and frames of large chunks, whose memory is used again", () => {
    const row = fc.tuple(fc.constantFrom(3, 60, 9_000, 70_000), fc.nat(255));
    const sizes = fc.constantFrom(1, 7, 900, 32 * 1024, 64 * 1024, 256 * 1024);
    const same = fc.property(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.array(sizes, { minLength: 1, maxLength: 12 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      (rows, cuts, looks) => {
        const frames = rows.map(([length, fill]) => filled(0x44, length, fill));
        const stream = Buffer.concat([...frames, filled(0x43, 5, 1)]);
        const lending = new Scribbling();
        const reader = new FrameReader(lending);
        const seen: Buffer[] = [];
        let at = 0;
        for (let turn = 0; at < stream.length; turn += 1) {
          const next = at + (cuts[turn % cuts.length] ?? 1);
          reader.push(lending.lent(stream.subarray(at, next)));
          at = next;
          if (looks[turn % looks.length] === true) takeRuns(reader, seen, lending);
        }
        takeRuns(reader, seen, lending);
        expect(Buffer.concat(seen).equals(stream.subarray(0, -10))).toBe(true);
        expect([...frameFrom(reader.next(typed)).body]).toEqual([1, 1, 1, 1, 1]);
        expect(reader.pending).toBe(0);
      },
    );
    fc.assert(same, { numRuns: 60 });
  });

  it("copies no large chunk but for the ends of it, and holds none behind its rows", () => {
    const lending = new Scribbling();
    const reader = new FrameReader(lending);
    const rows = Array.from({ length: 100 }, () => filled(0x44, 9_000, 5));
    const stream = Buffer.concat(rows);
    for (let at = 0; at < stream.length; at += 65_536) {
      const chunk = lending.lent(stream.subarray(at, at + 65_536));
      reader.push(chunk);
      const runs: Uint8Array[] = [];
      for (let run = runOf(reader); run !== undefined; run = runOf(reader)) runs.push(run.bytes);
      const inPlace = runs.filter(({ buffer }) => buffer === chunk.buffer);
      expect(inPlace).toHaveLength(1);
      for (const run of runs) lending.giveBack(run);
      expect(lending.out).toBe(0);
    }
  });

  it("looks ahead, and hands over, across large chunks", () => {
    const stream = Buffer.concat([filled(0x44, 50_000, 1), filled(0x43, 50_000, 2)]);
    const chunks = [stream.subarray(0, 40_000), stream.subarray(40_000)];
    const [ahead, rest] = [new FrameReader(), new FrameReader()];
    for (const chunk of chunks) for (const reader of [ahead, rest]) reader.push(chunk);
    expect(ahead.ahead((type) => (type === 0x43 ? type : undefined))).toBe(0x43);
    expect(ahead.hasFrame).toBe(true);
    expect(stream.equals(ahead.held)).toBe(true);
    expect(stream.equals(rest.rest())).toBe(true);
    expect(rest.pending).toBe(0);
    ahead.drop();
    expect(ahead.pending).toBe(0);
  });

  it("leaves the bytes of taken frames alone while later ones arrive", () => {
    const reader = new FrameReader();
    reader.push(bytesOf(frameOf(0x42, [1, 2, 3]), Uint8Array.of(0x42, 0)));
    const first = frameFrom(reader.next(typed));
    reader.push(bytesOf(Uint8Array.of(0, 0, 7, 9, 9, 9), frameOf(0x42, [8, 8, 8, 8])));
    const second = frameFrom(reader.next(typed));
    reader.next(typed);
    expect([...first.body]).toEqual([1, 2, 3]);
    expect([...second.body]).toEqual([9, 9, 9]);
  });

  it("gives back what was not taken, for a TLS handshake that began in the same packet", () => {
    const reader = new FrameReader();
    reader.push(Uint8Array.of(0x16, 3, 1));
    expect(reader.peek()).toBe(0x16);
    expect([...reader.rest()]).toEqual([0x16, 3, 1]);
    expect(reader.pending).toBe(0);
    expect(reader.peek()).toBeUndefined();
  });

  it("never throws and never holds more than arrived, whatever the bytes are", () => {
    const bounded = fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
      const reader = new FrameReader();
      let arrived = 0;
      for (const chunk of chunks) {
        reader.push(chunk);
        arrived += chunk.length;
        const step = reader.next(typed);
        if (step.kind === "violation") return;
        const bodyBytes = step.kind === "frame" ? step.frame.body.length : 0;
        expect(bodyBytes).toBeLessThanOrEqual(1020);
        expect(reader.pending).toBeLessThanOrEqual(arrived);
      }
    });
    fc.assert(bounded);
  });
});

interface Plain {
  readonly type: number;
  readonly body: number[];
}

function taken(reader: FrameReader, rule: FrameRule): Plain[] {
  const frames: Plain[] = [];
  for (;;) {
    const step = reader.next(rule);
    if (step.kind !== "frame") return frames;
    frames.push({ type: step.frame.type, body: [...step.frame.body] });
  }
}

function frameFrom(step: FrameStep): Frame {
  if (step.kind !== "frame") throw new Error(`no frame but ${step.kind}`);
  return step.frame;
}

function frameOf(type: number, body: readonly number[]): Uint8Array {
  const length = body.length + 4;
  return Uint8Array.of(type, length >> 24, length >> 16, length >> 8, length, ...body);
}

function bytesOf(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** The next step, of a reader that skips each long message it told of. */
function skipping(reader: FrameReader, rule: FrameRule): FrameStep {
  const step = reader.next(rule);
  if (step.kind !== "long") return step;
  reader.skipLong(step);
  return reader.next(rule);
}

function filled(type: number, length: number, fill: number): Buffer {
  const frame = Buffer.alloc(5 + length, fill);
  frame[0] = type;
  frame.writeInt32BE(length + 4, 1);
  return frame;
}

/** Lends memory, and writes over it as soon as all of it was given back. */
class Scribbling {
  readonly #loans = new Map<Uint8Array, { parts: number; readonly whole: Uint8Array }>();

  get out(): number {
    return this.#loans.size;
  }

  lent(bytes: Uint8Array): Uint8Array {
    const whole = Uint8Array.from(bytes);
    this.#loans.set(whole, { parts: 1, whole });
    return whole;
  }

  share(chunk: Uint8Array, part: Uint8Array): void {
    const loan = this.#loans.get(chunk);
    if (loan === undefined) return;
    loan.parts += 1;
    this.#loans.set(part, loan);
  }

  giveBack(part: Uint8Array): void {
    const loan = this.#loans.get(part);
    if (!this.#loans.delete(part) || loan === undefined) return;
    loan.parts -= 1;
    if (loan.parts === 0) loan.whole.fill(0xee);
  }
}

function runOf(reader: FrameReader): FrameRun | undefined {
  return reader.run(0x44, 1 << 20, { bytesMax: 1 << 20, fits: () => true });
}

/** Takes what is here, and gives it back. */
function takeRuns(reader: FrameReader, seen: Buffer[], lending: Scribbling): void {
  for (let run = runOf(reader); run !== undefined; run = runOf(reader)) {
    seen.push(Buffer.from(run.bytes));
    lending.giveBack(run.bytes);
  }
}
