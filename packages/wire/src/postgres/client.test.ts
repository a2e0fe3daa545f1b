import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "./bytes.ts";
import {
  isSendable,
  writeCancelRequest,
  writeClient,
  writePassword,
  writeSaslInitial,
  writeSaslResponse,
  writeSslRequest,
  writeStartup,
  type ClientMessage,
} from "./client.ts";
import { FrameReader, type Frame } from "./frame.ts";
import { frontendTypes, parseFrontend, parsePassword, parseSaslInitial } from "./frontend.ts";
import { parseStart } from "./start.ts";

describe("writeClient", () => {
  it("writes every message so that a server reads what was meant", () => {
    const property = fc.property(fc.array(anyMessage, { maxLength: 8 }), (messages) => {
      const out = new ByteWriter();
      for (const message of messages) writeClient(out, message);
      const read = framesOf(out.take()).map((frame) => parseFrontend(frame));
      expect(read).toEqual(messages.map((message) => ({ kind: "message", message })));
    });
    fc.assert(property);
  });
});

describe("the start of a connection", () => {
  it("is read as it was written", () => {
    const parameters = new Map([
      ["user", "ann"],
      ["database", "d\u00e9"],
    ]);
    expect(startOf((out) => writeStartup(out, parameters))).toEqual({
      kind: "startup",
      major: 3,
      minor: 0,
      parameters,
    });
    expect(startOf(writeSslRequest)).toEqual({ kind: "sslRequest" });
    const secret = Uint8Array.from([1, 2, 3, 4]);
    expect(startOf((out) => writeCancelRequest(out, 7, secret))).toEqual({
      kind: "cancelRequest",
      process: 7,
      secret,
    });
  });

  it("shows a password, or a step of SASL, as the server asks for it", () => {
    expect(parsePassword(bodyOf((out) => writePassword(out, "p\u00e4ss")))).toBe("p\u00e4ss");
    const data = Uint8Array.from([1, 0, 2]);
    const first = bodyOf((out) => writeSaslInitial(out, "SCRAM-SHA-256", data));
    expect(parseSaslInitial(first)).toEqual({ mechanism: "SCRAM-SHA-256", data });
    expect(bodyOf((out) => writeSaslResponse(out, data))).toEqual(data);
  });
});

describe("isSendable", () => {
  it("knows texts that would end early or arrive as others", () => {
    expect(["plain", "a\0b", "\ud800"].map(isSendable)).toEqual([true, false, false]);
  });
});

const text = fc.string({ unit: "grapheme" }).filter(isSendable);
const formats = fc.array(fc.constantFrom<0 | 1>(0, 1), { maxLength: 1 });
const bytes = fc.uint8Array({ maxLength: 20 });
const target = fc.constantFrom("statement" as const, "portal" as const);
const anyMessage: fc.Arbitrary<ClientMessage> = fc.oneof(
  fc.record({ kind: fc.constant("query" as const), sql: text }),
  fc.record({
    kind: fc.constant("parse" as const),
    statement: text,
    sql: text,
    types: fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("bind" as const),
    portal: text,
    statement: text,
    formats,
    values: fc.array(fc.option(bytes, { nil: undefined }), { maxLength: 4 }),
    resultFormats: formats,
  }),
  fc.record({ kind: fc.constant("describe" as const), target, name: text }),
  fc.record({ kind: fc.constant("close" as const), target, name: text }),
  fc.record({ kind: fc.constant("execute" as const), portal: text, maxRows: fc.nat() }),
  fc.record({ kind: fc.constant("copyData" as const), body: bytes }),
  fc.record({ kind: fc.constant("copyFail" as const), reason: text }),
  fc.constantFrom<ClientMessage>(
    { kind: "flush" },
    { kind: "sync" },
    { kind: "terminate" },
    { kind: "copyDone" },
  ),
);

function framesOf(sent: Uint8Array): Frame[] {
  const reader = new FrameReader();
  reader.push(sent);
  const frames: Frame[] = [];
  for (;;) {
    const step = reader.next({ types: frontendTypes, maxBytes: 1_000_000 });
    if (step.kind !== "frame") return frames;
    frames.push(step.frame);
  }
}

function bodyOf(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return framesOf(out.take())[0]?.body.slice() ?? new Uint8Array(0);
}

function startOf(write: (out: ByteWriter) => void) {
  const out = new ByteWriter();
  write(out);
  const reader = new FrameReader();
  reader.push(out.take());
  const step = reader.next({ types: undefined, maxBytes: 10_000 });
  const parsed = step.kind === "frame" ? parseStart(step.frame.body) : undefined;
  return parsed?.kind === "message" ? parsed.message : parsed;
}
