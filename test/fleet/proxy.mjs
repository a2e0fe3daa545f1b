/** A TCP proxy between a process and what it calls: it can stop forwarding, reset, and be gone. */
import { connect, createServer } from "node:net";

/** `targets`: ports on loopback, taken in turns. Answers when it listens. */
export async function startProxy(...targets) {
  const proxy = new Proxy(targets);
  await proxy.heal();
  return proxy;
}

class Proxy {
  port = 0;
  /** Connections that were taken. */
  taken = 0;
  /** A client's end is kept from the server, as by a balancer that holds its connections open. */
  keepsServers = false;
  #targets;
  #pairs = new Set();
  #server;
  #stalled = { toServer: false, toClient: false };

  constructor(targets) {
    this.#targets = targets;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Takes connections (again) and forwards what was held back. */
  async heal() {
    this.stall({});
    if (this.#server !== undefined) return;
    const server = createServer((client) => this.#take(client));
    this.#server = server;
    await new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
    this.port = server.address().port;
  }

  /** What is sent that way is kept and not forwarded; no side learns of it, as when packets are lost. */
  stall({ toServer = false, toClient = false }) {
    this.#stalled = { toServer, toClient };
    for (const pair of this.#pairs) this.#flow(pair);
  }

  /** Ends every connection with a reset. */
  reset() {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** Nothing listens any more. */
  async cut() {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && new Promise((resolve) => server.close(resolve));
    this.reset();
    await closed;
  }

  #take(client) {
    const target = this.#targets[this.taken % this.#targets.length];
    this.taken += 1;
    const server = connect(target, "127.0.0.1");
    const pair = { client, server };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ]) {
      from.setNoDelay(true);
      from.on("data", (chunk) => {
        if (!to.destroyed && !to.write(chunk)) from.pause();
      });
      to.on("drain", () => this.#flow(pair));
      const ends = () => from === server || !this.keepsServers;
      from.on("end", () => ends() && to.end());
      from.on("error", () => ends() && to.destroy());
      from.on("close", () => {
        if (!ends()) return;
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    this.#flow(pair);
  }

  #flow({ client, server }) {
    const { toServer, toClient } = this.#stalled;
    if (toServer || server.writableNeedDrain) client.pause();
    else client.resume();
    if (toClient || client.writableNeedDrain) server.pause();
    else server.resume();
  }
}
