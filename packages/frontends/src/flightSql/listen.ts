/**
 * Opens the Flight SQL listener: gRPC over the connections that the shared listener accepts.
 *
 * `grpc-js` parses what strangers send in our process, so everything that it lets through is bounded here: messages,
 * metadata, calls of a connection, what HTTP/2 holds for one, and the frames that a message is cut into.
 */
import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  logVerbosity,
  setLogVerbosity,
  status,
  type ServerDuplexStream,
  type ServerInterceptor,
} from "@grpc/grpc-js";
import { gatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type {
  Carrier,
  ListenPolled,
  PolledFrontend,
  RelayedRequest,
} from "../listener/elsewhere.ts";
import { GrpcCall } from "./calls.ts";
import { CarriedCall } from "./carry/carriedCall.ts";
import type { FlightConfig } from "./config.ts";
import { frameBytesMin, framesMin, sessionBytesMax, streamsMax } from "./limits.ts";
import { methodTable, type MethodName } from "./machine.ts";
import { Readers } from "./readers.ts";
import { Requests } from "./requests.ts";

const kind = "flightSql";
const service = "/arrow.flight.protocol.FlightService/";

/** Opens the listener on its address. */
export const listen: ListenPolled<FlightConfig, Carrier> = async (
  config,
  door,
  host,
  elsewhere,
) => {
  const requests = new Requests(config, door, host, elsewhere);
  const connections = new Connections((connection) => requests.left(connection));
  const readers = new Readers();
  const server = grpcServer(config, host, { requests, connections, readers });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const opened = await openListener({
    kind,
    config,
    host,
    protocol: "h2",
    onConnection: async (connection) => {
      const secured = config.tls === undefined ? connection.socket : await connection.upgrade();
      if (secured === undefined) return;
      connections.add(secured, connection);
      injector.injectConnection(secured);
    },
    ...(config.tls === undefined ? { onRefused: refuse } : {}),
  });
  if (!opened.ok) {
    injector.destroy();
    return opened;
  }
  const close = (): void => injector.destroy();
  const relayed = (asked: RelayedRequest): void =>
    answerCarried(asked, config, host, { requests, connections, readers });
  return ok(frontendOf(opened.value, { config, requests, connections, close, relayed }));
};

/** What serves the calls of a listener, however they come. */
interface Parts {
  readonly requests: Requests;
  readonly connections: Connections;
  readonly readers: Readers;
}

function grpcServer(
  config: FlightConfig,
  host: Host,
  { requests, connections, readers }: Parts,
): Server {
  // It would write headers that it can not read to the error output, with their values.
  setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    "grpc.max_receive_message_length": config.maxMessageBytes,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": streamsMax,
    "grpc-node.max_session_memory": sessionBytesMax / megabyte,
    "grpc.enable_channelz": 0,
    interceptors: [guard(connections)],
  });
  for (const name of Object.keys(methodTable) as MethodName[]) {
    const handle = (stream: ServerDuplexStream<Buffer, Buffer>): void => {
      const connection = connections.of(stream.getPeer());
      if (connection === undefined) return void stream.destroy();
      const call = new GrpcCall(stream, { connection, host, readers });
      void requests.handle(name, call);
    };
    server.register<Buffer, Buffer>(service + name, handle, asItIs, asItIs, "bidi");
  }
  return server;
}

/** A call of another gateway's client. */
function answerCarried(
  asked: RelayedRequest,
  { maxMessageBytes }: FlightConfig,
  host: Host,
  { requests, connections, readers }: Parts,
): void {
  const { request, response } = asked;
  const name = request.url?.slice(1) ?? "";
  if (!isMethod(name)) return void response.writeHead(404).end();
  response.once("close", connections.began("carried"));
  response.writeHead(200, { "content-type": "application/octet-stream" });
  // At once: the other gateway waits for it to know that we are here.
  response.flushHeaders();
  void requests.carried(name, new CarriedCall(asked, { host, readers, maxMessageBytes }));
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methodTable, name);
}

/** Node takes the limit of a session in megabytes. */
const megabyte = 1_000_000;

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

/** A connection, and how many calls run on it. */
interface Entry {
  readonly connection: FollowedConnection;
  running: number;
}

/** The connections by what gRPC calls their peers: address and port of the socket's other end. */
class Connections {
  readonly #all = new Map<string, Entry>();
  readonly #onLeft: (connection: FollowedConnection) => void;
  #running = 0;
  #onQuiet: () => void = () => undefined;

  constructor(onLeft: (connection: FollowedConnection) => void) {
    this.#onLeft = onLeft;
  }

  add(socket: Socket, connection: FollowedConnection): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#all.set(peer, { connection, running: 0 });
    connection.whenOver(() => {
      this.#all.delete(peer);
      this.#onLeft(connection);
    });
  }

  of(peer: string): FollowedConnection | undefined {
    return this.#all.get(peer)?.connection;
  }

  /** A call began; the answer is called at its end, when nothing of it is left to be sent. */
  began(peer: string): () => void {
    const entry = this.#all.get(peer);
    this.#running += 1;
    if (entry !== undefined) {
      entry.running += 1;
      entry.connection.handshakeDone();
      entry.connection.idle(false);
    }
    return () => {
      this.#running -= 1;
      if (entry !== undefined) {
        entry.running -= 1;
        if (entry.running === 0) entry.connection.idle(true);
      }
      if (this.#running === 0) this.#onQuiet();
    };
  }

  /** Calls of all connections. */
  get running(): number {
    return this.#running;
  }

  /** Resolves when no call runs, or at the deadline. */
  quiet(deadline: AbortSignal): Promise<void> {
    if (this.#running === 0 || deadline.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      deadline.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/**
 * Follows each call from its first byte to its last, and ends those whose message comes in very many tiny frames: the
 * library keeps an object for each of them, which takes a hundred times the memory that the limit of a message allows.
 */
function guard(connections: Connections): ServerInterceptor {
  return (_method, call) => {
    // Nothing public says when the last byte of a call is out.
    const { stream } = call as unknown as { readonly stream: Readable };
    const ended = connections.began(call.getPeer());
    stream.once("close", ended);
    let frames = 0;
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      frames += 1;
      bytes += chunk.length;
      if (frames < framesMin || bytes >= frames * frameBytesMin) return;
      call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: "The frames are too small." });
      stream.destroy();
    });
    return new ServerInterceptingCall(call);
  };
}

/**
 * A client over a cap is told so in HTTP/2: settings, then GOAWAY with ENHANCE_YOUR_CALM (RFC 9113 §6.8), which
 * clients read as "try again".
 */
function refuse(socket: Socket): void {
  const text = new TextEncoder().encode(gatewayError("connection.limit").message);
  const goAway = new Uint8Array(9 + 8 + text.length);
  const view = new DataView(goAway.buffer);
  view.setUint16(1, 8 + text.length);
  view.setUint8(3, 7);
  view.setUint32(13, enhanceYourCalm);
  goAway.set(text, 17);
  socket.write(emptySettings);
  socket.write(goAway);
}

const enhanceYourCalm = 0xb;
const emptySettings = Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0);

interface Opened {
  readonly config: FlightConfig;
  readonly requests: Requests;
  readonly connections: Connections;
  readonly close: () => void;
  readonly relayed: (asked: RelayedRequest) => void;
}

function frontendOf(
  listener: OpenListener,
  { config, requests, connections, close, relayed }: Opened,
): PolledFrontend {
  let drained: Promise<void> | undefined;
  /** Between a ticket and its rows a query has no connection, so the port stays open until the last one was read. */
  const drain = async (deadline: AbortSignal): Promise<void> => {
    requests.refuseNew();
    // A call may leave a result behind, and fetching that is a call again.
    while (!deadline.aborted && (connections.running > 0 || requests.waiting > 0)) {
      await connections.quiet(deadline);
      await requests.fetched(deadline);
    }
    await requests.close();
    close();
    await listener.drain(deadline);
  };
  return {
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    relayed,
    drain: (deadline) => (drained ??= drain(deadline)),
  };
}
