/** The admin API of a test's gateway, as an administrator uses it. */
import { portOf, type TestGateway } from "./gateway.ts";

export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: unknown;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: object;
}

export type Admin = (
  method: string,
  path: string,
  body?: unknown,
  headers?: object,
) => Promise<Answer>;

export const adminPassword = "correct horse battery";

/** Makes the first administrator with the printed token, and speaks as them from then on. */
export async function adminOf(gateway: TestGateway): Promise<Admin> {
  const url = adminUrl(gateway);
  const token = gateway.running.setupToken;
  const body = { token, name: "root", password: adminPassword };
  const made = await ask(url, { method: "POST", path: "/admin/setup", body });
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  return adminAt(url);
}

/** Speaks as the administrator that `adminOf` made. */
export function adminAt(url: string): Admin {
  const authorization = `Basic ${btoa(`root:${adminPassword}`)}`;
  return (method, path, body, headers) =>
    ask(url, { method, path, body, headers: { authorization, ...headers } });
}

export function adminUrl(gateway: TestGateway): string {
  return `http://127.0.0.1:${portOf(gateway, "adminApi")}`;
}

/** One request; the answer's body as JSON where it is that. */
export async function ask(
  url: string,
  { method, path, body, headers = {} }: Question,
): Promise<Answer> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json") && text !== "";
  return {
    status: response.status,
    etag: response.headers.get("etag"),
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}
