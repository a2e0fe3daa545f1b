/**
 * Whether a server's greeting grants what the connection needs, judged before the driver answers it.
 *
 * A server announces all that it can do, which is never refused: what is not asked for is not used. What is needed and
 * missing would be lost without a word, a login in clear where TLS was configured first of all.
 */
import type { Socket } from "node:net";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { capability, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";

/** The connection can not be spoken with at all. */
const always = capability.protocol41 | capability.secureConnection;
const protocolVersion = 10;
const errorPacket = 0xff;
/** A greeting has about a hundred bytes. */
const greetingBytesMax = 4_096;

/** What was found wrong with a greeting: `GATEWAY_…`, for operators. */
export interface Judged {
  refusal: string | undefined;
}

/**
 * Reads the greeting beside the driver, which has to listen behind this. `needed` are flags of the protocol. A server
 * that does not grant them, or says more before it is answered, is cut off before anything is sent to it.
 */
export function judgeGreeting(socket: Socket, needed: number): Judged {
  const judged: Judged = { refusal: undefined };
  let seen: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer): void => {
    seen = seen.length === 0 ? bytes : Buffer.concat([seen, bytes]);
    const verdict = verdictOf(seen, needed | always);
    if (verdict === "more") return;
    socket.off("data", take);
    if (verdict === "granted") return;
    judged.refusal = verdict;
    socket.destroy(Object.assign(new Error(verdict), { code: verdict }));
  };
  socket.on("data", take);
  return judged;
}

function verdictOf(seen: Buffer, needed: number): string {
  if (seen.length < packetHeaderBytes) return "more";
  const length = seen.readUIntLE(0, 3);
  if (seen[3] !== 0 || length === 0 || length > greetingBytesMax) return "GATEWAY_BROKEN";
  const end = packetHeaderBytes + length;
  if (seen.length < end) return "more";
  const greeting = seen.subarray(packetHeaderBytes, end);
  // The server takes nobody, and says why.
  if (greeting[0] === errorPacket) return "granted";
  // Whatever stands behind it was sent by somebody who did not wait for the login, or for TLS.
  if (seen.length > end) return "GATEWAY_BYTES_IN_CLEAR";
  const granted = capabilitiesIn(greeting);
  if (granted === undefined) return "GATEWAY_BROKEN";
  const missing = needed & ~granted;
  if (missing === 0) return "granted";
  return (missing & capability.ssl) === 0 ? "GATEWAY_CAPABILITIES" : "GATEWAY_NO_TLS";
}

/** The flags of a greeting of version 10; undefined for anything else. */
function capabilitiesIn(greeting: Buffer): number | undefined {
  if (greeting[0] !== protocolVersion) return undefined;
  const versionEnd = greeting.indexOf(0, 1);
  if (versionEnd < 0) return undefined;
  // The connection's id, the first part of the challenge, a zero.
  const reader = new ByteReader(greeting, versionEnd + 1 + 4 + 8 + 1);
  const lower = reader.u16();
  if (reader.failed) return undefined;
  // Servers of the oldest kind end here. Then collation and status.
  if (reader.remaining === 0) return lower;
  reader.u8();
  reader.u16();
  const upper = reader.u16();
  return reader.failed ? undefined : lower + upper * 0x1_0000;
}
