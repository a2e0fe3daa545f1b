import { describe, expect, it } from "vitest";
import { readSmallJson } from "./smallBody.ts";

describe("readSmallJson", () => {
  it("reads what was declared and what was not alike", async () => {
    const text = '{"a":[1,"ü"]}';
    const length = { "content-length": String(Buffer.byteLength(text)) };
    const value = { ok: true, value: { a: [1, "ü"] } };
    expect(await readSmallJson(requestOf(text, length), 100)).toEqual(value);
    expect(await readSmallJson(requestOf(text, {}), 100)).toEqual(value);
  });

  it("refuses more than it may read, also where the declared length lies", async () => {
    const text = JSON.stringify("x".repeat(100));
    const honest = await readSmallJson(requestOf(text, { "content-length": "102" }), 50);
    const lying = await readSmallJson(requestOf(text, { "content-length": "10" }), 50);
    expect(honest).toMatchObject({ ok: false, error: { status: 413 } });
    expect(lying).toMatchObject({ ok: false, error: { status: 400 } });
  });

  it.each([
    ["no JSON", "{"],
    ["U+0000", String.raw`{"user":"\u0000"}`],
    ["half a character", String.raw`{"user":"\ud800"}`],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
  ])("refuses %s", async (_, body) => {
    const length = { "content-length": String(Buffer.byteLength(body)) };
    expect(await readSmallJson(requestOf(body, length), 100)).toMatchObject({
      ok: false,
      error: { status: 400, code: "malformedBody" },
    });
  });

  it("keeps escapes that stand for ordinary text", async () => {
    const text = String.raw`{"user":"\u00fc\ud83d\ude00"}`;
    const length = { "content-length": String(text.length) };
    expect(await readSmallJson(requestOf(text, length), 100)).toEqual({
      ok: true,
      value: { user: "ü\u{1F600}" },
    });
  });

  it("leaves other types and codings to the careful reader, which refuses them", async () => {
    const more = [{ "content-type": "text/plain" }, { "content-encoding": "gzip" }];
    for (const headers of more) {
      const request = requestOf("{}", { "content-length": "2", ...headers });
      expect(await readSmallJson(request, 100)).toMatchObject({
        ok: false,
        error: { status: 415 },
      });
    }
  });
});

function requestOf(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Request {
  const all = { "content-type": "application/json", ...headers };
  return new Request("http://control/", { method: "POST", headers: all, body });
}
