/**
 * Two servers that answer alike, one that reads plain requests itself and one of `node:http` alone; a connection to each, which
 * get the same bytes in the same pieces; and requests by chance, odd ones among them.
 */
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http";
import {
  connect,
  createServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { piecesBy, type Chance } from "@gateway/wire/http/rig/responses.ts";
import { readingIntoOwn } from "../../../socket/ownBuffer.ts";
import type { HttpRequest, HttpResponse } from "../../exchange.ts";
import { servePlain, type PlainServing } from "../connection.ts";
import { PlainRequest } from "../request.ts";

const clock = { unixMs: () => 1_700_000_000_000 };
export type PlainTimes = Pick<PlainServing, "keepAliveMs" | "requestMs" | "stalledMs">;

const keepAliveMs = 75_000;
export const longTimes: PlainTimes = { keepAliveMs, requestMs: 60_000, stalledMs: 300_000 };

/** What one of the two made of a connection. */
export interface Answered {
  /** All bytes but those of dates. */
  readonly text: string;
  /** The requests that it began to answer, as they were read. */
  readonly seen: readonly string[];
  readonly closed: boolean;
}

export interface Side extends AsyncDisposable {
  readonly port: number;
  /** Requests that were read here and not by `node:http`. */
  readonly plain: () => number;
  /** The same bytes over one connection. Each piece is read before the next is sent. */
  answer(pieces: readonly string[]): Promise<Answered>;
}

/** `plainly`: reads plain requests itself. */
export async function sideOf(
  plainly: boolean,
  times = longTimes,
  answer: (request: HttpRequest, response: HttpResponse) => Promise<string> = echo,
): Promise<Side> {
  let plain = 0;
  let seen: string[] = [];
  const serve = (request: HttpRequest, response: HttpResponse): void => {
    if (request instanceof PlainRequest) plain += 1;
    void answer(request, response).then((text) => seen.push(text));
  };
  const http = httpServerOf(serve);
  const sockets: Socket[] = [];
  const tcp = createServer({ pauseOnConnect: true, noDelay: true }, (accepted) => {
    const socket = plainly ? readingIntoOwn(accepted) : accepted.resume();
    socket.on("error", () => undefined);
    sockets.push(socket);
    if (plainly) servePlain(socket, { clock, server: http, ...times, serve });
    else http.emit("connection", socket);
  });
  await listening(tcp);
  const { port } = tcp.address() as AddressInfo;
  return {
    port,
    plain: () => plain,
    answer: async (pieces) => {
      const known = sockets.length;
      const client = connect({ port, host: "127.0.0.1", noDelay: true });
      client.on("error", () => undefined);
      await once(client, "connect");
      while (sockets.length === known) await turn();
      const server = sockets[known] as Socket;
      seen = [];
      const answered = await exchange(client, server, pieces);
      client.destroy();
      server.destroy();
      return { ...answered, seen };
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      http.close();
      tcp.close();
      await once(tcp, "close");
    },
  };
}

function httpServerOf(serve: PlainServing["serve"]): Server {
  const server = createHttpServer(
    { keepAliveTimeout: keepAliveMs, maxHeaderSize: 64 * 1024 },
    serve,
  );
  server.emit("listening");
  return server;
}

async function listening(server: TcpServer): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

async function exchange(
  client: Socket,
  server: Socket,
  pieces: readonly string[],
): Promise<Omit<Answered, "seen">> {
  const chunks: Buffer[] = [];
  let got = 0;
  client.on("data", (bytes: Buffer) => {
    chunks.push(bytes);
    got += bytes.length;
  });
  let sent = 0;
  for (const piece of pieces) {
    if (client.destroyed || server.destroyed) break;
    client.write(piece, "latin1");
    sent += piece.length;
    // Node counts what its parser takes from the connection itself there as well.
    while (!server.destroyed && server.bytesRead < sent) await turn();
    for (let turns = 0; turns < 4; turns += 1) await turn();
  }
  const written = (): number => server.bytesWritten - server.writableLength;
  while (!client.closed && (server.destroyed || got < written())) await turn();
  const text = Buffer.concat(chunks).toString("latin1");
  return { text: text.replaceAll(/Date: [^\r]*\r\n/g, ""), closed: server.destroyed };
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Tells what was read, in a form that the address asks for. */
async function echo(request: HttpRequest, response: HttpResponse): Promise<string> {
  const body = request instanceof PlainRequest ? request.body : await bodyOf(request);
  if (body === undefined) return "";
  const { method, url = "", headers, rawHeaders } = request;
  const seen = { method, url, headers, rawHeaders, body: body.toString("latin1") };
  const text = JSON.stringify(seen);
  response.setHeader("X-Form", url);
  forms[url.length % forms.length]?.(response, text);
  return text;
}

const forms: readonly ((response: HttpResponse, text: string) => void)[] = [
  (response, text) => response.end(text),
  (response, text) => {
    response.setHeader("Content-Type", "text/plain");
    response.end(Buffer.from(`${text}\u00e9`));
  },
  (response, text) => {
    response.setHeader("Content-Length", Buffer.byteLength(text));
    response.cork();
    response.write(Buffer.from(text.slice(0, 5)));
    response.write(Buffer.from(text.slice(5)));
    response.end();
  },
  (response, text) => {
    response.write(Buffer.from(text));
    response.write(Buffer.alloc(0));
    response.end("é");
  },
  (response) => {
    response.statusCode = 204;
    response.end();
  },
  (response, text) => {
    response.setHeader("Connection", "close");
    response.end(text);
  },
  (response, text) => {
    response.setHeader("x-list", ["a", "b"]);
    response.appendHeader("X-Form", "c");
    response.setHeader("x-gone", "1");
    response.removeHeader("X-Gone");
    response.writeHead(404, ["Content-Type", "text/plain", "Content-Length", String(text.length)]);
    response.end(text);
  },
  (response, text) => response.end(text.repeat(200)),
  (response) => response.end(),
];

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const bytes of request) chunks.push(bytes as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

const starts = [
  "POST /v1/statement HTTP/1.1",
  "GET /?query=SELECT%201 HTTP/1.1",
  "GET / HTTP/1.1",
  "DELETE /v1/a HTTP/1.1",
  "PUT /x?y=z&a HTTP/1.1",
] as const;
const oddStarts = [
  "HEAD / HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "GET http://localhost/a HTTP/1.1",
  "GET /a#b HTTP/1.1",
  'GET /a"<>\\^`{|} HTTP/1.1',
  "GET /\u00e9 HTTP/1.1",
  "GET  / HTTP/1.1",
  "GET / HTTP/1.0",
  "GET / HTTP/2.0",
  "GET /",
  "get / HTTP/1.1",
  "GET /a b HTTP/1.1",
  "BREW /pot HTTP/1.1",
  "PRI * HTTP/2.0",
  "\r\nGET / HTTP/1.1",
] as const;
const lines = [
  "User-Agent: curl/8",
  "Accept: */*",
  "Connection: keep-alive",
  "Connection: Keep-Alive",
  "Authorization: Basic YTpi",
  "X-Trino-User: alice",
  "X-Empty:",
  "X-Space:   a  b  ",
  "Cookie: a=b; c=d",
  "Content-Type: text/plain; charset=UTF-8",
] as const;
const oddLines = [
  "Connection: close",
  "Connection: keep-alive, close",
  "Connection: upgrade",
  "Upgrade: h2c",
  "Expect: 100-continue",
  "Transfer-Encoding: chunked",
  "transfer-encoding: identity",
  "Transfer-Encoding: gzip, chunked",
  "Trailer: x",
  "TE: trailers",
  "Proxy-Connection: keep-alive",
  "Host: other",
  "Content-Length: 5",
  "Content-Length: 05",
  "Content-Length: +5",
  "Content-Length: 5, 5",
  "Content-Length: 5 5",
  "Content-Length : 5",
  "Content-Length:\t5",
  "Content-Length: -1",
  "Content-Length: 0x5",
  "Content-Length:",
  "Content-Length: 99999999999999999999",
  "X-A: b",
  "X-Tab: \t a\tb \t",
  "x-a: c",
  "X-A: \u0080\u00ff",
  "X-A: a\u0000b",
  "X-A: a\rb",
  "X-A: a\nX-B: c",
  " folded: x",
  ": none",
  "no colon",
  "X Y: z",
  "X(Y): z",
  "__proto__: x",
  "constructor: x",
  "Cookie: e=f",
  "Set-Cookie: a",
] as const;
const bodies = [
  "",
  "hello",
  "SELECT 1",
  "5\r\nhello\r\n0\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
] as const;
const bytes = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  "0",
  "\u007f",
  "\u00ff",
  "\r\n\r\n",
] as const;

/** As clients write them. */
export function plainBy(chance: Chance): string {
  const head: string[] = [chance.pick(starts), "Host: localhost:8080"];
  const from = chance.below(lines.length);
  for (let count = chance.below(4); count > 0; count -= 1) {
    const line = lines[(from + count * 3) % lines.length] ?? "";
    if (!head.some((known) => known.split(":")[0] === line.split(":")[0])) head.push(line);
  }
  const body = chance.pick(bodies);
  if (body !== "" || chance.below(2) === 0) head.push(`Content-Length: ${body.length}`);
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** Such as nobody should, and some that are only rare. */
export function oddBy(chance: Chance): string {
  const head: string[] = [chance.below(2) === 0 ? chance.pick(oddStarts) : chance.pick(starts)];
  if (chance.below(8) !== 0) head.push("Host: localhost");
  for (let count = chance.below(4); count > 0; count -= 1) {
    head.push(chance.below(3) === 0 ? chance.pick(lines) : chance.pick(oddLines));
  }
  let text = `${head.join("\r\n")}\r\n\r\n${chance.pick(bodies)}`;
  for (let count = [0, 0, 1, 2][chance.below(4)] ?? 0; count > 0; count -= 1) {
    const at = chance.below(text.length + 1);
    const dropped = chance.below(3) === 0 ? chance.below(4) : 0;
    text = text.slice(0, at) + chance.pick(bytes) + text.slice(at + dropped);
  }
  return text;
}

/** Pieces of one connection: plain requests, alone or several at once, then perhaps an odd one in pieces of its own. */
export function connectionBy(chance: Chance): readonly string[] {
  const pieces: string[] = [];
  for (let count = chance.below(3); count > 0; count -= 1) {
    const several = Array.from({ length: 1 + chance.below(2) }, () => plainBy(chance)).join("");
    pieces.push(...(chance.below(3) === 0 ? piecesBy(chance, several) : [several]));
  }
  if (chance.below(4) !== 0) pieces.push(...piecesBy(chance, oddBy(chance)));
  return pieces;
}
