/**
 * Connections to one origin over HTTP/1.1, each with one request at a time. More requests than connections wait in
 * line. Nothing is repeated and no redirect is followed; how long a response may take is the caller's to say.
 *
 * Requests are given to connections at the end of a turn of the loop: by then it is known which of them the server
 * closed, or wrote unasked bytes to, as far as the system told it. A request that meets a close on its way is
 * lost, so this is worth the turn; the connection that was used last is used first for the same reason. Where requests
 * come one after the other, each is given at once to a connection whose answer came a moment ago.
 */
import type { Host } from "@gateway/core/port/host.ts";
import { Members, type Membership } from "@gateway/core/tool/members.ts";
import type { Socket } from "node:net";
import { readerConnectorOf, type ConnectorOptions } from "../connector.ts";
import { Connection, type Answering, type ConnectionOwner } from "./connection.ts";
import { aloneMin, freshMs, sweepMs } from "./limits.ts";
import {
  writableRequest,
  type FormedRequest,
  type HttpRequest,
  type WritableRequest,
} from "./request.ts";

export interface Http1PoolOptions extends ConnectorOptions {
  /** `https://host:8443`. */
  readonly origin: string;
  /** Connections at once; further requests wait. */
  readonly connectionsMax: number;
}

/** A request that was asked for. */
export interface Asked {
  /** Takes it out of the line, or ends its connection. Nobody is told anything more of it. */
  cancel(): void;
  /** No more of the response is read, but for what is on its way already: tens of kilobytes at most. */
  pause(): void;
  /** The response goes on, before this returns where something of it is kept. Not from a call of `Answering`. */
  resume(): void;
}

export class Http1Pool implements ConnectionOwner {
  readonly #connectionsMax: number;
  readonly #open: (opened: (error: Error | null, socket: Socket | null) => void) => void;
  readonly #host: Pick<Host, "clock" | "egress" | "log">;
  /** Of the origin, as requests say it. */
  readonly #name: string;
  /** In order. */
  readonly #waiting = new Members<Waiting>();
  readonly #connections = new Set<Connection>();
  /** The last one was used last. */
  readonly #idle: Connection[] = [];
  #opening = 0;
  #due = false;
  /** How many turns in a row had one request to give. */
  #alone = 0;
  #sweep: Disposable | undefined;
  #closed = false;

  constructor(options: Http1PoolOptions, host: Pick<Host, "clock" | "egress" | "log">) {
    const url = new URL(options.origin);
    const { protocol, port } = url;
    const connect = readerConnectorOf(options, host);
    // Sockets know an IPv6 address without its brackets.
    const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const place = { hostname, host: url.host, protocol, port };
    this.#open = (opened) => connect(place, opened);
    this.#connectionsMax = options.connectionsMax;
    this.#host = host;
    this.#name = url.host;
  }

  /** Sends it as soon as a connection is free. `failed` comes before this returns where the pool is closed, or HTTP can not carry the request. */
  ask(request: HttpRequest | FormedRequest, answering: Answering): Asked {
    const writable = this.#closed ? undefined : writableRequest(request, this.#name);
    const waiting = new Waiting(this.#waiting, writable, answering);
    const connection = writable === undefined ? undefined : this.#takeAtOnce();
    if (writable === undefined) {
      answering.failed();
    } else if (connection !== undefined) {
      waiting.askOn(connection, true);
    } else {
      waiting.place = this.#waiting.add(waiting);
      this.#serveSoon();
    }
    return waiting;
  }

  /** Ends what is under way and what waits. Resolves once the connections are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep?.[Symbol.dispose]();
    const connections = [...this.#connections];
    const closed = connections.map((connection) => connection.closed);
    const waiting = this.#waiting.values();
    for (const one of waiting) one.leave();
    for (const one of waiting) one.answering.failed();
    for (const connection of connections) connection.fail();
    await Promise.all(closed);
  }

  released(connection: Connection): void {
    if (this.#closed) return connection.drop();
    connection.idleUntilMs = this.#host.clock.nowMs() + connection.idleMs;
    this.#idle.push(connection);
    this.#sweep ??= this.#host.clock.timer(sweepMs, this.#dropIdle);
    if (this.#waiting.size > 0) this.#serveSoon();
  }

  gone(connection: Connection): void {
    this.#connections.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#waiting.size > 0) this.#serveSoon();
  }

  bug(error: unknown): void {
    this.#host.log.bug(error);
  }

  #serveSoon(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(this.#serve);
  }

  readonly #serve = (): void => {
    this.#due = false;
    let given = 0;
    for (; ; given += 1) {
      const waiting = this.#waiting.first?.value;
      const connection = waiting && this.#takeIdle();
      if (waiting === undefined || connection === undefined) break;
      waiting.leave();
      waiting.askOn(connection, false);
    }
    if (given > 0) this.#alone = given === 1 ? this.#alone + 1 : 0;
    this.#openMore();
  };

  /** For the only request there is, of someone who asks alone. */
  #takeAtOnce(): Connection | undefined {
    if (this.#waiting.size > 0 || this.#idle.length < this.#connections.size) this.#alone = 0;
    if (this.#alone < aloneMin) return undefined;
    const connection = this.#idle.at(-1);
    if (connection === undefined) return undefined;
    const nowMs = this.#host.clock.nowMs();
    const { idleUntilMs, idleMs } = connection;
    const isFresh = nowMs < idleUntilMs && nowMs < idleUntilMs - idleMs + freshMs;
    return isFresh ? this.#idle.pop() : undefined;
  }

  #takeIdle(): Connection | undefined {
    const nowMs = this.#idle.length === 0 ? 0 : this.#host.clock.nowMs();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || nowMs < connection.idleUntilMs) return connection;
      connection.drop();
    }
  }

  /** As many as are waited for. */
  #openMore(): void {
    while (this.#waiting.size > this.#opening && this.#hasRoom()) {
      this.#opening += 1;
      // May answer before it returns.
      this.#open(this.#opened);
    }
  }

  #hasRoom(): boolean {
    return this.#connections.size + this.#opening < this.#connectionsMax;
  }

  readonly #opened = (error: Error | null, socket: Socket | null): void => {
    this.#opening -= 1;
    // Behind an error undici gives no socket at all, and not the null of its types.
    if (error !== null || socket === null) return this.#failOldest();
    const connection = new Connection(socket, this);
    this.#connections.add(connection);
    this.released(connection);
  };

  /** A request fails with the connection that was opened for it; one that another connection took needed it no more. */
  #failOldest(): void {
    const oldest = this.#waiting.first?.value;
    if (oldest === undefined || this.#waiting.size <= this.#opening) return;
    oldest.leave();
    oldest.answering.failed();
    if (this.#waiting.size > this.#opening) this.#serveSoon();
  }

  /** Sets the timer again while any are idle. */
  readonly #dropIdle = (): void => {
    const nowMs = this.#host.clock.nowMs();
    const late = this.#idle.filter(({ idleUntilMs }) => nowMs >= idleUntilMs);
    for (const connection of late) connection.drop();
    const more = this.#idle.length > 0;
    this.#sweep = more ? this.#host.clock.timer(sweepMs, this.#dropIdle) : undefined;
  };
}

/** A request in line, and later on its connection. */
class Waiting implements Asked {
  readonly answering: Answering;
  /** In the line, while it is there. */
  place: Membership<Waiting> | undefined;
  readonly #line: Members<Waiting>;
  #request: WritableRequest | undefined;
  #connection: Connection | undefined;

  constructor(line: Members<Waiting>, request: WritableRequest | undefined, answering: Answering) {
    this.#line = line;
    this.#request = request;
    this.answering = answering;
  }

  askOn(connection: Connection, isAlone: boolean): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    this.#connection = connection;
    connection.ask(request, this.answering, isAlone);
  }

  /** Goes out of the line. */
  leave(): void {
    if (this.place !== undefined) this.#line.remove(this.place);
    this.place = undefined;
  }

  cancel(): void {
    this.leave();
    this.#connection?.cancel(this.answering);
  }

  pause(): void {
    this.#connection?.pause(this.answering);
  }

  resume(): void {
    this.#connection?.resume(this.answering);
  }
}
