/**
 * A policy server that says what a real one said: each answer was recorded with its question (policyAnswers.json), and
 * a question that nobody recorded gets status 404. It can misbehave on command, and with `upstream` it records anew.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

export type PolicyMood =
  | "well"
  | "silent"
  | "nonsense"
  | "failing"
  | "redirecting"
  | "huge"
  | "late";

export interface PolicyExchange {
  readonly path: string;
  readonly accept: string;
  readonly body: unknown;
  readonly answer: unknown;
}

export const answersFile = new URL("policyAnswers.json", import.meta.url);

/** What real servers said. */
export const recordedExchanges = JSON.parse(
  readFileSync(answersFile, "utf8"),
) as readonly PolicyExchange[];

export class FakePolicyServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly asked: Omit<PolicyExchange, "answer">[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** In front of what was recorded. */
  says: unknown;
  mood: PolicyMood = "well";
  /** Base address of a real server that is asked in its place; what it says is in `exchanges`. */
  upstream: string | undefined;
  readonly exchanges: PolicyExchange[] = [];
  /** Lets go of the answers that `late` holds back. */
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.release = resolve;
  });
  #port = 0;

  static async start(): Promise<FakePolicyServer> {
    const fake = new FakePolicyServer();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    fake.#port = (fake.#server.address() as AddressInfo).port;
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as unknown;
    const question = { path: request.url ?? "", accept: request.headers.accept ?? "", body };
    this.asked.push(question);
    this.authorizations.push(request.headers.authorization);
    switch (this.mood) {
      case "silent":
        return;
      case "nonsense":
        return void response.end("<html>allow: true</html>");
      case "failing":
        return void response.writeHead(500).end('{"result":{"allow":true}}');
      case "redirecting":
        return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
      case "huge":
        return void response.end(
          JSON.stringify({ result: { allow: true }, more: "x".repeat(2 << 20) }),
        );
      case "late":
        await this.#released;
        return await this.#well(question, response);
      case "well":
        return await this.#well(question, response);
    }
  }

  async #well(question: Omit<PolicyExchange, "answer">, response: ServerResponse): Promise<void> {
    if (this.upstream === undefined) this.#replay(question, response);
    else await this.#forward(this.upstream, question, response);
  }

  #replay(question: Omit<PolicyExchange, "answer">, response: ServerResponse): void {
    if (this.says !== undefined) return void response.end(JSON.stringify(this.says));
    const known = recordedExchanges.find(({ path, accept, body }) =>
      isDeepStrictEqual({ path, accept, body }, question),
    );
    if (known === undefined) response.writeHead(404).end("{}");
    else response.end(JSON.stringify(known.answer));
  }

  async #forward(
    upstream: string,
    question: Omit<PolicyExchange, "answer">,
    response: ServerResponse,
  ): Promise<void> {
    const { path, accept, body } = question;
    const headers = { accept, "content-type": "application/json" };
    const sent = await fetch(upstream + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const text = await sent.text();
    if (sent.ok) {
      const { cerbosCallId: _, ...answer } = JSON.parse(text) as Record<string, unknown>;
      this.exchanges.push({ ...question, answer });
    }
    response.writeHead(sent.status).end(text);
  }
}
