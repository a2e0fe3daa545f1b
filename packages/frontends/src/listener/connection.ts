/**
 * One client connection of any protocol: its socket, who is at the other end, and whether it is
 * still there. It knows nothing of the protocol's bytes.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { turnBytesMax } from "@gateway/core/tool/turn.ts";
import { handshakeMsMax, judgementMsMax, lingerMsMax } from "./limits.ts";
import { certificateNames, serverEndPoint } from "./peer.ts";
import type { TlsServer } from "./tls.ts";
import { turnWrites } from "../turn.ts";

/**
 * What a frontend gets for each client. While a query runs the frontend keeps reading, into a limited queue
 * of its own: only reading shows that a client left.
 */
export interface Connection {
  /** The socket to read from; after `upgrade` the TLS one. Its errors are handled here and lead to `closed`. */
  readonly socket: Socket;
  /** Address of the client without its port; behind PROXY protocol the one in the header. */
  readonly address: string;
  /** True when the bytes are encrypted. */
  readonly secure: boolean;
  /** True when the listener has a certificate, so that `upgrade` may be called. */
  readonly canUpgrade: boolean;
  /** True when client and server agreed on this protocol by its name (ALPN). */
  readonly protocolAgreed: boolean;
  /** The listener's config. */
  readonly config: ListenerConfig;
  /** Aborted once the client is gone or the connection was closed here. */
  readonly closed: AbortSignal;
  /** True once the listener drains: answer what runs, start nothing. */
  readonly draining: boolean;
  /**
   * Starts TLS with the next byte. `rest` is what was already read behind the client's request for it. The old
   * socket loses its listeners for data. Undefined when the handshake failed; the connection is then closed.
   */
  upgrade(rest?: Uint8Array): Promise<TLSSocket | undefined>;
  /** Names in the client's certificate, by `tls.clientCertUser`; empty without a verified certificate. */
  certificateNames(): readonly string[];
  /** Bytes of `tls-server-end-point`, to which a login can be bound; undefined without TLS. */
  channelBinding(): Uint8Array | undefined;
  /** The client has shown its credential. From here on it waits for us, so its deadline is longer. */
  credentialShown(): void;
  /** The client has identified itself: the handshake deadline no longer counts. */
  handshakeDone(): void;
  /** Marks whether a drain may close the connection now. A new connection is busy until it says otherwise. */
  idle(idle: boolean): void;
  /**
   * Writes: up to `turnBytesMax` bytes with the end of this turn of the event loop, and more at once. Undefined when the
   * system took them or will take them then, otherwise a promise for that. A short buffer must not change any more, a
   * longer one until then. The promise also resolves when the client is gone, and never rejects.
   */
  send(bytes: Uint8Array): Promise<void> | undefined;
  /** Closes once everything sent is out; a client that does not take it is cut off. Idempotent. */
  end(): void;
  /** Cuts off at once. Idempotent. */
  destroy(): void;
}

/** The same for a frontend with very many idle connections: it learns of an end without an object for each. */
export interface FollowedConnection extends Connection {
  /** True once `closed` is aborted. */
  readonly over: boolean;
  /** Calls `listener` when the connection is over, or at once when it is already. One listener for each connection. */
  whenOver(listener: () => void): void;
}

/** What a connection needs of its listener. */
export interface ConnectionOwner {
  readonly host: Host;
  readonly config: ListenerConfig;
  readonly tls: TlsServer | undefined;
  readonly draining: boolean;
  /** Called when a connection becomes idle during a drain. */
  onIdle(connection: OwnedConnection): void;
}

const nothing = new Uint8Array(0);

/** A connection as its listener sees it. */
export class OwnedConnection implements FollowedConnection {
  readonly address: string;
  readonly #owner: ConnectionOwner;
  /** Made with the first use: ten thousand idle connections need none. */
  #gone: AbortController | undefined;
  #over = false;
  #onOver: (() => void) | undefined;
  #socket: Socket;
  #secure = false;
  #idle = false;
  #identified = false;
  /** Dropped once it can not fire any more: ten thousand idle timers take memory too. */
  #deadline: Disposable | undefined;
  readonly #onEnd = () => this.#leave();
  readonly #onClose = () => this.#close();

  constructor(socket: Socket, address: string, owner: ConnectionOwner) {
    this.#socket = socket;
    this.address = address;
    this.#owner = owner;
    this.#deadline = owner.host.clock.timer(handshakeMsMax, () => this.destroy());
    this.#watch(socket);
  }

  get socket(): Socket {
    return this.#socket;
  }

  get secure(): boolean {
    return this.#secure;
  }

  get canUpgrade(): boolean {
    return this.#owner.tls !== undefined && !this.#secure;
  }

  get protocolAgreed(): boolean {
    return this.#socket instanceof TLSSocket && typeof this.#socket.alpnProtocol === "string";
  }

  get config(): ListenerConfig {
    return this.#owner.config;
  }

  get closed(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#over) this.#gone.abort();
    return this.#gone.signal;
  }

  get over(): boolean {
    return this.#over;
  }

  whenOver(listener: () => void): void {
    if (this.#over) listener();
    else this.#onOver = listener;
  }

  get draining(): boolean {
    return this.#owner.draining;
  }

  /** True once the client has identified itself, so that it understands a goodbye. */
  get identified(): boolean {
    return this.#identified;
  }

  /** True when a drain may close it: nothing runs, or the client has not identified itself yet. */
  get closable(): boolean {
    return this.#idle || !this.#identified;
  }

  async upgrade(rest?: Uint8Array): Promise<TLSSocket | undefined> {
    const { tls } = this.#owner;
    if (tls === undefined || this.#secure)
      throw new Error("upgrade without a certificate or twice");
    turnWrites.leave();
    const raw = this.#socket;
    raw.removeAllListeners("data");
    // Only if there is one: otherwise the stream changes its mode in the next tick, and the handshake
    // never sees the bytes that were unshifted.
    if (raw.listenerCount("readable") > 0) raw.removeAllListeners("readable");
    raw.pause();
    if (rest !== undefined && rest.length > 0) raw.unshift(rest);
    const secured = await tls.secure(raw);
    if (secured === undefined) {
      this.destroy();
      return undefined;
    }
    this.#socket = secured;
    this.#secure = true;
    // From here on the TLS socket says when it ends.
    raw.off("end", this.#onEnd);
    raw.off("close", this.#onClose);
    this.#watch(secured);
    return secured;
  }

  certificateNames(): readonly string[] {
    if (!(this.#socket instanceof TLSSocket)) return [];
    return certificateNames(this.#socket, this.config.tls?.clientCertUser ?? "none");
  }

  channelBinding(): Uint8Array | undefined {
    return this.#socket instanceof TLSSocket ? serverEndPoint(this.#socket) : undefined;
  }

  credentialShown(): void {
    if (this.#identified || this.#over) return;
    this.#stopDeadline();
    const { clock } = this.#owner.host;
    this.#deadline = clock.timer(judgementMsMax, () => this.destroy());
  }

  handshakeDone(): void {
    this.#identified = true;
    this.#stopDeadline();
  }

  idle(idle: boolean): void {
    this.#idle = idle;
    if (idle && this.#owner.draining) this.#owner.onIdle(this);
  }

  send(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#over) return undefined;
    const socket = this.#socket;
    const wantsMore = turnWrites.write(socket, bytes);
    // A socket may want more before a longer piece has left, which its owner would then write over.
    if (socket.writableLength === 0 || (wantsMore && bytes.length <= turnBytesMax))
      return undefined;
    turnWrites.leave();
    // The callback also comes (with an error) when the socket is destroyed before the bytes are out.
    return new Promise((resolve) => void socket.write(nothing, () => resolve()));
  }

  end(): void {
    if (this.#over) return;
    turnWrites.leave();
    // Unread bytes would turn the close into a reset, and the client would lose the last message.
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#socket.end();
    this.#stopDeadline();
    this.#deadline = this.#owner.host.clock.timer(lingerMsMax, () => this.destroy());
  }

  destroy(): void {
    // What was sent in this turn is in the system first, as if it had been written at once.
    turnWrites.leave();
    this.#socket.destroy();
  }

  /** Not by `once`, which costs an object each: a second event changes nothing. */
  #watch(socket: Socket): void {
    // A client that only ended its half is gone as well: none of our protocols goes on after that.
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
    // The reason does not matter to anybody, and "close" follows.
    socket.on("error", ignore);
  }

  #close(): void {
    this.#stopDeadline();
    this.#leave();
  }

  #stopDeadline(): void {
    this.#deadline?.[Symbol.dispose]();
    this.#deadline = undefined;
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#gone?.abort();
    this.#onOver?.();
  }
}

function ignore(): void {}
