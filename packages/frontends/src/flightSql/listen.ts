/**
 * Opens the Flight SQL listener. What serves it is loaded with its first client: gRPC and the messages take ten megabytes,
 * also of a gateway that no client of Flight ever asks.
 */
import type { Socket } from "node:net";
import { gatewayError } from "@gateway/core/error.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener } from "../listener/accept.ts";
import type { Carrier, ListenPolled } from "../listener/elsewhere.ts";
import type { FlightConfig } from "./config.ts";
import type { Serving } from "./serve.ts";

const kind = "flightSql";

/** Opens the listener on its address. */
export const listen: ListenPolled<FlightConfig, Carrier> = async (
  config,
  door,
  host,
  elsewhere,
) => {
  let serving: Promise<Serving> | undefined;
  const served = (): Promise<Serving> => {
    serving ??= import("./serve.ts").then(({ serve }) => serve(config, door, host, elsewhere));
    return serving;
  };
  const opened = await openListener({
    kind,
    config,
    host,
    protocol: "h2",
    onConnection: async (connection) => {
      const socket = config.tls === undefined ? connection.socket : await connection.upgrade();
      if (socket === undefined) return;
      const server = await served();
      // Nothing was read meanwhile, but the client may have left.
      if (!socket.destroyed) server.take(socket, connection);
    },
    ...(config.tls === undefined ? { onRefused: refuse } : {}),
  });
  if (!opened.ok) return opened;
  const listener = opened.value;
  const drain = async (deadline: AbortSignal): Promise<void> => {
    await (await serving)?.drain(deadline);
    await listener.drain(deadline);
  };
  let drained: Promise<void> | undefined;
  return ok({
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    relayed: (asked) => {
      served().then(
        (server) => server.carried(asked),
        (bug: unknown) => {
          host.log.bug(bug);
          asked.response.destroy();
        },
      );
    },
    drain: (deadline) => (drained ??= drain(deadline)),
  });
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
