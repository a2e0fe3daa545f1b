/**
 * Serves Flight SQL: gRPC over the connections that the shared listener accepts.
 *
 * `grpc-js` parses what strangers send in our process, so everything that it lets through is bounded here: messages,
 * metadata, calls of a connection, what HTTP/2 holds for one, and the frames that a message is cut into.
 */
import type { Buffer } from "node:buffer";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
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
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { Carrier, RelayedRequest } from "../listener/elsewhere.ts";
import { GrpcCall } from "./calls.ts";
import { CarriedCall } from "./carry/carriedCall.ts";
import type { FlightConfig } from "./config.ts";
import { frameBytesMin, framesMin, sessionBytesMax, streamsMax } from "./limits.ts";
import { methodTable, type MethodName } from "./machine.ts";
import { Readers } from "./readers.ts";
import { Requests } from "./requests.ts";

const service = "/arrow.flight.protocol.FlightService/";

/** What answers the clients of a listener. */
export interface Serving {
  /** Takes over a connection that is secured as far as the config wants it. */
  take(socket: Socket, connection: FollowedConnection): void;
  /** A call of another gateway's client. */
  carried(asked: RelayedRequest): void;
  /**
   * Refuses what is new, and resolves when nothing runs and no result waits any more, or at the deadline; what is left
   * then is ended. Between a ticket and its rows a query has no connection, so the port has to stay open until then.
   */
  drain(deadline: AbortSignal): Promise<void>;
}

/** Makes the server, which opens no socket of its own. */
export function serve(
  config: FlightConfig,
  door: Door,
  host: Host,
  elsewhere: Carrier | undefined,
): Serving {
  const requests = new Requests(config, door, host, elsewhere);
  const connections = new Connections((connection) => requests.left(connection));
  const parts = { requests, connections, readers: new Readers() };
  const server = grpcServer(config, host, parts);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    take: (socket, connection) => {
      connections.add(socket, connection);
      injector.injectConnection(socket);
    },
    carried: (asked) => answerCarried(asked, config, host, parts),
    drain: async (deadline) => {
      requests.refuseNew();
      // A call may leave a result behind, and fetching that is a call again.
      while (!deadline.aborted && (connections.running > 0 || requests.waiting > 0)) {
        await connections.quiet(deadline);
        await requests.fetched(deadline);
      }
      await requests.close();
      injector.destroy();
    },
  };
}

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
      const call = new GrpcCall(stream, { connection, host, readers, wire: wireOf(stream) });
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
    const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
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
    const guarded = new ServerInterceptingCall(call);
    wires.set(guarded, stream);
    return guarded;
  };
}

/** The streams of HTTP/2 below the calls that are guarded. */
const wires = new WeakMap<object, ServerHttp2Stream>();

function wireOf(stream: ServerDuplexStream<Buffer, Buffer>): ServerHttp2Stream {
  const { call } = stream as unknown as { readonly call: object };
  const wire = wires.get(call);
  if (wire === undefined) throw new Error("a call that was not guarded");
  return wire;
}
