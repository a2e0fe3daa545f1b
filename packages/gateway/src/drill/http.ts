/** One request of a drill: its JSON with a limit of bytes, or how it went wrong. Follows no redirect, so no login goes elsewhere. */
import { Buffer } from "node:buffer";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Login } from "./options.ts";

/** A page of 1,000 records is far below it. */
const bodyBytesMax = 64 * 1024 * 1024;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** `cut`: no connection, or none to the end. `late`: the signal aborted. `long`: more than is read. */
export type NoReply = "cut" | "late" | "long";

export interface Request {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export async function request(url: URL, asked: Request): Promise<Result<Reply, NoReply>> {
  const { method = "GET", headers = {}, body, signal } = asked;
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const text = await textOf(response);
    if (text === undefined) return err("long");
    return ok({ status: response.status, headers: response.headers, text });
  } catch {
    return err(signal.aborted ? "late" : "cut");
  }
}

async function textOf(response: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > bodyBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The text as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Nothing for somebody without a password. */
export function basicLogin({ name, password }: Login): Readonly<Record<string, string>> {
  if (password === undefined) return {};
  const pair = Buffer.from(`${name}:${password.reveal()}`, "utf8").toString("base64");
  return { authorization: `Basic ${pair}` };
}

/** `path` below what the URL names. */
export function below(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, "")}${path}`;
  return url;
}
