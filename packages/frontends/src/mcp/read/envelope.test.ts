import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEnvelope } from "./envelope.ts";

const read = (text: string) => readEnvelope(Buffer.from(text));
const requestWith = (params: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "m", params });

describe("readEnvelope", () => {
  it("tells requests, notifications and answers apart", () => {
    const meta = { _meta: { progressToken: "p" } };
    expect(read(requestWith(meta))).toMatchObject({
      value: { kind: "request", id: 1, method: "m", wantsProgress: true },
    });
    expect(read(requestWith({}))).toMatchObject({ value: { wantsProgress: false } });
    expect(read('{"jsonrpc":"2.0","method":"n"}')).toMatchObject({
      value: { kind: "notification", method: "n", params: {} },
    });
    expect(read('{"jsonrpc":"2.0","id":1,"error":{}}')).toMatchObject({
      value: { kind: "answer" },
    });
  });

  it("counts brackets and commas outside of texts only", () => {
    const noise = '[{,:"\\'.repeat(5_000);
    expect(read(requestWith({ sql: noise })).ok).toBe(true);
    expect(read(requestWith({ many: Array.from({ length: 9_000 }, () => 0) })).ok).toBe(true);
    expect(read(requestWith({ many: Array.from({ length: 11_000 }, () => 0) })).ok).toBe(false);
    const deep = "[".repeat(30) + "]".repeat(30);
    expect(read(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${deep}}}`).ok).toBe(true);
    expect(read(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[${deep}]}}`).ok).toBe(false);
  });

  it("refuses bytes that are no UTF-8", () => {
    expect(readEnvelope(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ error: { rpc: -32700 } });
  });

  it("never throws, and reads what JSON reads within the limits", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (params) => {
        const isObject = typeof params === "object" && params !== null && !Array.isArray(params);
        expect(read(requestWith(params)).ok).toBe(isObject || params === null);
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void readEnvelope(Buffer.from(bytes))));
  });
});
