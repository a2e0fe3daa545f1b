/** One HTTP request to the Trino frontend with exactly the headers given, which no client library would send. */
import { request } from "node:http";
import { portOf, type TestGateway } from "../e2e/gateway.ts";

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, sent as they are, also when a name comes twice. */
  readonly headers: readonly string[];
  readonly body?: string;
}

export function sendRaw(
  gateway: TestGateway,
  { method, path, headers, body = "" }: RawRequest,
): Promise<RawAnswer> {
  const port = portOf(gateway, "trinoHttp");
  const length = `${Buffer.byteLength(body)}`;
  const all = ["Host", `127.0.0.1:${port}`, "Content-Length", length, ...headers];
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
