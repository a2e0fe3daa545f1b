import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nativeRowWriter } from "./nativeRows.ts";

describe("nativeRowWriter", () => {
  it("hands over every row once and whole, however it is asked", () => {
    const rows = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 });
    const asks = fc.infiniteStream(
      fc.record({ rows: fc.integer({ min: 1, max: 5 }), room: fc.nat(60) }),
    );
    const property = fc.property(rows, asks, (bodies, stream) => {
      const messages = bodies.map(messageOf);
      const bytes = Buffer.concat(messages);
      const batch = {
        form: "native",
        format: "postgresRows",
        rows: messages.length,
        bytes,
      } as const;
      const writer = nativeRowWriter(batch);
      const pieces: Buffer[] = [];
      let row = 0;
      for (const ask of stream) {
        if (row >= writer.rows) break;
        const out = new ByteWriter();
        const end = Math.min(writer.rows, row + ask.rows);
        const next = writer.write(out, row, { end, bytesMax: ask.room });
        expect(next).toBeGreaterThan(row);
        expect(next).toBeLessThanOrEqual(end);
        const written = Buffer.from(out.take());
        expect(written.equals(Buffer.concat(messages.slice(row, next)))).toBe(true);
        pieces.push(written);
        row = next;
      }
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    });
    fc.assert(property);
  });

  it("passes over rows that a cursor moved past", () => {
    const messages = [[1], [2, 2], [3]].map((body) => messageOf(Uint8Array.from(body)));
    const bytes = Buffer.concat(messages);
    const writer = nativeRowWriter({ form: "native", format: "postgresRows", rows: 3, bytes });
    const out = new ByteWriter();
    expect(writer.write(out, 2, { end: 3, bytesMax: 100 })).toBe(3);
    expect(Buffer.from(out.take()).equals(messages[2] ?? Buffer.alloc(0))).toBe(true);
  });
});

function messageOf(body: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write("D", "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
