/** A server that answers requests as a test says, and what a pool tells of them. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { anyEgress, type Egress } from "@gateway/core/port/egress.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { TlsTrust } from "../../tls.ts";
import type { Answering } from "../connection.ts";
import { Http1Pool, type Asked } from "../pool.ts";

const open: AsyncDisposable[] = [];

/** Behind each test. */
export async function closeAll(): Promise<void> {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
}

interface Request {
  /** Its head without the empty line. */
  readonly text: string;
  readonly path: string;
  /** As latin-1. */
  readonly body: string;
}

interface TestServer {
  readonly origin: string;
  readonly host: string;
  readonly sockets: Socket[];
  readonly requests: Request[];
  /** Resolves once that is so; looked at with each request. */
  until(done: () => boolean): Promise<void>;
}

type Answers = (request: Request, socket: Socket) => string | undefined | void;

/** A server that answers each request with a text, or otherwise as `answers` does with its socket. */
export async function serverOf(
  answers: Answers,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<TestServer> {
  const sockets: Socket[] = [];
  const requests: Request[] = [];
  const waits = new Set<() => void>();
  const serve = (socket: Socket): void => {
    sockets.push(socket);
    let text = "";
    socket.setEncoding("latin1");
    socket.on("error", () => undefined);
    socket.on("data", (more: string) => {
      text += more;
      const end = text.indexOf("\r\n\r\n");
      const bytes = Number(/content-length: (\d+)/.exec(text.slice(0, end))?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + bytes) return;
      const head = text.slice(0, end);
      const request = { text: head, path: head.split(" ")[1] ?? "", body: text.slice(end + 4) };
      text = "";
      requests.push(request);
      const answer = answers(request, socket);
      if (typeof answer === "string") socket.write(answer, "latin1");
      for (const look of waits) look();
    });
  };
  const server: Server =
    certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const until = (done: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!done()) return;
        waits.delete(look);
        resolve();
      };
      waits.add(look);
      look();
    });
  return {
    origin: `${certificate === undefined ? "http" : "https"}://${host}`,
    host,
    sockets,
    requests,
    until,
  };
}

export function poolOf(
  origin: string,
  options: { readonly connectionsMax?: number; readonly tls?: TlsTrust } = {},
  egress: Egress = anyEgress,
): { readonly pool: Http1Pool; readonly host: VirtualHost } {
  const host = virtualHost(1);
  const tls = options.tls ?? { minVersion: "TLSv1.2" };
  const connectionsMax = options.connectionsMax ?? 8;
  const all = { origin, tls, connectionsMax, connectTimeoutMs: 5_000 };
  const pool = new Http1Pool(all, { clock: host.clock, log: host.log, egress });
  open.push({ [Symbol.asyncDispose]: () => pool.close() });
  return { pool, host };
}

type Wanted = Partial<Parameters<Http1Pool["ask"]>[0]>;

export function requestOf(wanted: Wanted): Parameters<Http1Pool["ask"]>[0] {
  return { method: "GET", path: "/", headers: [], body: undefined, ...wanted };
}

interface Begun {
  readonly asked: Asked;
  /** Calls in order, without those of the body. */
  readonly told: readonly string[];
  readonly over: Promise<{ readonly told: readonly string[]; readonly body: string }>;
}

export function begun(pool: Http1Pool, wanted: Wanted): Begun {
  const told: string[] = [];
  let body = "";
  let settle: (() => void) | undefined;
  const over = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const request = pool.ask(requestOf(wanted), {
    ...answering(told, () => settle?.()),
    data: (bytes) => {
      body += Buffer.from(bytes).toString("latin1");
    },
  });
  return { asked: request, told, over: over.then(() => ({ told, body })) };
}

export function asked(pool: Http1Pool, wanted: Wanted): Begun["over"] {
  return begun(pool, wanted).over;
}

export function answering(told: string[], over: () => void): Answering {
  return {
    sent: () => void told.push("sent"),
    head: (status) => void told.push(`head ${status}`),
    data: () => undefined,
    end: () => {
      told.push("end");
      over();
    },
    failed: () => {
      told.push("failed");
      over();
    },
  };
}

export function answerOf(body: string, header = "a: b"): string {
  return `HTTP/1.1 200 OK\r\n${header}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
