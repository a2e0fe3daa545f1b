/** The admin API of a test's gateway, as an administrator uses it. */
import { portOf, type TestGateway } from "./gateway.ts";

export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: unknown;
}

export interface Admin {
  (method: string, path: string, body?: unknown, headers?: object): Promise<Answer>;
}

export const adminPassword = "correct horse battery";

/** Makes the first administrator with the printed token, and speaks as them from then on. */
export async function adminOf(gateway: TestGateway): Promise<Admin> {
  const url = `http://127.0.0.1:${portOf(gateway, "adminApi")}`;
  const token = gateway.running.setupToken;
  const made = await ask(url, "POST", "/admin/setup", {
    token,
    name: "root",
    password: adminPassword,
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  const authorization = `Basic ${btoa(`root:${adminPassword}`)}`;
  return (method, path, body, headers) =>
    ask(url, method, path, body, { authorization, ...headers });
}

/** One request; the answer's body as JSON where it is that. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: object = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = (response.headers.get("content-type") ?? "").includes("json") && text !== "";
  return {
    status: response.status,
    etag: response.headers.get("etag"),
    body: json ? (JSON.parse(text) as unknown) : text,
  };
}
