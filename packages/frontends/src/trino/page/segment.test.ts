import * as zlib from "node:zlib";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { describe, expect, it } from "vitest";
import { manyBatches, opened, rowsOf } from "../rig/server.ts";
import { encoded, encodingOf } from "./segment.ts";
import { numbers, resultOf } from "../rig/trino.ts";

describe("encodingOf", () => {
  it("is the first that the client names and we have", () => {
    expect(encodingOf("json")).toBe("json");
    expect(encodingOf(" json+lz4 , json")).toBe("json");
    expect(["json", "json+zstd"]).toContain(encodingOf("json+zstd,json+lz4,json"));
  });

  it("is none where there is none in common", () => {
    for (const header of [undefined, "", "json+lz4", "arrow", "JSON"]) {
      expect(encodingOf(header)).toBeUndefined();
    }
  });
});

describe("encoded", () => {
  it("makes one inline segment that says how many rows and bytes it holds, and where they begin", async () => {
    const rows = Buffer.from('[1,"é"],[2,null]');
    const { before, rows: text, after } = await encoded({ bytes: rows, count: 2 }, 40, "json");
    const data = JSON.parse(`{${before}${Buffer.from(text).toString()}${after}"end":0}`) as {
      readonly data: unknown;
    };
    const bytes = Buffer.from('[[1,"é"],[2,null]]');
    expect(data.data).toEqual({
      encoding: "json",
      segments: [
        {
          type: "inline",
          data: bytes.toString("base64"),
          metadata: { rowOffset: 40, rowsCount: 2, segmentSize: bytes.length },
        },
      ],
    });
  });
});

describe("encoded as json+zstd", () => {
  it("says how large a segment becomes when it is compressed, and only then", async () => {
    const rows = Buffer.from(Array.from({ length: 5000 }, (_, index) => `[${index}]`).join(","));
    const {
      before,
      rows: text,
      after,
    } = await encoded({ bytes: rows, count: 5000 }, 0, "json+zstd");
    const { data } = JSON.parse(`{${before}${Buffer.from(text).toString()}${after}"end":0}`) as {
      readonly data: { readonly segments: readonly [ZstdSegment] };
    };
    const [segment] = data.segments;
    const bytes = Buffer.from(segment.data, "base64");
    expect(bytes).toHaveLength(segment.metadata.segmentSize);
    const size = segment.metadata.uncompressedSize;
    // Without zstd in this Node a segment stays as it is.
    const plain = size === undefined ? bytes : decompressed(bytes);
    expect(plain.toString()).toBe(`[${rows.toString()}]`);
    expect(size ?? plain.length).toBe(plain.length);
  });
});

interface ZstdSegment {
  readonly data: string;
  readonly metadata: { readonly segmentSize: number; readonly uncompressedSize?: number };
}

function decompressed(bytes: Buffer): Buffer {
  const { zstdDecompressSync } = zlib as {
    readonly zstdDecompressSync?: (bytes: Buffer) => Buffer;
  };
  if (zstdDecompressSync === undefined) throw new Error("compressed without zstd");
  return zstdDecompressSync(bytes);
}

describe("a client that offers encodings", () => {
  const script = { answers: { many: manyBatches, "SELECT 1": resultOf(numbers, [[1n]]) } };
  const offers = { "x-trino-query-data-encoding": "json" };

  it("gets every row in segments that follow each other", async () => {
    const server = await opened(script);
    const answers = await server.follow("many", offers);
    const segments = answers.flatMap(({ results }) => segmentsOf(results));
    let next = 0;
    const rows: unknown[] = [];
    for (const { data, metadata } of segments) {
      const decoded = JSON.parse(Buffer.from(data, "base64").toString()) as readonly unknown[][];
      expect(metadata).toMatchObject({ rowOffset: next, rowsCount: decoded.length });
      next += decoded.length;
      for (const row of decoded) rows.push(row[0]);
    }
    expect(rows).toEqual(Array.from({ length: 60_000 }, (_, index) => index));
  });

  it("gets rows that come with the answer to its POST plain, where not every client reads segments", async () => {
    const server = await opened(script);
    const java = { ...offers, "user-agent": "StatementClientV1/476" };
    expect(rowsOf(await server.follow("SELECT 1", java))).toEqual([[1]]);
  });

  it("gets the same segment when it asks twice", async () => {
    const server = await opened(script);
    const first = await (
      await server.ask("/v1/statement", { sql: "many", headers: offers })
    ).json();
    const { nextUri = "" } = first as QueryResults;
    const text = async () => (await server.ask(nextUri)).text();
    const once = await text();
    expect(await text()).toBe(once);
    expect(segmentsOf(JSON.parse(once) as QueryResults)).toHaveLength(1);
  });
});

interface Segment {
  readonly data: string;
  readonly metadata: unknown;
}

function segmentsOf(results: QueryResults): readonly Segment[] {
  const { data } = results as { readonly data?: unknown };
  if (data === undefined) return [];
  return (data as { readonly segments: readonly Segment[] }).segments;
}
