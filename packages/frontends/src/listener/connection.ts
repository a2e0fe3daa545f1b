/**
 * One client connection of any protocol: its socket, who is at the other end, and whether it is
 * still there. It knows nothing of the protocol's bytes.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { handshakeMsMax, judgementMsMax, lingerMsMax } from "./limits.ts";
import { certificateNames, serverEndPoint } from "./peer.ts";
import type { TlsServer } from "./tls.ts";

/**
 * What a frontend gets for each client. While a query runs it keeps reading (into a queue of its own
 * with a limit): a client that left is noticed by reading only.
 */
export interface Connection {
  /** The socket to read from; after `upgrade` the TLS one. Its errors are handled here: `closed` tells. */
  readonly socket: Socket;
  /** Address of the client without its port; behind PROXY protocol the one in the header. */
  readonly address: string;
  /** True when the bytes are encrypted. */
  readonly secure: boolean;
  /** True when the listener has a certificate, so that `upgrade` may be called. */
  readonly canUpgrade: boolean;
  /** True when TLS was agreed to be for this protocol by name (ALPN). */
  readonly protocolAgreed: boolean;
  /** The listener's config. */
  readonly config: ListenerConfig;
  /** Aborted once the client is gone or the connection was closed here. */
  readonly closed: AbortSignal;
  /** True once the listener drains: answer what runs, start nothing. */
  readonly draining: boolean;
  /**
   * TLS from the next byte on. `rest` is what was already read behind the client's request for it.
   * The listeners for data are taken off the old socket. Undefined when the handshake failed; the
   * connection is then closed.
   */
  upgrade(rest?: Uint8Array): Promise<TLSSocket | undefined>;
  /** Names of the client's certificate by `tls.clientCertUser`; empty without one that was verified. */
  certificateNames(): readonly string[];
  /** Bytes of `tls-server-end-point`, to which a login can be bound; undefined without TLS. */
  channelBinding(): Uint8Array | undefined;
  /** The client has shown its credential: from here on it waits for us, so it has longer. */
  credentialShown(): void;
  /** The client has identified itself: the handshake deadline no longer counts. */
  handshakeDone(): void;
  /** Marks whether a drain may close the connection now. A new connection is busy until it says otherwise. */
  idle(idle: boolean): void;
  /**
   * Writes. Undefined when the bytes have left this process, otherwise a promise for that: until then
   * the buffer must not change. Resolves, and never rejects, also when the client is gone.
   */
  send(bytes: Uint8Array): Promise<void> | undefined;
  /** Closes after everything sent has gone out; a client that does not take it is cut off. Idempotent. */
  end(): void;
  /** Cuts off at once. Idempotent. */
  destroy(): void;
}

/** The same for a frontend that keeps very many at rest: their end without an object that tells it. */
export interface FollowedConnection extends Connection {
  /** True once `closed` is aborted. */
  readonly over: boolean;
  /** Called when it is over, at once when it is already. One listener for each connection. */
  whenOver(listener: () => void): void;
}

/** What a connection needs of its listener. */
export interface ConnectionOwner {
  readonly host: Host;
  readonly config: ListenerConfig;
  readonly tls: TlsServer | undefined;
  readonly draining: boolean;
  /** A connection that became idle during a drain. */
  onIdle(connection: OwnedConnection): void;
}

/** A connection as its listener sees it. */
export class OwnedConnection implements FollowedConnection {
  readonly address: string;
  readonly #owner: ConnectionOwner;
  /** Ten thousand connections at rest need none. */
  #gone: AbortController | undefined;
  #over = false;
  #onOver: (() => void) | undefined;
  #socket: Socket;
  #secure = false;
  #idle = false;
  #identified = false;
  /** Given up where it can not strike any more: ten thousand timers at rest are memory too. */
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

  /** True when a drain may close it: nothing runs, or nobody has identified himself yet. */
  get closable(): boolean {
    return this.#idle || !this.#identified;
  }

  async upgrade(rest?: Uint8Array): Promise<TLSSocket | undefined> {
    const { tls } = this.#owner;
    if (tls === undefined || this.#secure)
      throw new Error("upgrade without a certificate or twice");
    const raw = this.#socket;
    raw.removeAllListeners("data");
    // Only where there is one: the stream would otherwise change its mode in the next tick, and the
    // handshake never sees what was unshifted.
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
    // Its end is the secured one's.
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
    let settle: (() => void) | undefined;
    const socket = this.#socket;
    // The callback also comes, with an error, when the socket is destroyed before the bytes are out.
    socket.write(bytes, () => settle?.());
    if (socket.writableLength === 0) return undefined;
    return new Promise((resolve) => {
      settle = resolve;
    });
  }

  end(): void {
    if (this.#over) return;
    // Unread bytes would turn the close into a reset, and the client would lose the last message.
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#socket.end();
    this.#stopDeadline();
    this.#deadline = this.#owner.host.clock.timer(lingerMsMax, () => this.destroy());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Not `once`, which costs an object for each: what comes twice changes nothing. */
  #watch(socket: Socket): void {
    // A client that only ended its half is gone as well: no protocol here goes on after that.
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
    // What went wrong with a socket is nobody's business; that it is over is said by "close".
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
