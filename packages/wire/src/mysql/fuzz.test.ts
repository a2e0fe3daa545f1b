import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCommand } from "./command.ts";
import { parseExecute } from "./execute.ts";
import { parseHandshake } from "./handshake.ts";
import { PacketReader } from "./packetReader.ts";
import { capability } from "./protocol.ts";

const longest = 4096;

describe("the parsers", () => {
  it("answer a value for every bytes, and never more than they were given", () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.integer(), fc.nat(70_000), (payload, capabilities, parameters) => {
        const context = { parameters, types: undefined, longData: new Map<number, Uint8Array>() };
        const messages = [
          parseHandshake(payload),
          parseCommand(payload, capabilities),
          parseExecute(payload, context),
          commandOf(payload, capabilities),
        ];
        for (const message of messages) expect(sizeOf(message)).toBeLessThanOrEqual(longest);
      }),
      { numRuns: 2000 },
    );
  });

  it("survive every single-byte change of a real response", () => {
    const response = Buffer.from(realResponse, "hex");
    const change = fc.record({ at: fc.nat(response.length - 1), to: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const mutated = Uint8Array.from(response);
        for (const { at, to } of changes) mutated[at] = to;
        expect(["handshakeResponse", "sslRequest", "violation"]).toContain(
          parseHandshake(mutated).kind,
        );
      }),
      { numRuns: 2000 },
    );
  });
});

describe("PacketReader under garbage", () => {
  it("never holds more than its limit and a chunk, and never goes on after a violation", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 40 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 100_000 }), (all, limit) => {
        const reader = new PacketReader(limit);
        let broken = false;
        for (const chunk of all) {
          reader.push(chunk);
          for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
            expect(step.kind === "packet" ? step.payload.length : 0).toBeLessThanOrEqual(limit);
            expect(broken && step.kind === "packet").toBe(false);
            broken = step.kind === "violation";
            if (broken) break;
          }
          expect(reader.bufferedBytes).toBeLessThanOrEqual(limit + 4 + 64);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/** With attributes, whatever else was agreed. */
function commandOf(payload: Uint8Array, capabilities: number) {
  const command = parseCommand(payload, capabilities | capability.queryAttributes);
  return command.kind === "query" ? { ...command, ...command.attributes } : command;
}

const realResponse =
  "cff3ba0800000000e00000000000000000000000000000000000000000000000616c6963650020c76e2898612a4cf0" +
  "42c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae80973616c65730063616368696e675f736861325f70617373" +
  "776f726400450c5f636c69656e745f6e616d650c4e6f64652d4d7953514c2d320f5f636c69656e745f76657273696f" +
  "6e06332e32342e350c676174657761795f74616773067465616d3a61";

/** Bytes and entries a message holds, to show that lying lengths reserve nothing. */
function sizeOf(message: object): number {
  let size = 0;
  for (const field of Object.values(message)) {
    if (field instanceof Uint8Array || Array.isArray(field)) size += field.length;
    else if (field instanceof Map) size += field.size;
  }
  return size;
}
