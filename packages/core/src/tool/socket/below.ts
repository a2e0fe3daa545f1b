/**
 * Writes to the connection below a socket. A stream takes a write through six functions, with a request that Node makes
 * anew in its runtime, before the system hears of it: 0.4 us of each of a short query's two.
 * The request is needed only where the system does not take all at once, so one serves all writes until then.
 *
 * Node tells nobody its class: it is seen once, in a write of a stream's own. Wherever anything is otherwise than it is
 * known here (TLS, another version of Node, bytes that wait in the stream) the stream writes, as ever.
 */

/** A socket, as far as it is asked here. */
export interface UpperSocket {
  readonly _handle?: unknown;
  readonly connecting?: boolean;
  readonly writable?: boolean;
  readonly writableLength?: number;
  readonly writableCorked?: number;
  write(bytes: Uint8Array): boolean;
  destroy?(): unknown;
}

/** What Node calls the handle of a socket. */
interface Handle {
  writeBuffer(request: Request, bytes: Uint8Array): number;
  /** Bytes that the system did not take yet. */
  readonly writeQueueSize: number;
}

/** Of a write that the system takes later. */
interface Request {
  oncomplete?: (status: number) => void;
  /** Must not be collected before it has left. */
  bytes?: Uint8Array;
}

export class BelowSockets {
  /** Undefined until it was seen; null: it is not to be had. */
  #Request: (new () => Request) | null | undefined;
  /** Of the handles that are known. */
  #kind: unknown;
  #request: Request | undefined;
  /** Writes that the system took in part. While there are any the streams write, which count what waits. */
  #unfinished = 0;

  /**
   * Writes them, and says whether the socket wants more. Undefined where the stream is to be asked. For short pieces,
   * which never change: what the system does not take of one waits here, and the stream does not count it.
   */
  write(socket: UpperSocket, bytes: Uint8Array): boolean | undefined {
    const handle = socket._handle;
    if (typeof handle !== "object" || handle === null || this.#unfinished > 0) return undefined;
    if (socket.writableLength !== 0 || socket.writableCorked !== 0) return undefined;
    if (socket.writable !== true || socket.connecting === true) return undefined;
    if (this.#Request === undefined) return this.#learn(socket, handle, bytes);
    if (this.#Request === null || Object.getPrototypeOf(handle) !== this.#kind) return undefined;
    return this.#put(socket, handle as Handle, bytes);
  }

  #put(socket: UpperSocket, handle: Handle, bytes: Uint8Array): boolean | undefined {
    if (this.#Request === null || this.#Request === undefined) return undefined;
    const request = (this.#request ??= new this.#Request());
    // A connection that is broken is as broken for the stream, which says so.
    if (handle.writeBuffer(request, bytes) !== 0) return undefined;
    if (handle.writeQueueSize > 0) this.#waits(socket, request, bytes);
    return true;
  }

  #waits(socket: UpperSocket, request: Request, bytes: Uint8Array): void {
    this.#request = undefined;
    this.#unfinished += 1;
    request.bytes = bytes;
    request.oncomplete = (status) => {
      this.#unfinished -= 1;
      if (status < 0) socket.destroy?.();
    };
  }

  /** Looks at what a stream asks of its handle. The stream writes, so nothing is lost whatever is found. */
  #learn(socket: UpperSocket, handle: object, bytes: Uint8Array): boolean | undefined {
    const { constructor, writeBuffer, writeQueueSize } = handle as Partial<Handle>;
    if (constructor?.name !== "TCP") return undefined;
    this.#Request = null;
    if (typeof writeBuffer !== "function" || writeQueueSize !== 0) return undefined;
    const seen: { request?: object } = {};
    const watched = handle as { writeBuffer?: Handle["writeBuffer"] };
    watched.writeBuffer = (request, piece) => {
      seen.request = request;
      return writeBuffer.call(handle, request, piece);
    };
    try {
      return socket.write(bytes);
    } finally {
      delete watched.writeBuffer;
      const made = seen.request?.constructor;
      if (made?.name === "WriteWrap") this.#Request = made as new () => Request;
      this.#kind = Object.getPrototypeOf(handle);
    }
  }
}
