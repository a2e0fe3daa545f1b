import { describe, expect, it } from "vitest";
import { Chance, nodeAnswer, ourAnswer, piecesBy, responseBy } from "./rig/responses.ts";

const ok = "HTTP/1.1 200 OK\r\n";

describe("ResponseReader beside node:http", () => {
  it("reads the same of responses as servers write them, at whatever byte they are cut", async () => {
    const whole = [
      `${ok}Content-Length: 5\r\nX: a\r\nx: \u00e9\r\n\r\nhello`,
      `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a="b"\r\nllo\r\n0\r\nT: u\r\n\r\n`,
      `${ok}Connection: close\r\n\r\nhello`,
    ];
    for (const text of whole) {
      const expected = await nodeAnswer([text]);
      expect(expected?.body).toBe("hello");
      for (let at = 1; at < text.length; at += 1) {
        expect(ourAnswer([text.slice(0, at), text.slice(at)])).toEqual(expected);
      }
      expect(ourAnswer(Array.from(text))).toEqual(expected);
    }
  });

  it("refuses what it refuses, and reads the same of what both take", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const chance = new Chance(seed);
    let taken = 0;
    for (let count = 0; count < 1_000; count += 1) {
      const text = responseBy(chance);
      const pieces = piecesBy(chance, text);
      const ours = ourAnswer(pieces);
      expect(ours, `seed ${seed}: pieces mean something`).toEqual(ourAnswer([text]));
      if (ours === undefined) continue;
      taken += 1;
      const theirs = await nodeAnswer(pieces);
      expect(ours, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(theirs);
    }
    expect(taken).toBeGreaterThan(50);
  });
});
