/**
 * HTTP over undici: kept-alive connections, a CA file, a proxy. A redirect is an answer like any
 * other and is not followed, so no secret can be led to another host.
 */
import { readFileSync } from "node:fs";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import type { Transport, TransportFailure, WireAnswer, WireRequest } from "./transport.ts";

export interface HttpOptions {
  /** PEM file of the authorities that are believed instead of the system's. */
  readonly caFile?: string | undefined;
  /** `http://host:port`; TLS to the target goes through it by CONNECT. */
  readonly proxy?: string | undefined;
}

const connectMsMax = 10_000;
const keepAliveMs = 60_000;

/** Opens a transport. Answers why not, by the key: a CA file that can not be read, a proxy that is no URL. */
export function httpTransport({ caFile, proxy }: HttpOptions): Result<Transport, string> {
  const ca = caFile === undefined ? ok(undefined) : readText(caFile);
  if (!ca.ok) return ca;
  if (proxy !== undefined && !/^https?:$/.test(protocolOf(proxy))) {
    return err("proxy: is not an http or https URL");
  }
  const tls = { ...(ca.value === undefined ? {} : { ca: ca.value }), timeout: connectMsMax };
  // The host's clock limits each call. The library's own limits would run on a second, real clock.
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: keepAliveMs };
  const dispatcher: Dispatcher =
    proxy === undefined
      ? new Agent({ ...limits, connect: tls })
      : new ProxyAgent({ ...limits, uri: proxy, requestTls: tls });
  return ok({
    send: (wanted, signal) => send(dispatcher, wanted, signal),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  });
}

async function send(
  dispatcher: Dispatcher,
  { method, url, headers, body, bytesMax }: WireRequest,
  signal: AbortSignal,
): Promise<Result<WireAnswer, TransportFailure>> {
  try {
    const { origin, pathname, search } = new URL(url);
    const answer = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { ...headers },
      body: body ?? null,
      signal,
    });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > bytesMax) {
        answer.body.destroy();
        return err({ code: "tooLarge" });
      }
      chunks.push(chunk);
    }
    const read = Buffer.concat(chunks);
    return ok({ status: answer.statusCode, headers: plain(answer.headers), body: read });
  } catch (error) {
    if (signal.aborted) return err({ code: "stopped" });
    return err({ code: "unreachable", detail: codeOf(error) });
  }
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

/** The first code in the chain of causes: messages of libraries may quote what was sent. */
function codeOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "failed";
}

function readText(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, "utf8"));
  } catch (error) {
    return err(`caFile: can not be read (${codeOf(error)})`);
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}
