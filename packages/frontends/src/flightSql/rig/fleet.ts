/** Two gateways that find each other, and carry calls as the relay does: over HTTP, each as one request. */
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { CarriedCall, Carrier } from "../../listener/elsewhere.ts";
import type { Script } from "../../rig/scriptedDoor.ts";
import { openFlight, type OpenFlight } from "./open.ts";

export interface FlightFleet extends AsyncDisposable {
  readonly owner: OpenFlight;
  readonly other: OpenFlight;
  /** The calls that were carried, by their paths. */
  readonly carried: readonly string[];
  /** From here on the owner answers nobody, and what it was answering breaks off. */
  killOwner(): void;
}

const key = new Uint8Array(32).fill(7);

/** Opens both; a mark ends with the number of its gateway. */
export async function openFleet(script: Script): Promise<FlightFleet> {
  const gateways: OpenFlight[] = [];
  const servers: Server[] = [];
  const carried: string[] = [];
  const carrierOf = (own: number): Carrier => ({
    mark: (instance) => `${instance}-${own}`,
    relay: async () => false,
    carry: (mark, _frontend, call) => {
      carried.push(call.path);
      return carriedTo(portOf(servers[Number(mark.split("-")[1])]), call);
    },
  });
  for (const own of [0, 1]) {
    const gateway = await openFlight(script, {}, undefined, { key, carrier: carrierOf(own) });
    gateways.push(gateway);
    servers.push(await listening(gateway));
  }
  const [owner, other] = gateways as [OpenFlight, OpenFlight];
  const close = (server: Server): void => {
    server.close();
    server.closeAllConnections();
  };
  return {
    owner,
    other,
    carried,
    killOwner: () => servers.slice(0, 1).forEach(close),
    [Symbol.asyncDispose]: async () => {
      servers.forEach(close);
      await Promise.all(gateways.map((gateway) => gateway.done()));
    },
  };
}

function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null)?.port ?? 1;
}

async function listening(gateway: OpenFlight): Promise<Server> {
  const client = {
    address: "192.0.2.7",
    mayTakeCredentials: true,
    certificateNames: [],
    baseUrl: "",
  };
  const server = createServer((request, response) => {
    gateway.relayed({ request, response, client });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

function carriedTo(port: number, { path, headers, body, signal }: CarriedCall) {
  return new Promise<IncomingMessage | undefined>((resolve) => {
    const options = { host: "127.0.0.1", port, path, method: "POST" };
    const own = ["host", "gateway", ...headers] as never;
    const sent = httpRequest({ ...options, headers: own }, resolve);
    sent.on("error", () => resolve(undefined));
    signal.addEventListener("abort", () => void sent.destroy(), { once: true });
    if (body instanceof Uint8Array) sent.end(body);
    else Readable.from(body).pipe(sent);
  });
}
