/** OpenFGA's check over HTTP for a few relations held in memory: no model, only what is written is true. It can misbehave on command and remembers what it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type FgaMood = "well" | "silent" | "nonsense" | "failing" | "redirecting" | "saying";

interface Tuple {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export interface FgaQuestion {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly tuple: Tuple;
  readonly contextual: readonly Tuple[];
  readonly model: string | undefined;
}

interface CheckBody {
  readonly tuple_key: Tuple;
  readonly contextual_tuples?: { readonly tuple_keys: readonly Tuple[] };
  readonly authorization_model_id?: string;
}

export class FakeOpenFga implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  /** `user:alice reader cluster_group:a`; `team:x#member` as the user means everyone in it. */
  readonly tuples = new Set<string>();
  readonly asked: FgaQuestion[] = [];
  mood: FgaMood = "well";
  #port = 0;

  static async start(): Promise<FakeOpenFga> {
    const fake = new FakeOpenFga();
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
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as CheckBody;
    const contextual = body.contextual_tuples?.tuple_keys ?? [];
    this.asked.push({
      path: request.url ?? "",
      authorization: request.headers.authorization,
      tuple: body.tuple_key,
      contextual,
      model: body.authorization_model_id,
    });
    switch (this.mood) {
      case "silent":
        return;
      case "nonsense":
        return void response.end("<html>allowed: true</html>");
      case "failing":
        return void response.writeHead(500).end('{"allowed":true}');
      case "redirecting":
        return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
      case "saying":
        return void response.end('{"allowed":"yes"}');
      case "well":
        return void response.end(
          JSON.stringify({ allowed: this.#allows(body.tuple_key, contextual) }),
        );
    }
  }

  #allows({ user, relation, object }: Tuple, contextual: readonly Tuple[]): boolean {
    if (this.tuples.has(`${user} ${relation} ${object}`)) return true;
    return contextual.some(
      (one) =>
        one.user === user && this.tuples.has(`${one.object}#${one.relation} ${relation} ${object}`),
    );
  }
}
