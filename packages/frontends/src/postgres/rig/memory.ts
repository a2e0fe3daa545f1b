/** A connection without a socket, for tests that need very many: bytes in by a call, bytes out in a list. */
import type { Socket } from "node:net";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { FollowedConnection } from "../../listener/connection.ts";
import { scriptedDoor, type Script } from "../../rig/scriptedDoor.ts";
import { CancelKeys } from "../run/cancel.ts";
import { Mirrors } from "../catalog/mirrors.ts";
import { withOwnWords } from "../../listener/statementLimits.ts";
import { postgresConfig } from "../config.ts";
import { converse } from "../connection.ts";
import { AsideRoom } from "../run/execution/rowsAside.ts";
import { statementReader } from "../read/statement.ts";

export interface MemoryClient {
  readonly host: VirtualHost;
  /** Everything the server sent so far. */
  sent(): Buffer;
  push(bytes: Uint8Array): void;
  /** The client leaves; resolves when the server is done with it. */
  leave(): Promise<void>;
  /** True when the server closed the connection. */
  readonly ended: boolean;
}

/** Opens a conversation over a scripted door. `maxMessageBytes` is the limit of the listener. */
export function memoryClient(script: Script, maxMessageBytes = 64 * 1024): MemoryClient {
  const host = virtualHost(1);
  const closed = new AbortController();
  const sent: Uint8Array[] = [];
  let take: ((chunk: Buffer) => void) | undefined;
  let ended = false;
  const socket = {
    on: (event: string, listener: (chunk: Buffer) => void) => {
      if (event === "data") take = listener;
    },
    pause: () => undefined,
    resume: () => undefined,
  } as unknown as Socket;
  const own = postgresConfig.parse({ host: "127.0.0.1", port: 0 });
  const config = { ...withOwnWords(own), maxMessageBytes };
  const connection: FollowedConnection = {
    socket,
    address: "127.0.0.1",
    secure: false,
    canUpgrade: false,
    protocolAgreed: false,
    config,
    closed: closed.signal,
    get over() {
      return closed.signal.aborted;
    },
    whenOver: (listener) => closed.signal.addEventListener("abort", listener, { once: true }),
    draining: false,
    upgrade: () => Promise.resolve(undefined),
    certificateNames: () => [],
    channelBinding: () => undefined,
    credentialShown: () => undefined,
    handshakeDone: () => undefined,
    idle: () => undefined,
    send: (bytes) => {
      sent.push(Buffer.from(bytes));
      return undefined;
    },
    end: () => {
      ended = true;
      closed.abort();
    },
    destroy: () => closed.abort(),
  };
  const door = scriptedDoor(script);
  const parts = {
    door,
    host,
    keys: new CancelKeys(host),
    asideRoom: new AsideRoom(),
    mirrors: new Mirrors("off", door, host),
    read: statementReader(),
  };
  const done = converse(connection, parts);
  return {
    host,
    sent: () => Buffer.concat(sent),
    push: (bytes) => {
      if (!ended) take?.(Buffer.from(bytes));
    },
    leave: async () => {
      closed.abort();
      await done;
    },
    get ended() {
      return ended;
    },
  };
}

/** Letters of the messages in these bytes; undefined when they are not whole messages. */
export function lettersIn(bytes: Buffer): string | undefined {
  let letters = "";
  let at = 0;
  while (at < bytes.length) {
    if (at + 5 > bytes.length) return undefined;
    letters += String.fromCharCode(bytes[at] ?? 0);
    const length = bytes.readInt32BE(at + 1);
    if (length < 4) return undefined;
    at += 1 + length;
  }
  return at === bytes.length ? letters : undefined;
}
