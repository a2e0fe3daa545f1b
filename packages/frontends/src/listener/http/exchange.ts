/** A request and its answer as frontends of HTTP see them, whoever reads and writes the bytes: `node:http`, or `http1/`. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { PlainRequest } from "./plain/request.ts";

/** The body of a `PlainRequest` is here; that of the other is read. */
export type HttpRequest = IncomingMessage | PlainRequest;

/** What frontends use of `ServerResponse`, with the same meaning. */
export interface HttpResponse {
  statusCode: number;
  readonly headersSent: boolean;
  /** The connection is gone, or the answer is out. */
  readonly destroyed: boolean;
  /** The answer is out. */
  readonly writableFinished: boolean;
  readonly writableNeedDrain: boolean;
  readonly socket: Socket | null;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  appendHeader(name: string, value: string | readonly string[]): unknown;
  hasHeader(name: string): boolean;
  removeHeader(name: string): void;
  /** Names and values in turns. */
  writeHead(status: number, headers: string[]): unknown;
  /** Sends the head, ahead of the first bytes. */
  flushHeaders(): void;
  /** False: the client has not taken what was written; `drain` says when it has. */
  write(bytes: Uint8Array, written?: () => void): boolean;
  end(body?: Uint8Array | string): unknown;
  cork(): void;
  destroy(): unknown;
  /** `close`: the answer is out, or the connection gone. */
  on(event: "close" | "drain", listener: () => void): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
  off(event: "close" | "drain", listener: () => void): unknown;
}

/** Resolves when the client takes more, or is gone. */
export function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      response.off("drain", over);
      response.off("close", over);
      resolve();
    };
    response.once("drain", over);
    response.once("close", over);
    if (response.destroyed) over();
  });
}
