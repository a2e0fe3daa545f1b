/** A TCP relay that can misbehave on command: stops forwarding, cuts, or puts bytes of its own into what comes back. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What it does with the next bytes that come back, on connections that are open and on new ones. */
export type RelayFault =
  | { readonly kind: "stall" }
  /** Ends the connection after this many more bytes. */
  | { readonly kind: "cutAfter"; readonly bytes: number }
  /** Sends these in place of the next ones, and nothing after them. */
  | { readonly kind: "instead"; readonly bytes: Uint8Array }
  | { readonly kind: "none" };

export interface FakeRelay extends AsyncDisposable {
  readonly port: number;
  fault(fault: RelayFault): void;
  /** Resolves when the next bytes met the fault. */
  met(): Promise<void>;
}

/** Relays a free port on loopback to `target` there. */
export async function fakeRelay(target: number): Promise<FakeRelay> {
  const sockets = new Set<Socket>();
  let fault: RelayFault = { kind: "none" };
  let meet = (): void => undefined;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    client.pipe(upstream);
    upstream.on("data", (bytes) => {
      const now = fault;
      switch (now.kind) {
        case "none":
          if (!client.write(bytes)) upstream.pause();
          return;
        case "stall":
          return meet();
        case "instead":
          client.write(now.bytes);
          fault = { kind: "stall" };
          return meet();
        case "cutAfter": {
          client.write(bytes.subarray(0, now.bytes));
          fault = { ...now, bytes: now.bytes - bytes.length };
          if (fault.bytes > 0) return;
          client.end();
          meet();
        }
      }
    });
    client.on("drain", () => upstream.resume());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    met: () =>
      new Promise((resolve) => {
        meet = resolve;
      }),
    fault: (next) => {
      fault = next;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
