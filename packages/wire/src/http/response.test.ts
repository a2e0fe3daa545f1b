import { describe, expect, it } from "vitest";
import { ResponseReader, type ResponseFault } from "./response.ts";
import type { ResponseHeaders } from "./responseHead.ts";

const ok = "HTTP/1.1 200 OK\r\n";

describe("ResponseReader", () => {
  it("passes a body on as a view of the chunk it came in", () => {
    const chunk = bytesOf(`${ok}Content-Length: 5\r\n\r\nhello`);
    const reader = new ResponseReader(1_024);
    reader.begin();
    reader.push(chunk);
    expect(reader.next()).toEqual({
      kind: "head",
      status: 200,
      headers: { "content-length": "5" },
      bodyBytes: 5,
    });
    const data = reader.next();
    expect(data.kind === "data" && data.bytes.buffer === chunk.buffer).toBe(true);
    expect(reader.next()).toEqual({ kind: "end", reusable: true });
    expect(reader.unread).toBe(0);
  });

  it.each([
    ["a length", `${ok}content-length: 3\r\n\r\nabc`, "abc", true],
    ["a length that begins with zeros", `${ok}content-length: 003\r\n\r\nabc`, "abc", true],
    ["a length of nothing", `${ok}content-length: 0\r\n\r\n`, "", true],
    [
      "chunks",
      `${ok}transfer-encoding: Chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`,
      "abc0123456789",
      true,
    ],
    [
      "extensions",
      `${ok}transfer-encoding: chunked\r\n\r\n1;a;b=c;d="e\\";f"\r\nx\r\n0;z\r\n\r\n`,
      "x",
      true,
    ],
    ["trailers", `${ok}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n`, "x", true],
    ["the connection's end", `${ok}a: b\r\n\r\nabc`, "abc", false],
    ["its status 204", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
    ["its status 304", "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", "", true],
    ["a length, and closes", `${ok}connection: x, Close\r\ncontent-length: 1\r\n\r\nx`, "x", false],
    ["HTTP/1.0", "HTTP/1.0 200\r\ncontent-length: 1\r\n\r\nx", "x", false],
    [
      "an interim response before",
      `HTTP/1.1 100 Continue\r\n\r\n${ok}content-length: 1\r\n\r\nx`,
      "x",
      true,
    ],
  ] as const)("reads a body by %s, in whatever pieces it comes", (_, text, body, reusable) => {
    for (const size of [text.length, 1, 2, 7]) {
      const read = readIn(text, size);
      expect(read).toMatchObject({ body, reusable });
      expect(read.fault).toBeUndefined();
    }
  });

  it("keeps several values of a name as a list, bytes as latin-1, and no name means more than a name", () => {
    const head = `${ok}A: 1\r\na:2\t\r\nB:\r\n__proto__: x\r\nConstructor: y\r\nL: \u0080\u00ff\r\ncontent-length: 0\r\n\r\n`;
    const { headers } = readIn(head, head.length);
    expect(Object.entries(headers ?? {})).toEqual([
      ["a", ["1", "2"]],
      ["b", ""],
      ["__proto__", "x"],
      ["constructor", "y"],
      ["l", "\u0080\u00ff"],
      ["content-length", "0"],
    ]);
  });

  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
  it.each([
    ["another protocol", "SSH-2.0-x", "status"],
    ["another version", "HTTP/2.0 200 OK\r\n\r\n", "status"],
    ["no status", "HTTP/1.1 20 OK\r\n\r\n", "status"],
    ["a status with a sign", "HTTP/1.1 +20 OK\r\n\r\n", "status"],
    ["an empty line first", `\r\n${ok}\r\n`, "status"],
    ["a bare LF", "HTTP/1.1 200 OK\n", "bad"],
    ["a bare CR", "HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", "bad"],
    ["NUL in a value", `${ok}a: \0\r\n\r\n`, "bad"],
    ["a control character in a value", `${ok}a: \u0001\r\n\r\n`, "bad"],
    ["space before the colon", `${ok}a : b\r\n\r\n`, "header"],
    ["a folded line", `${ok}a: b\r\n c\r\n\r\n`, "header"],
    ["a line without a colon", `${ok}a\r\nb: c\r\n\r\n`, "header"],
    ["no name", `${ok}: b\r\n\r\n`, "header"],
    ["two lengths", `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`, "framing"],
    ["one length twice", `${ok}content-length: 1\r\ncontent-length: 1\r\n\r\n`, "framing"],
    ["a list of lengths", `${ok}content-length: 1, 1\r\n\r\n`, "framing"],
    ["a negative length", `${ok}content-length: -1\r\n\r\n`, "framing"],
    ["a length with a sign", `${ok}content-length: +1\r\n\r\n`, "framing"],
    ["a length in hexadecimal", `${ok}content-length: 0x1\r\n\r\n`, "framing"],
    ["an empty length", `${ok}content-length:\r\n\r\n`, "framing"],
    ["a tab behind a length", `${ok}content-length: 1 \t\r\n\r\n`, "framing"],
    ["a tab behind a coding", `${ok}transfer-encoding: chunked\t\r\n\r\n`, "framing"],
    ["a length that no number holds", `${ok}content-length: 9007199254740993\r\n\r\n`, "framing"],
    [
      "a length and chunks",
      `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
      "framing",
    ],
    [
      "chunks and a length",
      `${ok}transfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n`,
      "framing",
    ],
    ["an unknown coding", `${ok}transfer-encoding: gzip\r\n\r\n`, "framing"],
    ["a coding before chunks", `${ok}transfer-encoding: gzip, chunked\r\n\r\n`, "framing"],
    [
      "chunks twice",
      `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`,
      "framing",
    ],
    ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "framing"],
    ["a body with 204", "HTTP/1.1 204 OK\r\ncontent-length: 1\r\n\r\n", "framing"],
    ["a body with 103", "HTTP/1.1 103 OK\r\ncontent-length: 1\r\n\r\n", "framing"],
    [
      "another protocol to follow",
      "HTTP/1.1 101 OK\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
      "upgrade",
    ],
    ["no size of a chunk", `${chunked}\r\n`, "chunk"],
    ["a size with a sign", `${chunked}-1\r\n`, "chunk"],
    ["a size as a program writes it", `${chunked}0x1\r\n`, "chunk"],
    ["a size that no number holds", `${chunked}fffffffffffff\r\n`, "chunk"],
    ["a size of many zeros", `${chunked}${"0".repeat(17)}\r\n`, "chunk"],
    ["space behind the size", `${chunked}1 \r\n`, "chunk"],
    ["a bare LF behind the size", `${chunked}1\n`, "chunk"],
    ["an extension without a name", `${chunked}1;\r\n`, "chunk"],
    ["a longer chunk than its size", `${chunked}1\r\nab\r\n`, "chunk"],
    ["a bare LF behind a chunk", `${chunked}1\r\na\n`, "chunk"],
    ["a length among the trailers", `${chunked}0\r\ncontent-length: 1\r\n\r\n`, "framing"],
    ["a folded trailer", `${chunked}0\r\na: b\r\n c\r\n\r\n`, "header"],
    ["less than its length", `${ok}content-length: 2\r\n\r\na`, "truncated"],
    ["no last chunk", `${chunked}1\r\na\r\n`, "truncated"],
    ["half a head", `${ok}content-le`, "truncated"],
    ["nothing", "", "truncated"],
  ] as const)("refuses %s, in whatever pieces it comes", (_, text, fault) => {
    for (const size of [Math.max(text.length, 1), 1, 3]) {
      const read = readIn(text, size);
      expect(read).toMatchObject({ fault });
      expect(read.reusable).toBeUndefined();
    }
  });

  it("takes no more lines than the limit, of interim responses and trailers too", () => {
    const interim = "HTTP/1.1 103 Hints\r\n\r\n".repeat(50);
    const trailer = `${chunked}0\r\n${"a: b\r\n".repeat(200)}\r\n`;
    for (const text of [`${ok}a: ${"b".repeat(1_000)}`, `${interim}${ok}\r\n`, trailer]) {
      for (const size of [text.length, 1]) expect(readIn(text, size, 1_000).fault).toBe("large");
    }
    const extension = `1;${"e".repeat(4_000)}\r\nx\r\n`;
    expect(readIn(chunked + extension.repeat(5), 100_000).fault).toBe("chunk");
    expect(readIn(`${chunked}${extension.repeat(4)}0\r\n\r\n`, 100_000).body).toBe("xxxx");
  });

  it("leaves what comes behind a response unread", () => {
    const reader = new ResponseReader(1_024);
    reader.begin();
    reader.push(bytesOf(`${ok}content-length: 1\r\n\r\nxHTTP/1.1`));
    const kinds = Array.from({ length: 4 }, () => reader.next().kind);
    expect(kinds).toEqual(["head", "data", "end", "more"]);
    expect(reader.unread).toBe(8);
  });
});

interface Read {
  status?: number;
  headers?: ResponseHeaders;
  body: string;
  reusable?: boolean;
  fault?: ResponseFault;
}

/** What is read of a text that comes in pieces of that size, and then the connection's end. */
function readIn(text: string, size: number, headBytesMax = 64 * 1024): Read {
  const reader = new ResponseReader(headBytesMax);
  const read: Read = { body: "" };
  const all = bytesOf(text);
  reader.begin();
  for (let at = 0; at < all.length; at += size) {
    reader.push(all.subarray(at, at + size));
    for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
      if (step.kind === "head") Object.assign(read, { status: step.status, headers: step.headers });
      if (step.kind === "data") read.body += Buffer.from(step.bytes).toString("latin1");
      if (step.kind === "end") read.reusable = step.reusable;
      if (step.kind === "fault") return { ...read, fault: step.fault };
    }
    if (read.reusable !== undefined) return read;
  }
  const step = reader.close();
  if (step.kind === "end") read.reusable = step.reusable;
  if (step.kind === "fault") read.fault = step.fault;
  return read;
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}
