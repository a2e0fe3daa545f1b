import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { ArrowMessage, ColumnarBatch } from "@gateway/core/type/vector.ts";
import { describe, expect, it } from "vitest";
import { aloneBytesMin, messageBytesMax, Packer } from "../../arrow/packer.ts";
import { sendBatch } from "../run/source.ts";
import { BatchMessage, EngineMessage, type Message } from "./message.ts";

describe("the engine's own message", () => {
  it("leaves as it lies there, behind what a client needs to read it", () => {
    const arrow = messageOf(300);
    const message = new EngineMessage(arrow);
    const [head, body] = message.chunks;
    expect(body).toBe(arrow.body);
    const copied = new Uint8Array(message.byteLength + 2);
    expect(message.copy(copied, 2)).toBe(message.byteLength);
    expect(Buffer.from(copied.subarray(2))).toEqual(Buffer.concat([head, body]));
    // Fields 2 and 1000 of `FlightData`, with their lengths.
    const metadata = Buffer.from(arrow.metadata);
    const expected = [Buffer.of(0x12, metadata.length), metadata, Buffer.of(0xc2, 0x3e, 0xac, 2)];
    expect(Buffer.from(head)).toEqual(Buffer.concat(expected));
  });

  it("gives its memory back when it is told that it was sent", () => {
    let released = 0;
    const message = new EngineMessage({ ...messageOf(8), release: () => (released += 1) });
    expect(released).toBe(0);
    message.release();
    expect(released).toBe(1);
    new EngineMessage(messageOf(8)).release();
  });

  it("is sent where its size is good; small ones wait for others, and large ones are cut", async () => {
    const sent = async (bytes: number): Promise<readonly Message[]> => {
      const messages: Message[] = [];
      const sink = {
        signal: new AbortController().signal,
        send: (message: Message) => void messages.push(message),
      };
      const packer = new Packer();
      await sendBatch(sink, packer, { ...rowsOf(bytes / 8), arrow: messageOf(bytes) });
      return messages;
    };
    expect(await sent(aloneBytesMin / 2)).toEqual([]);
    expect((await sent(aloneBytesMin)).map(isWhole)).toEqual([true]);
    expect((await sent(messageBytesMax * 2)).map(isWhole)).toEqual([true]);
    expect((await sent(messageBytesMax * 2 + 8)).map(isWhole)).toEqual([false, false, false]);
  });

  it("goes behind the rows that came before it", async () => {
    const messages: Message[] = [];
    const sink = {
      signal: new AbortController().signal,
      send: (message: Message) => void messages.push(message),
    };
    const packer = new Packer();
    await sendBatch(sink, packer, rowsOf(2));
    await sendBatch(sink, packer, { ...rowsOf(3), arrow: messageOf(aloneBytesMin) });
    expect(messages.map(isWhole)).toEqual([false, true]);
    expect(packer.waits).toBe(false);
  });
});

function isWhole(message: Message): boolean {
  expect(message instanceof EngineMessage || message instanceof BatchMessage).toBe(true);
  return message instanceof EngineMessage;
}

function messageOf(bytes: number): ArrowMessage {
  return { metadata: new Uint8Array(16).fill(1), body: new Uint8Array(bytes).fill(2) };
}

function rowsOf(count: number): ColumnarBatch {
  const [one] = batchOf(
    [columnOf("i", { kind: "integer", bits: 64, signed: true })],
    [[1n]],
  ).columns;
  if (one === undefined) throw new Error("a batch without its column");
  const values = new Uint8Array(count * 8);
  return { form: "columnar", rows: count, columns: [{ ...one, length: count, values }] };
}
