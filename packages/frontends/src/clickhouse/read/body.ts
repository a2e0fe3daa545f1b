/** Reads the text of a statement from a request. Limits are checked before memory is taken. */
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readCompressed } from "@gateway/wire/clickhouse/compressed.ts";
import { pendingBytesMax, textMsMax } from "../limits.ts";
import { PlainRequest } from "../../listener/http/plain/request.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";

/** Counts the bytes of statements that are being read. One per listener. */
export interface Pending {
  bytes: number;
}

type TextLimits = Pick<ListenerConfig, "maxMessageBytes" | "maxStatementBytes">;

/** True when something stands behind the head of a request. */
export function hasBody({ headers }: HttpRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * All bytes of a body, at most `maxStatementBytes`; undefined when the client left before its end. A longer text is
 * skipped to its end, so that the client reads why. A longer message is refused at once.
 */
export function readBody(
  request: HttpRequest,
  limits: TextLimits,
  { pending, clock }: { readonly pending: Pending; readonly clock: Clock },
): Result<Buffer, GatewayError> | Promise<Result<Buffer, GatewayError> | undefined> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.maxMessageBytes) return err(gatewayError("protocol.tooLarge"));
  if (request instanceof PlainRequest) {
    const tooLong = request.body.length > limits.maxStatementBytes;
    return tooLong ? err(gatewayError("query.textTooLarge")) : ok(request.body);
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    let held = 0;
    let ended = false;
    const late = clock.timer(textMsMax, () => end(err(gatewayError("protocol.timeout"))));
    const end = (answer: Result<Buffer, GatewayError> | undefined): void => {
      if (ended) return;
      ended = true;
      late[Symbol.dispose]();
      pending.bytes -= held;
      resolve(answer);
    };
    request.on("data", (chunk: Buffer) => {
      if (ended) return;
      length += chunk.length;
      if (length > limits.maxMessageBytes) return end(err(gatewayError("protocol.tooLarge")));
      if (Math.max(length, announced) > limits.maxStatementBytes) {
        pending.bytes -= held;
        held = 0;
        chunks = [];
        return;
      }
      held += chunk.length;
      pending.bytes += chunk.length;
      chunks.push(chunk);
      if (pending.bytes > pendingBytesMax) end(err(gatewayError("connection.limit")));
    });
    request.once("end", () => {
      const tooLong = length > limits.maxStatementBytes;
      end(tooLong ? err(gatewayError("query.textTooLarge")) : ok(Buffer.concat(chunks)));
    });
    request.once("close", () => end(undefined));
  });
}

type Unpack = (bytes: Uint8Array, options: zlib.ZlibOptions) => Promise<Buffer>;

const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ["gzip", promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ["deflate", promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate)],
  ["br", promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)],
  ...zstdOf({ ...zlib }),
]);

/** Where the runtime has it (Node 22.15 and newer). */
function zstdOf({
  zstdDecompress,
}: Readonly<Record<string, unknown>>): readonly (readonly [string, Unpack])[] {
  if (typeof zstdDecompress !== "function") return [];
  const unpack = zstdDecompress as typeof zlib.gunzip;
  return [["zstd", promisify<Uint8Array, zlib.ZlibOptions, Buffer>(unpack)]];
}

/** What a body says once it is unpacked: `Content-Encoding` first, then ClickHouse's blocks. */
export async function unpacked(
  bytes: Buffer,
  encoding: string | undefined,
  { blocks, bytesMax }: { readonly blocks: boolean; readonly bytesMax: number },
): Promise<Result<Buffer, GatewayError>> {
  let plain = bytes;
  if (encoding !== undefined && encoding !== "identity") {
    const unpack = unpackers.get(encoding);
    if (unpack === undefined) {
      const message = `Unknown compression method ${encoding.slice(0, 50)}`;
      return err(gatewayError("query.unsupported", { message }));
    }
    try {
      plain = await unpack(bytes, { maxOutputLength: bytesMax });
    } catch (error) {
      const tooLarge = error instanceof RangeError;
      return err(
        tooLarge ? gatewayError("query.textTooLarge") : violation("the body is not compressed so"),
      );
    }
  }
  if (!blocks) return ok(plain);
  const read = readCompressed(plain, bytesMax);
  if (typeof read !== "string") return ok(Buffer.from(read.buffer, read.byteOffset, read.length));
  switch (read) {
    case "tooLarge":
      return err(gatewayError("query.textTooLarge"));
    case "method":
      return err(gatewayError("query.unsupported", { message: "blocks are read in LZ4 only" }));
    case "broken":
    case "checksum":
      return err(violation("the body holds no compressed blocks, or broken ones"));
  }
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
