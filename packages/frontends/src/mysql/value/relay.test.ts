import { columnOf } from "@gateway/core/type/build.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { lend } from "@gateway/core/tool/socket/lent.ts";
import { PacketReader } from "@gateway/wire/mysql/packetReader.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, serverOf } from "../rig/mysql.ts";
import { ascii, RawClient } from "../rig/raw.ts";
import { relayEncoder, relayInPlace, relayPackets } from "./relay.ts";

const text = { kind: "text" } as const;
const columns = [columnOf("a", text)];
/** A definition as an engine sends it: of its own table `t`. */
const definition = "03646566017301740174016101610c2d00ffff0000fd0000000000";

describe("relayPackets", () => {
  it("numbers whole rows anew, in however many pieces", () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
    const limits = fc.record({ rowsMax: fc.integer({ min: 1, max: 8 }), bytesMax: fc.nat(200) });
    fc.assert(
      fc.property(payloads, limits, fc.nat(255), (rows, { rowsMax, bytesMax }, sequence) => {
        const bytes = packetsOf(rows);
        const out = new PacketWriter();
        out.sequence = sequence;
        let at = 0;
        let told = 0;
        while (at < bytes.length) {
          const step = relayPackets(out, bytes, { from: at, rowsMax, bytesMax: out.at + bytesMax });
          expect(step.rows).toBeGreaterThan(0);
          expect(step.rows).toBeLessThanOrEqual(rowsMax);
          at = step.at;
          told += step.rows;
        }
        expect(told).toBe(rows.length);
        const reader = new PacketReader(1 << 20);
        reader.push(out.release());
        for (const [index, row] of rows.entries()) {
          const packet = reader.next();
          if (packet.kind !== "packet") throw new Error(packet.kind);
          expect([...packet.payload]).toEqual([...row]);
          expect(packet.sequence).toBe((sequence + index) & 0xff);
        }
      }),
    );
  });

  it("counts a row of several packets once", () => {
    const long = new Uint8Array(0xff_ffff + 5).fill(1);
    const bytes = packetsOf([long, Uint8Array.of(2)]);
    const out = new PacketWriter();
    const step = relayPackets(out, bytes, { from: 0, rowsMax: 1, bytesMax: 10 });
    expect(step).toEqual({ rows: 1, at: bytes.length - 5 });
    expect(out.sequence).toBe(2);
  });
});

describe("relayInPlace", () => {
  const long = Array.from({ length: 400 }, (_, index) => new Uint8Array(100).fill(index));

  it("numbers what is lent where it lies, as what is copied", () => {
    for (const sequence of [0, 1, 200, 255]) {
      const bytes = packetsOf(long, 3);
      lend(bytes, () => {});
      const out = { sequence };
      expect(relayInPlace(out, long.length, bytes)).toBe(bytes);
      expect(Buffer.from(bytes).equals(packetsOf(long, sequence))).toBe(true);
      expect(out.sequence).toBe((sequence + long.length) & 0xff);
    }
  });

  it("leaves what is not lent as it is, and takes it where its numbers fit", () => {
    const bytes = packetsOf(long, 3);
    const out = { sequence: 4 };
    expect(relayInPlace(out, long.length, bytes)).toBeUndefined();
    expect(out.sequence).toBe(4);
    expect(Buffer.from(bytes).equals(packetsOf(long, 3))).toBe(true);
    expect(relayInPlace({ sequence: 3 }, long.length, bytes)).toBe(bytes);
  });

  it("leaves a few bytes, and rows of several packets, to be copied", () => {
    const huge = packetsOf([new Uint8Array(0xff_ffff + 5)]);
    for (const [rows, bytes] of [
      [1, packetsOf([Uint8Array.of(1)])],
      [1, huge],
    ] as const) {
      lend(bytes, () => {});
      expect(relayInPlace({ sequence: 0 }, rows, bytes)).toBeUndefined();
    }
  });
});

describe("relayEncoder", () => {
  it("numbers a batch that goes out in one piece as one that does not", () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(payloads, fc.nat(255), fc.boolean(), (rows, sequence, same) => {
        const bytes = packetsOf(rows, same ? sequence : (sequence + 7) & 0xff);
        const sent = [1 << 20, 64].map((flushBytes) => {
          const out = new PacketWriter();
          out.sequence = sequence;
          const encoder = relayEncoder({ rows: rows.length, bytes }, flushBytes);
          const parts: Uint8Array[] = [];
          for (let row = 0; row < rows.length;) {
            const written = encoder.write(row, rows.length, out);
            if (!written.ok) throw new Error(written.error.code);
            row = written.value;
            parts.push(out.release());
          }
          return { bytes: Buffer.concat(parts).toString("hex"), next: out.sequence };
        });
        const next = (sequence + rows.length) & 0xff;
        const expected = Buffer.from(packetsOf(rows, sequence)).toString("hex");
        expect(sent).toEqual([1, 2].map(() => ({ bytes: expected, next })));
      }),
    );
  });
});

describe("rows of an engine that speaks MySQL", () => {
  const rows = packetsOf([Uint8Array.of(1, 0x31), Uint8Array.of(0xfb), Uint8Array.of(1, 0x33)]);
  const events: readonly ResultEvent[] = [
    {
      kind: "columns",
      columns,
      native: { format: "mysqlRows", bytes: packetsOf([Buffer.from(definition, "hex")]) },
    },
    { kind: "batch", batch: { form: "native", format: "mysqlRows", rows: 3, bytes: rows } },
    doneOf(),
  ];

  it("reach the client as they are, with the engine's own definitions", async () => {
    await using server = await serverOf({ answers: { "select a": events } });
    using client = await RawClient.login(server);
    client.send(ascii("\u0003select a"));
    expect((await client.answers(5)).slice(0, 5)).toEqual(["01", definition, "0131", "fb", "0133"]);
    expect(server.door.queries[0]?.takes).toEqual(["mysqlRows"]);
    await using package2 = await clientOf(server);
    expect((await package2.query("select a"))[0]).toEqual([{ a: "1" }, { a: null }, { a: "3" }]);
  });

  it("are numbered and given back where an engine lent them", async () => {
    const long = Array.from({ length: 400 }, () =>
      Buffer.concat([Uint8Array.of(100), Buffer.alloc(100, "x")]),
    );
    const bytes = packetsOf(long, 77);
    let backs = 0;
    lend(bytes, () => {
      backs += 1;
    });
    const batch = { form: "native", format: "mysqlRows", rows: long.length, bytes } as const;
    const lent: readonly ResultEvent[] = events.map((event) =>
      event.kind === "batch" ? { kind: "batch", batch } : event,
    );
    await using server = await serverOf({ answers: { "select a": lent } });
    await using client = await clientOf(server);
    const [answered] = await client.query("select a");
    expect(answered).toEqual(long.map(() => ({ a: "x".repeat(100) })));
    expect(backs).toBe(1);
  });

  it("end at sql_select_limit", async () => {
    await using server = await serverOf({ answers: { "select a": events } });
    await using client = await clientOf(server);
    await client.query("set sql_select_limit = 2");
    expect((await client.query("select a"))[0]).toHaveLength(2);
  });

  it("are taken for binary rows too, and in every zone, which the engine's connection has", async () => {
    await using server = await serverOf({
      answers: { "select a": [doneOf()] },
      descriptions: { "select a": { parameters: [], columns: [] } },
    });
    await using client = await clientOf(server);
    await client.execute("select a");
    await client.query("set time_zone = '+02:00'");
    await client.query("select a");
    expect(server.door.queries.map(({ takes }) => takes)).toEqual([["mysqlRows"], ["mysqlRows"]]);
  });
});

function packetsOf(payloads: readonly Uint8Array[], sequence = 0): Uint8Array {
  const out = new PacketWriter();
  out.sequence = sequence;
  for (const payload of payloads) {
    out.begin();
    out.raw(payload);
    out.end();
  }
  return out.release();
}
