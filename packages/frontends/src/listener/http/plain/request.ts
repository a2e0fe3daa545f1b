/** A whole request: its head and its body are here. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { PlainHead } from "./head.ts";

/** The same names as in `IncomingMessage`. */
export class PlainRequest {
  readonly complete = true;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly socket: Socket;

  constructor({ method, url, headers, rawHeaders }: PlainHead, body: Buffer, socket: Socket) {
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
