/**
 * Bytes of a connection → the HTTP/1.1 response to the one request that is under way on it. Holds no more than an
 * unfinished head; bodies are passed on as views of what arrived. Knows neither sockets nor requests, and not that a
 * response to HEAD has no body: nobody here asks so.
 *
 * As strict as RFC 9112 allows a client to be, because a proxy before the server may read differently what is
 * doubtful: no folded lines, no bare LF, one length of the body, no transfer coding but `chunked`. HTTP/1.0 is
 * read, and its connection not used again.
 */
import { ChunkSize } from "./chunkSize.ts";
import { LineBlock, type BlockFault } from "./lineBlock.ts";
import { RememberedHead } from "./rememberedHead.ts";
import {
  readHead,
  readTrailers,
  type HeadFault,
  type ResponseHead,
  type ResponseHeaders,
} from "./responseHead.ts";

/**
 * `upgrade`: another protocol follows, which nobody asked for · `chunk`: chunks that are not written as such ·
 * `truncated`: the connection ended before the response.
 */
export type ResponseFault = HeadFault | BlockFault | "upgrade" | "chunk" | "truncated";

export type ResponseStep =
  /** The head of the final response; those of interim ones are read and dropped. `bodyBytes` where it was announced. */
  | {
      readonly kind: "head";
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly bodyBytes: number | undefined;
    }
  /** Never empty. A view of the chunk it came in. */
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  /** The response is whole. `reusable`: the connection may carry another request. */
  | { readonly kind: "end"; readonly reusable: boolean }
  /** Everything that came is read. */
  | { readonly kind: "more" }
  | { readonly kind: "fault"; readonly fault: ResponseFault };

/** Bytes of extensions of the chunks of one body. */
export const extensionBytesMax = 16 * 1024;

type State =
  | "idle"
  | "head"
  | "length"
  | "untilClose"
  | "chunkSize"
  | "chunkBytes"
  | "chunkCr"
  | "chunkLf"
  | "trailers"
  | "broken";

const more: ResponseStep = { kind: "more" };
const none = new Uint8Array(0);
const begins = new TextEncoder().encode("HTTP/1.");
const switching = 101;
const interimEnd = 200;

/** Owned by one connection. Unusable after a fault. */
export class ResponseReader {
  readonly #block: LineBlock;
  readonly #chunk = new ChunkSize(extensionBytesMax);
  readonly #remembered = new RememberedHead();
  #state: State = "idle";
  #bytes: Uint8Array = none;
  #at = 0;
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0;
  #reusable = false;
  #fault: ResponseFault = "truncated";

  /** `headBytesMax`: of all lines of one response together, those of interim responses and trailers among them. */
  constructor(headBytesMax: number) {
    this.#block = new LineBlock(headBytesMax);
  }

  /** Bytes that came and that no response took. While no request is under way they are unasked. */
  get unread(): number {
    return this.#bytes.length - this.#at;
  }

  /** A request is sent: what comes from now on is its response. Not before the last one ended. */
  begin(): void {
    this.#block.begin();
    this.#state = "head";
  }

  /** Adds what arrived, once `next` said that it needs more. The chunk must not be changed as long as its views are held. */
  push(chunk: Uint8Array): void {
    this.#bytes = chunk;
    this.#at = 0;
  }

  /** What is next in the bytes that came. */
  next(): ResponseStep {
    for (;;) {
      const step = this.#step();
      if (step !== undefined) return step;
    }
  }

  /** The connection ended, after all steps were taken. What that means for the response: its end, or a fault. */
  close(): ResponseStep {
    return this.#state === "untilClose" ? this.#end() : this.#broken(this.#fault);
  }

  /** Undefined when it was one within. */
  #step(): ResponseStep | undefined {
    switch (this.#state) {
      case "idle":
        return more;
      case "broken":
        return this.#broken(this.#fault);
      case "head":
        return this.#head();
      case "length":
        return this.#left === 0 ? this.#end() : this.#data(this.#left);
      case "untilClose":
        return this.#data(Number.POSITIVE_INFINITY);
      case "chunkBytes":
        if (this.#left > 0) return this.#data(this.#left);
        this.#state = "chunkCr";
        return undefined;
      case "chunkSize":
        return this.#chunkSize();
      case "chunkCr":
        return this.#expect(0x0d, "chunkLf");
      case "chunkLf":
        return this.#expect(0x0a, "chunkSize");
      case "trailers":
        return this.#trailers();
    }
  }

  #head(): ResponseStep | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    if (start === bytes.length) return more;
    const known = this.#remembered.read(bytes, start, this.#block.room);
    if (known !== undefined) {
      this.#block.skip(this.#remembered.length);
      this.#at = start + this.#remembered.length;
      return this.#begun(known);
    }
    const isFirst = this.#block.room > 0;
    const end = this.#block.take(bytes, start);
    if (end === "more") {
      this.#at = bytes.length;
      return this.#block.beginsLike(begins) ? more : this.#broken("status");
    }
    if (typeof end === "string") return this.#broken(end);
    this.#at = end;
    const head = readHead(this.#block.text);
    if (typeof head === "string") return this.#broken(head);
    if (head.status === switching) return this.#broken("upgrade");
    if (head.status < interimEnd) return undefined;
    if (isFirst) this.#remembered.keep(head, bytes, start, end);
    return this.#begun(head);
  }

  #begun({ status, headers, body, reusable }: ResponseHead): ResponseStep {
    this.#reusable = reusable;
    const bodyBytes = typeof body === "number" ? body : undefined;
    this.#left = bodyBytes ?? 0;
    this.#state = body === "chunked" ? "chunkSize" : body === "untilClose" ? body : "length";
    if (body === "chunked") this.#chunk.begin();
    return { kind: "head", status, headers, bodyBytes };
  }

  #data(bytesMax: number): ResponseStep {
    const start = this.#at;
    const bytes = this.#bytes;
    if (start === bytes.length) return more;
    const end = Math.min(bytes.length, start + bytesMax);
    this.#at = end;
    this.#left -= end - start;
    const isWhole = start === 0 && end === bytes.length;
    return { kind: "data", bytes: isWhole ? bytes : bytes.subarray(start, end) };
  }

  #chunkSize(): ResponseStep | undefined {
    const end = this.#chunk.take(this.#bytes, this.#at);
    if (end === "bad") return this.#broken("chunk");
    if (end === "more") {
      this.#at = this.#bytes.length;
      return more;
    }
    this.#at = end;
    this.#left = this.#chunk.size;
    this.#state = this.#left === 0 ? "trailers" : "chunkBytes";
    return undefined;
  }

  #expect(byte: number, behind: State): ResponseStep | undefined {
    if (this.unread === 0) return more;
    if (this.#bytes[this.#at] !== byte) return this.#broken("chunk");
    this.#at += 1;
    this.#state = behind;
    return undefined;
  }

  #trailers(): ResponseStep {
    const end = this.#block.take(this.#bytes, this.#at);
    if (end === "more") {
      this.#at = this.#bytes.length;
      return more;
    }
    if (typeof end === "string") return this.#broken(end);
    this.#at = end;
    const fault = readTrailers(this.#block.text);
    return fault === undefined ? this.#end() : this.#broken(fault);
  }

  #end(): ResponseStep {
    this.#state = "idle";
    // A connection may be idle for long, and the chunk be large.
    if (this.unread === 0) this.push(none);
    return { kind: "end", reusable: this.#reusable };
  }

  #broken(fault: ResponseFault): ResponseStep {
    this.#state = "broken";
    this.#fault = fault;
    return { kind: "fault", fault };
  }
}
