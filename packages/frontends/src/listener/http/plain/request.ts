/** A whole request: its head and its body are here. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { PlainHead } from "./head.ts";
import type { LinesMemo } from "./sameLines.ts";

/** The same names as in `IncomingMessage`. */
export class PlainRequest {
  readonly complete = true;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly socket: Socket;

  /** What its frontend found in lines that came before. */
  readonly memo: LinesMemo | undefined;

  constructor(head: PlainHead, body: Buffer, socket: Socket) {
    const { method, url, headers, rawHeaders, memo } = head;
    this.memo = memo;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.body = body;
    this.socket = socket;
  }

  /** Nothing of it is left to be passed over. */
  resume(): void {}
}
