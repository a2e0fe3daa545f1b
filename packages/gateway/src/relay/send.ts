/** Sends a client's request to the gateway that has its query, and the answer back as it comes. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { Socket } from "node:net";
import { Readable, pipeline } from "node:stream";
import type { Secret } from "@gateway/core/secret.ts";
import type { AskedElsewhere, CarriedCall } from "@gateway/frontends/listener/elsewhere.ts";
import { PlainRequest } from "@gateway/frontends/listener/http/plain/request.ts";
import {
  drained,
  type HttpRequest,
  type HttpResponse,
} from "@gateway/frontends/listener/http/exchange.ts";
import { peerAddress } from "../config/addresses.ts";
import { relayKey, relayTls } from "./keys.ts";
import { clientHeader, frontendHeader, passedOn, writeClient } from "./message.ts";

/** A gateway that does not take a connection in this time is gone; its clients would rather know. */
const connectMs = 3_000;
/** Longer than a frontend lets a client stall, so that it ends the connection and not we. */
const stalledMs = 330_000;
const socketsPerGateway = 256;
const idleSocketsPerGateway = 16;
/** Requests on their way at once; those beyond are told to come again. */
const relayedMax = 2_048;

export interface Sender {
  /** False when the gateway did not answer; the client was sent nothing then. `address` is `host:port`. */
  send(address: string, frontend: string, asked: AskedElsewhere): Promise<boolean>;
  /** The body of its answer; undefined when the gateway did not answer. It ends with the call's signal. */
  carry(address: string, frontend: string, call: CarriedCall): Promise<Readable | undefined>;
  close(): void;
}

/** Tries the secrets in turn, so that a fleet may change its own gateway by gateway. */
export function senderOf(secrets: readonly Secret[]): Sender {
  const agents = secrets.map((secret) => agentOf(secret, true));
  // A stream can not be sent again when an idle connection turns out to be closed, so it gets a new one.
  const streamAgents = secrets.map((secret) => agentOf(secret, false));
  let underway = 0;
  return {
    send: async (address, frontend, asked) => {
      const where = peerAddress(address);
      if (where === undefined || underway >= relayedMax) return false;
      const options = { host: where.name, port: where.port, ...headOf(frontend, asked) };
      underway += 1;
      try {
        const tries = isRepeatable(asked) ? agents : agents.slice(0, 1);
        for (const agent of tries) {
          if (await sentBy({ ...options, agent }, asked)) return true;
          if (asked.response.destroyed) return true;
        }
        return false;
      } finally {
        underway -= 1;
      }
    },
    carry: async (address, frontend, call) => {
      const where = peerAddress(address);
      if (where === undefined || underway >= relayedMax) return undefined;
      const options = { host: where.name, port: where.port, ...carriedHead(frontend, call) };
      underway += 1;
      let answer: IncomingMessage | undefined;
      try {
        for (const agent of call.body instanceof Uint8Array ? agents : streamAgents) {
          answer = await carriedBy({ ...options, agent }, call);
          if (answer !== undefined || call.signal.aborted) return answer;
        }
        return undefined;
      } finally {
        const over = (): void => void (underway -= 1);
        if (answer === undefined || answer.destroyed) over();
        else answer.once("close", over);
      }
    },
    close: () => {
      for (const agent of [...agents, ...streamAgents]) agent.destroy();
    },
  };
}

function agentOf(secret: Secret, keepAlive: boolean): Agent {
  const key = relayKey(secret);
  return new Agent({
    ...relayTls,
    keepAlive,
    maxSockets: socketsPerGateway,
    maxFreeSockets: idleSocketsPerGateway,
    timeout: connectMs,
    pskCallback: () => key,
    // The key proves the other end; there is no certificate with a name in it.
    checkServerIdentity: () => undefined,
  });
}

function headOf(frontend: string, { request, client }: AskedElsewhere): RequestOptions {
  const own = [frontendHeader, frontend, clientHeader, writeClient(client)];
  return {
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [...passedOn(request.rawHeaders), ...own] as never,
  };
}

function carriedHead(frontend: string, { path, headers, client }: CarriedCall): RequestOptions {
  const own = [frontendHeader, frontend, clientHeader, writeClient(client)];
  // HTTP/1.1 wants a name, and what a client called its own gateway says nothing here.
  const host = ["host", "gateway"];
  return { method: "POST", path, headers: [...host, ...passedOn(headers), ...own] as never };
}

/** What is read of a body on its way is gone afterwards. */
function isRepeatable({ request, body }: AskedElsewhere): boolean {
  return body !== undefined || request instanceof PlainRequest || !hasBody(request);
}

function hasBody({ headers }: HttpRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

async function sentBy(options: RequestOptions, asked: AskedElsewhere): Promise<boolean> {
  const first = await sentOnce(options, asked);
  // The other end may close an idle connection while we write to it.
  if (first !== "stale" || !isRepeatable(asked)) return first === "answered";
  return (await sentOnce(options, asked)) === "answered";
}

/** `stale`: a connection that had been idle broke before an answer began. */
type Sent = "answered" | "unreached" | "stale";

function sentOnce(
  options: RequestOptions,
  { request, response, body }: AskedElsewhere,
): Promise<Sent> {
  return new Promise((resolve) => {
    const upstream = httpsRequest(options);
    const leave = (): void => void upstream.destroy();
    response.once("close", leave);
    upstream.on("socket", (socket) => watch(socket));
    upstream.on("timeout", leave);
    upstream.on("error", () => {
      response.off("close", leave);
      if (response.headersSent) response.destroy();
      resolve(upstream.reusedSocket ? "stale" : "unreached");
    });
    upstream.on("response", (answer) => {
      giveBack(answer, response, upstream);
      resolve("answered");
    });
    if (body !== undefined) upstream.end(body);
    else if (request instanceof PlainRequest) upstream.end(request.body);
    else if (hasBody(request)) request.pipe(upstream);
    else upstream.end();
  });
}

/** The agent's timeout is for connecting; an answer may take its time. */
function watch(socket: Socket): void {
  if (socket.connecting) socket.once("secureConnect", () => socket.setTimeout(stalledMs));
  else socket.setTimeout(stalledMs);
}

function giveBack(
  answer: IncomingMessage,
  response: AskedElsewhere["response"],
  upstream: ClientRequest,
): void {
  response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders));
  answer.on("aborted", () => response.destroy());
  answer.on("error", () => response.destroy());
  void passOn(answer, response);
  response.once("close", () => {
    if (!answer.complete) upstream.destroy();
  });
}

/** Bytes as they come, and no faster than the client takes them. */
async function passOn(answer: IncomingMessage, response: HttpResponse): Promise<void> {
  try {
    for await (const bytes of answer) {
      if (!response.write(bytes as Buffer)) await drained(response);
    }
    response.end();
  } catch {
    response.destroy();
  }
}

async function carriedBy(
  options: RequestOptions,
  call: CarriedCall,
): Promise<IncomingMessage | undefined> {
  const first = await carriedOnce(options, call);
  if (first !== "stale" || !(call.body instanceof Uint8Array)) {
    return typeof first === "string" ? undefined : first;
  }
  const second = await carriedOnce(options, call);
  return typeof second === "string" ? undefined : second;
}

function carriedOnce(
  options: RequestOptions,
  { body, signal }: CarriedCall,
): Promise<IncomingMessage | Exclude<Sent, "answered">> {
  return new Promise((resolve) => {
    const upstream = httpsRequest(options);
    const leave = (): void => void upstream.destroy();
    signal.addEventListener("abort", leave, { once: true });
    upstream.once("close", () => signal.removeEventListener("abort", leave));
    if (signal.aborted) leave();
    upstream.on("socket", (socket) => {
      watch(socket);
      if (body instanceof Uint8Array) return;
      // Nothing of a stream is read before the other end is proven: another key may have to be tried.
      socket.once("secureConnect", () => pipeline(Readable.from(body), upstream, () => undefined));
    });
    upstream.on("timeout", leave);
    upstream.on("error", () => resolve(upstream.reusedSocket ? "stale" : "unreached"));
    upstream.on("close", () => resolve("unreached"));
    upstream.on("response", (answer) => {
      if (answer.statusCode === 200) return resolve(answer);
      answer.resume();
      return resolve("unreached");
    });
    if (body instanceof Uint8Array) upstream.end(body);
  });
}
