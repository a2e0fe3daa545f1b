import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { putColumnsEvent, type AnswerContext } from "../encode.ts";
import { Heads } from "./heads.ts";

describe("Heads", () => {
  it.each([
    ["that waits for an EOF", 0],
    ["that does without", capability.deprecateEof],
  ])("writes to a client %s what came before as anew, whatever changed", (_, capabilities) => {
    const heads = new Heads();
    const first = columnsOf(1);
    const other = columnsOf(2);
    const asked = [
      { columns: first, status: 2, sequence: 1 },
      { columns: first, status: 2, sequence: 1 },
      { columns: first, status: 2, sequence: 1 },
      { columns: first, status: 34, sequence: 1 },
      { columns: first, status: 34, sequence: 1 },
      { columns: first, status: 34, sequence: 1 },
      { columns: first, status: 34, sequence: 255 },
      { columns: first, status: 34, sequence: 255 },
      { columns: first, status: 34, sequence: 255 },
      { columns: other, status: 34, sequence: 255 },
      { columns: first, status: 34, sequence: 255 },
    ];
    for (const { columns, status, sequence } of asked) {
      const context = contextOf(capabilities, status);
      const [out, anew] = [new PacketWriter(), new PacketWriter()];
      out.sequence = sequence;
      anew.sequence = sequence;
      heads.put(out, columns, context);
      putColumnsEvent(anew, columns, context);
      expect([...out.written()]).toEqual([...anew.written()]);
      expect(out.sequence).toBe(anew.sequence);
    }
  });

  it("keeps its own bytes, whatever becomes of those that it wrote", () => {
    const heads = new Heads();
    const columns = columnsOf(3);
    const written = [1, 2, 3].map(() => {
      const out = new PacketWriter();
      out.sequence = 1;
      heads.put(out, columns, contextOf(0, 2));
      const bytes = [...out.written()];
      out.bytes.fill(0);
      return bytes;
    });
    expect(written[1]).toEqual(written[0]);
    expect(written[2]).toEqual(written[0]);
  });
});

function contextOf(capabilities: number, status: number): AnswerContext {
  const rest = { extendedMetadata: false, warnings: 0, tracked: [], queryId: "q" };
  return { capabilities, status, ...rest };
}

/** Definitions of no sense: what goes on is not read. */
function columnsOf(byte: number) {
  const column = { name: "a", type: { kind: "text" }, nullable: true } as const;
  const bytes = Uint8Array.of(2, 0, 0, 2, byte, byte, 1, 0, 0, 3, byte);
  const native = { format: "mysqlRows", bytes, status: 2 } as const;
  return { kind: "columns", columns: [column, column], native } as const;
}
