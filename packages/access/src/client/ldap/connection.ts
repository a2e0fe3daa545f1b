/**
 * One connection to the directory. It is opened here and handed to the protocol library once it is encrypted,
 * because the library's own StartTLS keeps what came in clear before the handshake and reads it as if it had
 * come after. As the library never opens a connection itself, none evades the limits on outgoing connections,
 * and the pool knows of every lost one.
 */
import { connect as connectClear, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { egressRefused } from "@gateway/core/port/egress.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Client } from "ldapts";

/** A host of a URL as sockets want it: an IPv6 address without its brackets. */
function bareHost(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

export interface DirectoryPlace {
  readonly url: string;
  readonly startTls: boolean;
  /** Text of the authorities to trust, or undefined for those of the system. */
  readonly ca: string | undefined;
}

/** A search returns a few names. A larger answer is nonsense. */
const answerBytesMax = 4 << 20;

export class DirectoryConnection {
  readonly client: Client;
  readonly #socket: Socket;
  #bytes = 0;
  #counting = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    let handed = false;
    this.client = new Client({
      url: "ldap://directory",
      createConnection: () => {
        if (handed) throw new Error("the connection to the directory is gone");
        handed = true;
        return socket;
      },
    });
  }

  /** Rejects when it can not be opened, and as soon as `signal` is aborted. */
  static async open(
    place: DirectoryPlace,
    { egress }: Pick<Host, "egress">,
    signal: AbortSignal,
  ): Promise<DirectoryConnection> {
    const { protocol, hostname, port } = new URL(place.url);
    const host = bareHost(hostname);
    if (egress.refusesHost(host)) throw egressRefused();
    const target = {
      host,
      port: port === "" ? (protocol === "ldaps:" ? 636 : 389) : Number(port),
      noDelay: true,
      ...(egress.lookup && { lookup: egress.lookup }),
    };
    const clear = connectClear(target);
    const destroy = (): void => void clear.destroy(new Error("the directory takes too long"));
    signal.addEventListener("abort", destroy, { once: true });
    try {
      signal.throwIfAborted();
      await once(clear, "connect");
      const trust = {
        host,
        // An address is no server name (RFC 6066 §3); the certificate is compared with `host` then.
        ...(isIP(host) === 0 && { servername: host }),
        ...(place.ca !== undefined && { ca: place.ca }),
      };
      if (place.startTls) await askForTls(clear);
      const secured = protocol === "ldaps:" || place.startTls;
      return new DirectoryConnection(secured ? await secure(clear, trust) : clear);
    } catch (error) {
      clear.destroy();
      throw error;
    } finally {
      signal.removeEventListener("abort", destroy);
    }
  }

  get isOpen(): boolean {
    return this.#socket.readyState === "open";
  }

  /** Called before a login: limits what the directory may send from now on. */
  begin(): void {
    this.#bytes = 0;
    if (this.#counting) return;
    this.#counting = true;
    this.#socket.on("data", (piece: Buffer) => {
      this.#bytes += piece.length;
      if (this.#bytes > answerBytesMax) this.destroy();
    });
  }

  /** Ends it at once; whatever is asked on it fails. */
  destroy(): void {
    this.#socket.destroy();
  }
}

async function secure(clear: Socket, trust: ConnectionOptions): Promise<Socket> {
  const secured = connectTls({ ...trust, socket: clear, minVersion: "TLSv1.2" });
  await once(secured, "secureConnect");
  // When the clear socket fails, the encrypted one above it ends, too.
  clear.on("error", () => secured.destroy());
  return secured;
}

/** ExtendedRequest with the name of StartTLS, message 1 (RFC 4511 §4.12, §4.14.1). */
const startTlsRequest = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from("1.3.6.1.4.1.1466.20037", "latin1"),
]);
const startTlsAnswerMax = 1_024;

/** Asks, and accepts exactly one answer: a further byte would come from an attacker, not from the directory. */
async function askForTls(clear: Socket): Promise<void> {
  clear.write(startTlsRequest);
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, await nextPiece(clear)]);
    const message = elementOf(bytes);
    if (message !== undefined) {
      if (message.rest.length > 0 || !isSuccess(message)) throw new Error("StartTLS was refused");
      return;
    }
    if (bytes.length > startTlsAnswerMax) throw new Error("no answer to StartTLS");
  }
}

interface BerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly rest: Buffer;
}

/** `SEQUENCE { INTEGER 1, [APPLICATION 24] { ENUMERATED 0, … } }` */
function isSuccess({ tag, content }: BerElement): boolean {
  const id = elementOf(content);
  const response = id && elementOf(id.rest);
  const code = response && elementOf(response.content);
  const isAnswer = tag === 0x30 && id?.tag === 0x02 && response?.tag === 0x78;
  const isZero = code?.tag === 0x0a && code.content.equals(Buffer.from([0]));
  return isAnswer && id.content.equals(Buffer.from([1])) && isZero;
}

/** The BER element at the start, or undefined while it is incomplete. */
function elementOf(bytes: Buffer): BerElement | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (count > 4 || first === 0x80) throw new Error("no answer to StartTLS");
  if (bytes.length < 2 + count) return undefined;
  const from = 2 + count;
  const to = from + (count === 0 ? first : bytes.readUIntBE(2, count));
  if (bytes.length < to) return undefined;
  return { tag, content: bytes.subarray(from, to), rest: bytes.subarray(to) };
}

/** A lost connection closes as well, whatever error came before, and `once` left a listener for that. */
function nextPiece(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error("the directory hung up"));
    socket.once("close", fail);
    socket.once("data", (piece: Buffer) => {
      // What comes from here on is the handshake's to read.
      socket.pause();
      socket.off("close", fail);
      resolve(piece);
    });
    socket.resume();
  });
}

/** Waits for the first `event`; rejects on an error or end. Leaves a listener for errors, so that a late one is no bug. */
function once(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the directory hung up")));
  });
}
