/**
 * Responses that a server may send, and such that none should, made from a seed; and what two readers make of them:
 * ours, and that of node:http, which is asked over a stream in memory. Used by the tests for a moment, and by
 * `test/fuzz/http.mjs` for as long as one likes.
 */
import { request, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { ResponseReader } from "../response.ts";
import type { ResponseHeaders } from "../responseHead.ts";

export const headBytesMax = 64 * 1024;

/** What a reader made of the bytes of a connection; undefined where it refused them. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
}

/** Chance from a seed, so that a failure can be had again. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, below). */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }
}

/** What responses are put together from: one of each, or several lines. */
const starts = [
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200",
  "HTTP/1.1 503 Service Unavailable",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.0 200 OK",
  "HTTP/1.1 101 Switching Protocols",
  "HTTP/1.1 099 x",
  "HTTP/2.0 200 OK",
  "HTTP/1.1  200 OK",
  "http/1.1 200 OK",
  "ICY 200 OK",
] as const;
const lines = [
  "Content-Length: 5",
  "content-length: 5 ",
  "Content-Length: 05",
  "Content-Length: 5, 5",
  "Content-Length: +5",
  "Content-Length: -1",
  "Content-Length: 0x5",
  "Content-Length: ",
  "Content-Length : 5",
  "Content-Length:\t5",
  "Content-Length: 5\t",
  "Content-Length: 18446744073709551621",
  "Transfer-Encoding: chunked",
  "transfer-encoding: CHUNKED",
  "Transfer-Encoding: chunked\t",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding:\u000bchunked",
  "Connection: close",
  "Connection: keep-alive",
  "Connection: upgrade",
  "Upgrade: h2c",
  "Keep-Alive: timeout=5",
  "X-A: b",
  "x-a: c",
  "X-A: \u0080\u00ff",
  "X-A: a\u0000b",
  "X-A: a\rb",
  "X-A: a\nX-B: c",
  " folded: x",
  ": none",
  "no colon",
  "X Y: z",
  "__proto__: x",
] as const;
const bodies = [
  "hello",
  "",
  "hello and more",
  "5\r\nhello\r\n0\r\n\r\n",
  "2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-T: u\r\n\r\n",
  "5\nhello\n0\n\n",
  "05\r\nhello\r\n00\r\n\r\n",
  "5 \r\nhello\r\n0\r\n\r\n",
  "0x5\r\nhello\r\n0\r\n\r\n",
  "-5\r\nhello\r\n0\r\n\r\n",
  "5;\r\nhello\r\n0\r\n\r\n",
  '5;a="b\\"c";d\r\nhello\r\n0\r\n\r\n',
  "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n",
  "5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
  "5\r\nhelloo\r\n0\r\n\r\n",
  "ffffffffffffffffff\r\nhello",
  "5\r\nhello",
  "5\r\nhello\r\n0\r\n",
] as const;
const bytes = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ";",
  "0",
  "5",
  "f",
  "\u007f",
  "\u00ff",
  "HTTP/1.1 200 OK\r\n\r\n",
] as const;

/** The bytes of a connection, as latin-1. */
export function responseBy(chance: Chance): string {
  const head: string[] = [chance.below(3) === 0 ? chance.pick(starts) : starts[0]];
  for (let count = chance.below(4); count > 0; count -= 1) head.push(chance.pick(lines));
  let text = `${head.join("\r\n")}\r\n\r\n${chance.pick(bodies)}`;
  for (let count = [0, 0, 1, 1, 2, 3][chance.below(6)] ?? 0; count > 0; count -= 1) {
    const at = chance.below(text.length + 1);
    const dropped = chance.below(3) === 0 ? chance.below(4) : 0;
    const put = chance.below(4) === 0 ? "" : chance.pick(bytes);
    text = text.slice(0, at) + put + text.slice(at + dropped);
  }
  return text;
}

/** Pieces of a text, cut by chance; one of each byte now and then. */
export function piecesBy(chance: Chance, text: string): readonly string[] {
  const pieces: string[] = [];
  const longest = chance.pick([1, 5, 1_000]);
  for (let at = 0; at < text.length;) {
    const length = 1 + chance.below(longest);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** What our reader makes of them, and of the connection's end behind them. */
export function ourAnswer(pieces: readonly string[]): Answer | undefined {
  const reader = new ResponseReader(headBytesMax);
  const answer = { status: 0, headers: {} as ResponseHeaders, body: "" };
  reader.begin();
  for (const piece of pieces) {
    reader.push(Buffer.from(piece, "latin1"));
    for (let step = reader.next(); step.kind !== "more"; step = reader.next()) {
      if (step.kind === "end") return answer;
      if (step.kind === "fault") return undefined;
      if (step.kind === "data") answer.body += Buffer.from(step.bytes).toString("latin1");
      else [answer.status, answer.headers] = [step.status, step.headers];
    }
  }
  return reader.close().kind === "end" ? answer : undefined;
}

/** What node:http makes of them. A response that was whole before an error is an answer. */
export function nodeAnswer(pieces: readonly string[]): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => done(),
      final: (done) => done(),
    });
    let response: IncomingMessage | undefined;
    let body = "";
    const asked = request({
      createConnection: () => socket,
      maxHeaderSize: headBytesMax,
    });
    asked.on("response", (came) => {
      response = came;
      came.setEncoding("latin1");
      came.on("data", (text: string) => {
        body += text;
      });
      came.on("error", () => undefined);
    });
    asked.on("error", () => undefined);
    asked.on("close", () => {
      if (response?.complete !== true) return resolve(undefined);
      resolve({ status: response.statusCode ?? 0, headers: recordOf(response.rawHeaders), body });
    });
    asked.on("finish", () => {
      for (const piece of pieces) socket.push(piece, "latin1");
      socket.push(null);
    });
    asked.end();
  });
}

function recordOf(raw: readonly string[]): ResponseHeaders {
  const names = new Map<string, string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    names.set(name, [...(names.get(name) ?? []), raw[at + 1] ?? ""]);
  }
  const fields = Array.from(names, ([name, [first = "", ...more]]) => {
    return [name, more.length === 0 ? first : [first, ...more]] as const;
  });
  return Object.fromEntries(fields);
}
