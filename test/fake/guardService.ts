/** A web service that guards ask. It can misbehave on command, and says when it was asked and when its caller hung up. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ServiceMood =
  | "well"
  | "silent"
  | "nonsense"
  | "failing"
  | "redirecting"
  | "huge"
  | "cut"
  | "late";

export interface ServiceAsked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly body: unknown;
}

export class FakeGuardService implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly asked: ServiceAsked[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** The answer, or what makes one of a question. */
  says: unknown;
  mood: ServiceMood = "well";
  /** Most requests that were open at once. */
  openMax = 0;
  #open = 0;
  #left = 0;
  #watches: (() => void)[] = [];
  /** Lets go of the answers that `late` holds back. */
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.release = resolve;
  });
  #port = 0;

  static async start(): Promise<FakeGuardService> {
    const fake = new FakeGuardService();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    fake.#port = (fake.#server.address() as AddressInfo).port;
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Resolves once so many questions came. */
  arrived(count: number): Promise<void> {
    return this.#until(() => this.asked.length >= count);
  }

  /** Resolves once so many callers closed their connection before they had an answer. */
  hungUp(count: number): Promise<void> {
    return this.#until(() => this.#left >= count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#watches.push(resolve);
      });
    }
  }

  #changed(): void {
    const watches = this.#watches;
    this.#watches = [];
    for (const wake of watches) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as unknown;
    const { method, url: path } = request;
    this.asked.push({ method, path, type: request.headers["content-type"], body });
    this.authorizations.push(request.headers.authorization);
    this.#open += 1;
    this.openMax = Math.max(this.openMax, this.#open);
    response.on("close", () => {
      this.#open -= 1;
      if (!response.writableEnded) this.#left += 1;
      this.#changed();
    });
    this.#changed();
    switch (this.mood) {
      case "silent":
        return;
      case "nonsense":
        return void response.end('{"decision":"allow"');
      case "failing":
        return void response.writeHead(500).end('{"decision":"allow"}');
      case "redirecting":
        return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
      case "huge":
        return void response.end(`{"decision":"allow"}${" ".repeat(1 << 20)}`);
      case "cut":
        response.writeHead(200, { "content-length": "100" }).write('{"decision":"allow"}');
        return void setImmediate(() => response.destroy());
      case "late":
        await this.#released;
        return this.#well(body, response);
      case "well":
        return this.#well(body, response);
    }
  }

  #well(body: unknown, response: ServerResponse): void {
    const { says } = this;
    const answer: unknown =
      typeof says === "function" ? (says as (asked: unknown) => unknown)(body) : says;
    response.end(JSON.stringify(answer));
  }
}
