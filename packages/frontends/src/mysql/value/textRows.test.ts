import { columnarOf } from "@gateway/core/type/columnar.ts";
import { anyTextBatch, textBatchOf } from "@gateway/core/type/rig/textBatch.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowEncoder, type RowFormat } from "./rows.ts";
import { textRowEncoder } from "./textRows.ts";

describe("textRowEncoder", () => {
  it("writes the bytes that the columns of the batch would be written as", () => {
    let passed = 0;
    fc.assert(
      fc.property(anyTextBatch, (batch) => {
        const written = textRowEncoder(batch, format);
        if (written === undefined) return;
        passed += 1;
        const [asText, asColumns] = [new PacketWriter(), new PacketWriter()];
        expect(written.write(0, batch.rows, asText)).toEqual({ ok: true, value: batch.rows });
        rowEncoder(columnarOf(batch), format).write(0, batch.rows, asColumns);
        expect(hexOf(asText)).toBe(hexOf(asColumns));
      }),
    );
    expect(passed).toBeGreaterThan(0);
  });

  it("goes on where the full buffer stopped it", () => {
    const batch = textBatchOf([{ kind: "text" }], [["a".repeat(300)], [null], [""], ["b"]]);
    const small = textRowEncoder(batch, { ...format, flushBytes: 1 });
    const out = new PacketWriter();
    let row = 0;
    const pieces: string[] = [];
    while (row < batch.rows) {
      const step = small?.write(row, batch.rows, out);
      expect(step).toEqual({ ok: true, value: row + 1 });
      row += 1;
      pieces.push(hexOf(out));
      out.reset(0);
    }
    const whole = new PacketWriter();
    textRowEncoder(batch, format)?.write(0, batch.rows, whole);
    expect(pieces.join("")).toBe(hexOf(whole));
  });

  it("refuses a row over the limit before room is made, and keeps the rows before it", () => {
    const batch = textBatchOf([{ kind: "text" }], [["a"], ["b".repeat(100_000)]]);
    const out = new PacketWriter();
    const answer = textRowEncoder(batch, { ...format, rowBytesMax: 1_000 })?.write(0, 2, out);
    expect(answer).toMatchObject({ ok: false, error: { code: "protocol.tooLarge" } });
    expect(hexOf(out)).toBe("020000000161");
    expect(out.bytes.length).toBeLessThan(2_000);
  });

  it("leaves what looks different in MySQL to the columns", () => {
    const asks = (batch: TextBatch, more: Partial<RowFormat> = {}) =>
      textRowEncoder(batch, { ...format, ...more }) !== undefined;
    const instant = { kind: "timestamp", unit: "s", zoned: true } as const;
    const moment = textBatchOf([instant], [["2024-02-29 12:34:56"]]);
    expect(asks(moment)).toBe(true);
    expect(asks(moment, { zone: zoneOf("Europe/Berlin") ?? utc })).toBe(false);
    expect(asks(moment, { kind: "binary" })).toBe(false);
    const float = { kind: "float", bits: 64 } as const;
    for (const text of ["1e+300", "1e-7", "1000000000000000"]) {
      expect([text, asks(textBatchOf([float], [[text]]))]).toEqual([text, false]);
    }
    expect(asks(textBatchOf([float], [["0.000001"], ["-1.5"], ["NaN"], [null]]))).toBe(true);
  });
});

const format: RowFormat = {
  kind: "text",
  zone: utc,
  rowBytesMax: 1 << 24,
  flushBytes: 1 << 24,
};

function hexOf(out: PacketWriter): string {
  return Buffer.from(out.written()).toString("hex");
}
