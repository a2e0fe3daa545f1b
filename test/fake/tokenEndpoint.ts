/** A token endpoint that exchanges tokens (RFC 8693), and misbehaves when told to. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** One exchange as it was asked for. */
export interface AskedExchange {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

type Behaviour =
  /** Issues `for-<subject>-<n>`. */
  | { readonly kind: "issues"; readonly expiresIn?: unknown; readonly more?: object }
  | { readonly kind: "answers"; readonly status: number; readonly body: string }
  | { readonly kind: "redirects"; readonly to: string }
  | { readonly kind: "hangs" };

export class FakeTokenEndpoint implements AsyncDisposable {
  readonly url: string;
  readonly asked: AskedExchange[] = [];
  behaviour: Behaviour = { kind: "issues", expiresIn: 300 };
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static start(): Promise<FakeTokenEndpoint> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      server.on("error", reject);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        if (address === null || typeof address === "string") throw new Error("no port");
        resolve(new FakeTokenEndpoint(server, `http://127.0.0.1:${address.port}/token`));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const form = Object.fromEntries(new URLSearchParams(text));
    this.asked.push({ form, authorization: request.headers.authorization });
    const json = { "content-type": "application/json" };
    switch (this.behaviour.kind) {
      case "hangs":
        return;
      case "redirects":
        response.writeHead(307, { location: this.behaviour.to }).end();
        return;
      case "answers":
        response.writeHead(this.behaviour.status, json).end(this.behaviour.body);
        return;
      case "issues":
        response.writeHead(200, json).end(
          JSON.stringify({
            access_token: `for-${form["subject_token"]}-${this.asked.length}`,
            token_type: "Bearer",
            issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
            expires_in: this.behaviour.expiresIn,
            ...this.behaviour.more,
          }),
        );
    }
  }
}
