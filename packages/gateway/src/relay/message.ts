/** What a relayed request carries beside the client's own headers, and which headers end at each hop. */
import type { RelayedClient } from "@gateway/frontends/listener/elsewhere.ts";
import { z } from "zod";

/** The frontend that is meant, by its key in the config. */
export const frontendHeader = "gateway-relay-frontend";
/** Who sent the request, as base64url of JSON. */
export const clientHeader = "gateway-relay-client";
/** Ours: none that a client sends passes. */
const ownPrefix = "gateway-relay-";

/** About one connection and not about the request; RFC 9110, section 7.6.1. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Names and values in turns, as Node has them raw, without those that end here. */
export function passedOn(rawHeaders: readonly string[]): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    if (!hopByHop.has(lower) && !lower.startsWith(ownPrefix)) passed.push(name, value);
  }
  return passed;
}

const clientSchema = z.strictObject({
  address: z.string().max(64),
  mayTakeCredentials: z.boolean(),
  certificateNames: z.array(z.string().max(1_024)).max(64),
  baseUrl: z.string().max(2_048),
});

/** As it stands in the header. */
export function writeClient(client: RelayedClient): string {
  return Buffer.from(JSON.stringify(client)).toString("base64url");
}

/** The inverse; undefined for a text that `writeClient` did not make. */
export function readClient(text: string | undefined): RelayedClient | undefined {
  if (text === undefined) return undefined;
  try {
    const read = clientSchema.safeParse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return read.success ? read.data : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}
