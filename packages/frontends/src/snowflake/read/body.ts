/** Reads the body of a request. Limits hold before memory is taken, also for what a compressed one becomes. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readBytes, type Pending } from "../../listener/http/body.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";

const inflate = promisify(gunzip);

/** Drivers' own documents are flat; a deeper one only costs its reader. */
const depthMax = 32;

/** The document; undefined when the client left before its end. */
export async function readJson(
  request: HttpRequest,
  limits: Pick<ListenerConfig, "maxMessageBytes">,
  pending: Pending,
): Promise<Result<unknown, GatewayError> | undefined> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") {
    return err(violation("bodies may be compressed by gzip only"));
  }
  const bytes = await readBytes(request, limits, pending);
  if (bytes === undefined || !bytes.ok) return bytes;
  const plain = encoding === "gzip" ? await inflated(bytes.value, limits.maxMessageBytes) : bytes;
  if (!plain.ok) return plain;
  if (plain.value.length === 0) return ok({});
  if (isDeep(plain.value)) return err(violation("the document is nested too deeply"));
  try {
    return ok(JSON.parse(plain.value.toString("utf8")) as unknown);
  } catch {
    return err(violation("the body is no JSON"));
  }
}

async function inflated(bytes: Buffer, bytesMax: number): Promise<Result<Buffer, GatewayError>> {
  try {
    return ok(await inflate(bytes, { maxOutputLength: bytesMax }));
  } catch (error) {
    const isLong = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return err(isLong ? gatewayError("protocol.tooLarge") : violation("the body is no gzip"));
  }
}

/** Counts brackets outside of strings, so that the parser never sees a deep document. */
function isDeep(bytes: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
