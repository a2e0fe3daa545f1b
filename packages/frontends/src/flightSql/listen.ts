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
  status,
  type ServerDuplexStream,
  type ServerInterceptor,
} from "@grpc/grpc-js";
import type { Frontend, Listen } from "@gateway/core/port/frontend.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import { Call } from "./calls.ts";
import type { FlightConfig } from "./config.ts";
import { frameBytesMin, framesMin, sessionBytesMax, streamsMax } from "./limits.ts";
import { methodTable, type MethodName } from "./machine.ts";
import { Readers } from "./readers.ts";
import { Requests } from "./requests.ts";

const kind = "flightSql";
const service = "/arrow.flight.protocol.FlightService/";

/** Opens the listener on its address. */
export const listen: Listen<FlightConfig> = async (config, door, host) => {
  const requests = new Requests(config, door, host);
  const connections = new Connections();
  const server = grpcServer(config, host, requests, connections);
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
  return ok(frontendOf(opened.value, { config, requests, close: () => injector.destroy() }));
};

function grpcServer(
  config: FlightConfig,
  host: Host,
  requests: Requests,
  connections: Connections,
): Server {
  const server = new Server({
    "grpc.max_receive_message_length": config.maxMessageBytes,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": streamsMax,
    "grpc-node.max_session_memory": sessionBytesMax / megabyte,
    "grpc.enable_channelz": 0,
    interceptors: [frameGuard],
  });
  const readers = new Readers();
  for (const name of Object.keys(methodTable) as MethodName[]) {
    const handle = (stream: ServerDuplexStream<Buffer, Buffer>): void => {
      const entry = connections.of(stream.getPeer());
      if (entry === undefined) return void stream.destroy();
      entry.began();
      stream.once("close", () => entry.ended());
      const call = new Call(stream, { connection: entry.connection, host, readers });
      void requests.handle(name, call);
    };
    server.register<Buffer, Buffer>(service + name, handle, asItIs, asItIs, "bidi");
  }
  return server;
}

/** Node takes the limit of a session in megabytes. */
const megabyte = 1_000_000;

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

/** A connection with calls that run. */
interface Entry {
  readonly connection: FollowedConnection;
  began(): void;
  ended(): void;
}

/** The connections by what gRPC calls their peers: address and port of the socket's other end. */
class Connections {
  readonly #all = new Map<string, Entry>();

  add(socket: Socket, connection: FollowedConnection): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    let running = 0;
    this.#all.set(peer, {
      connection,
      began: () => {
        running += 1;
        connection.handshakeDone();
        connection.idle(false);
      },
      ended: () => {
        running -= 1;
        if (running === 0) connection.idle(true);
      },
    });
    connection.whenOver(() => this.#all.delete(peer));
  }

  of(peer: string): Entry | undefined {
    return this.#all.get(peer);
  }
}

/**
 * Ends calls whose message comes in very many tiny frames: the library keeps an object for each of them, which takes
 * a hundred times the memory that the limit of a message allows.
 */
const frameGuard: ServerInterceptor = (_method, call) => {
  const { stream } = call as unknown as { readonly stream?: Readable };
  let frames = 0;
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    frames += 1;
    bytes += chunk.length;
    if (frames < framesMin || bytes >= frames * frameBytesMin) return;
    call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: "The frames are too small." });
    stream.destroy();
  });
  return new ServerInterceptingCall(call);
};

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
  close(): void;
}

function frontendOf(listener: OpenListener, { config, requests, close }: Opened): Frontend {
  let drained: Promise<void> | undefined;
  /** Between a ticket and its rows a query has no connection, so the port stays open until the last one was read. */
  const drain = async (deadline: AbortSignal): Promise<void> => {
    await requests.drain(deadline);
    const gone = listener.drain(deadline);
    close();
    await gone;
    await requests.close();
  };
  return {
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    drain: (deadline) => (drained ??= drain(deadline)),
  };
}
