/** HTTP/2 by hand, for what no client of gRPC would send. */
import { Buffer } from "node:buffer";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame of HTTP/2 (RFC 9113 §4.1). */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** What every connection begins with. */
export function opening(): Buffer {
  return Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0))]);
}

/** The header block of a call, each header as a literal that is not indexed (RFC 7541 §6.2.2). */
export function callHeaders(path: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const all = {
    ":method": "POST",
    ":scheme": "http",
    ":path": path,
    ":authority": "gateway",
    "content-type": "application/grpc",
    te: "trailers",
    ...more,
  };
  const parts = Object.entries(all).flatMap(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value, "latin1")];
    return [Buffer.of(0, key.length), key, Buffer.of(text.length), text];
  });
  return Buffer.concat(parts);
}

/** A call whose message is announced to be so long, of which nothing follows. */
export function announced(length: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  const headers = callHeaders("/arrow.flight.protocol.FlightService/GetFlightInfo");
  return Buffer.concat([opening(), frame(1, 4, 1, headers), frame(0, 0, 1, head)]);
}
