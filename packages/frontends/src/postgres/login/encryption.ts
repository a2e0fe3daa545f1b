/**
 * How a connection becomes encrypted: the client asks for it (SSLRequest), or it begins TLS without asking.
 *
 * This answers the request and upgrades the socket; `connection.ts` decides what follows.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import { encryptionRefused, sslAccepted } from "@gateway/wire/postgres/backend.ts";
import type { Connection } from "../../listener/connection.ts";
import type { Outbox } from "../outbox.ts";
import { protocolError } from "../violations.ts";

export interface EncryptionParts {
  readonly connection: Connection;
  readonly out: Outbox;
  /** What the client sent and nobody took yet. `listen` reads the socket that TLS puts in place of the old one. */
  readonly inbox: { readonly pending: number; rest(): Uint8Array; listen(): void };
}

/** Whether the connection goes on, encrypted or not. `failed`: no TLS came about, and nothing can be told. */
export type Encryption =
  | { readonly kind: "goesOn" }
  | { readonly kind: "failed" }
  | { readonly kind: "refused"; readonly error: GatewayError };

const goesOn: Encryption = { kind: "goesOn" };
const failed: Encryption = { kind: "failed" };

/** First byte of a TLS handshake: a client that begins with it does not ask first. */
export const tlsHandshake = 0x16;

/** Answers an SSLRequest. Without a certificate the client is told no and may go on in clear text. */
export async function answerSsl(parts: EncryptionParts): Promise<Encryption> {
  const { connection, out, inbox } = parts;
  if (!connection.canUpgrade) {
    out.writer.u8(encryptionRefused);
    await out.flush();
    return goesOn;
  }
  // Bytes behind the request were not encrypted, and would be taken for bytes that were.
  if (inbox.pending > 0) return refused("received unencrypted data after SSL request");
  out.writer.u8(sslAccepted);
  await out.flush();
  // The client may have begun its handshake while the answer was on its way.
  return await upgrade(parts);
}

/** TLS without asking. Without a certificate nothing can be told: the client understands only TLS. */
export async function startTls(parts: EncryptionParts): Promise<Encryption> {
  const { connection } = parts;
  if (!connection.canUpgrade) return failed;
  const upgraded = await upgrade(parts);
  // Otherwise a client of another protocol could be led here: both sides must name PostgreSQL.
  return upgraded.kind !== "goesOn" || connection.protocolAgreed
    ? upgraded
    : refused("received direct SSL connection request without ALPN protocol negotiation extension");
}

async function upgrade({ connection, inbox }: EncryptionParts): Promise<Encryption> {
  const secured = await connection.upgrade(inbox.rest());
  if (secured === undefined) return failed;
  inbox.listen();
  return goesOn;
}

function refused(message: string): Encryption {
  return { kind: "refused", error: protocolError(message) };
}
