import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson, readJsonBody, type BodyLimits } from "./body.ts";

const limits: BodyLimits = { bytesMax: 1_000 };
const gzipLimits: BodyLimits = { bytesMax: 1_000, inflatedBytesMax: 10_000 };

describe("readJsonBody", () => {
  it("says that texts can be kept only where none of them can be odd", async () => {
    const any = { ...limits, text: "any" } as const;
    const storableOf = async (text: string) => {
      const body = await readJsonBody(requestOf(text), any);
      return body.ok && body.value.storable;
    };
    expect(await storableOf('["é", "a\\n", {"b": 1}]')).toBe(true);
    for (const odd of ['"\\u0000"', '"\\ud800"', '{"\\uDC00": 1}']) {
      expect(await storableOf(odd)).toBe(false);
    }
  });
});

describe("readJson", () => {
  it("reads any JSON that the limits allow, plain and compressed", async () => {
    const readsBack = fc.asyncProperty(
      fc.json({ depthSize: "small" }),
      fc.boolean(),
      async (text, zipped) => {
        const big = { bytesMax: 1_000_000, inflatedBytesMax: 1_000_000, text: "any" } as const;
        const request = zipped ? zippedOf(text) : requestOf(text);
        expect(await readJson(request, big)).toEqual({ ok: true, value: JSON.parse(text) });
      },
    );
    await fc.assert(readsBack);
  });

  it("reads text beyond ASCII as UTF-8, and nothing else as that", async () => {
    const bytesOf = (...bytes: readonly number[]) => new Uint8Array(bytes);
    const read = (body: Uint8Array<ArrayBuffer>) => readJson(requestOf(body), limits);
    expect(await read(bytesOf(0x22, 0xc3, 0xa9, 0x22))).toEqual({ ok: true, value: "é" });
    expect(await read(bytesOf(0xef, 0xbb, 0xbf, 0x31))).toEqual({ ok: true, value: 1 });
    expect(await read(bytesOf(0x22, 0xe9, 0x22))).toMatchObject({ ok: false });
  });

  it("refuses a declared length before it reads a byte", async () => {
    const body = countedBody(10);
    const request = requestOf(body.stream, { "content-length": "1001" });
    expect(await statusOf(request, limits)).toBe(413);
    expect(body.pulled()).toBeLessThanOrEqual(1);
  });

  it("stops a body without a length at the limit", async () => {
    const body = countedBody(1_000);
    expect(await statusOf(requestOf(body.stream), limits)).toBe(413);
    expect(body.pulled()).toBeLessThanOrEqual(13);
    expect(body.cancelled()).toBe(true);
  });

  it("stops a compressed body that grows beyond its limit", async () => {
    const bomb = gzipSync(Buffer.alloc(700_000, 0x20));
    expect(bomb.length).toBeLessThan(1_000);
    expect(await statusOf(zippedOf(bomb), gzipLimits)).toBe(413);
  });

  it("refuses gzip where it was not asked for, and codings it does not know", async () => {
    expect(await statusOf(zippedOf("{}"), limits)).toBe(415);
    expect(await statusOf(requestOf("{}", { "content-encoding": "br" }), gzipLimits)).toBe(415);
  });

  it("refuses bodies that do not say they are JSON", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "json", ""]) {
      const request = requestOf("{}", { "content-type": type });
      expect(await statusOf(request, limits)).toBe(415);
    }
    const told = requestOf("{}", { "content-type": "application/merge-patch+json; charset=utf-8" });
    expect(await readJson(told, limits)).toEqual({ ok: true, value: {} });
  });

  it("refuses what is no JSON without repeating it", async () => {
    const hidden = "hunter2hunter2";
    const bodies = ["", "{", `{"password": ${hidden}}`, new Uint8Array([0x22, 0xff, 0x22])];
    for (const body of bodies) {
      const answer = await readJson(requestOf(body), limits);
      expect(answer).toMatchObject({ ok: false, error: { status: 400, code: "malformedBody" } });
      expect(JSON.stringify(answer)).not.toContain(hidden);
    }
    expect(await statusOf(zippedOf(new Uint8Array([1, 2, 3]), false), gzipLimits)).toBe(400);
  });

  it("refuses nesting beyond its depth, however deep", async () => {
    expect(await statusOf(requestOf(nested(64)), limits)).toBe(200);
    expect(await statusOf(requestOf(nested(65)), limits)).toBe(400);
    const deep = { bytesMax: 10_000_000 };
    expect(await statusOf(requestOf(nested(1_000_000)), deep)).toBe(400);
  });

  it("refuses text and numbers that can not be kept, unless the caller looks itself", async () => {
    const bodies = [
      String.raw`{"a":"\u0000"}`,
      String.raw`["\ud800"]`,
      String.raw`{"\udc00":1}`,
      "1e999",
    ];
    for (const body of bodies) {
      expect(await statusOf(requestOf(body), limits)).toBe(400);
      expect(await statusOf(requestOf(body), { ...limits, text: "any" })).toBe(200);
    }
  });
});

async function statusOf(request: Request, with_: BodyLimits): Promise<number> {
  const answer = await readJson(request, with_);
  return answer.ok ? 200 : answer.error.status;
}

type Sent = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

function requestOf(body: Sent, headers: Record<string, string> = {}): Request {
  return new Request("http://control/", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
}

function zippedOf(body: string | Uint8Array<ArrayBuffer>, compress = typeof body === "string") {
  const bytes = compress ? new Uint8Array(gzipSync(body)) : body;
  return requestOf(bytes, { "content-encoding": "gzip" });
}

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

/** `chunks` times 100 bytes, and how many of them were asked for. */
function countedBody(chunks: number) {
  let pulled = 0;
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      if (pulled > chunks) return controller.close();
      controller.enqueue(new Uint8Array(100).fill(0x20));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return { stream, pulled: () => pulled, cancelled: () => cancelled };
}
