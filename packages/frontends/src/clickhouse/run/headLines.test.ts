/** What the answer before said is in no later one. */
import { describe, expect, it } from "vitest";
import { headLines } from "./headLines.ts";

const work = { resultRows: 1, writtenRows: 2, elapsedMs: 3 };
const summary = '{"read_rows":"7"}';

describe("the lines of a head", () => {
  it("are those of its own headers, behind any other answer", () => {
    const heads: Record<string, string>[] = [
      {},
      { "content-type": "text/plain" },
      { "content-type": "text/html" },
      { "x-clickhouse-format": "JSON", "content-type": "text/plain" },
      { "content-type": "text/plain", "x-clickhouse-format": "CSV" },
      { "content-type": "text/plain", "x-clickhouse-format": "x".repeat(300) },
      Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, `${at}`])),
    ];
    for (const before of heads) {
      for (const head of heads) {
        headLines("before", before, 1, work);
        const text = headLines("id", head, 5, work);
        const said = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
        const [first, ...rest] = text.split("\r\n");
        expect(first).toBe("X-ClickHouse-Query-Id: id");
        expect(rest.slice(0, said.length)).toEqual(said);
        expect(rest.slice(said.length)).toEqual([
          expect.stringMatching(/^X-ClickHouse-Summary: .*"written_rows":"2".*"3000000"\}$/),
          "Content-Length: 5",
          "",
        ]);
      }
    }
  });

  it("name the engine's summary, and no id where there is none", () => {
    const text = headLines("", { "x-clickhouse-summary": summary }, 0, work);
    expect(text).toBe(`x-clickhouse-summary: ${summary}\r\nContent-Length: 0\r\n`);
  });

  it("hold nothing that ends a line", () => {
    const head = { "content-type": "a\r\nSet-Cookie: b" };
    for (const _again of [1, 2])
      expect(() => headLines("id", head, 0, work)).toThrow("Invalid character");
    expect(headLines("a\r\nb", {}, 0, work)).toMatch(/^X-ClickHouse-Query-Id: a%0D%0Ab\r\n/);
  });
});
