/** The messages of MCP (JSON-RPC 2.0 §5), and the one document beside them (RFC 9728). */
import { z } from "zod";
import { has, text } from "./members.ts";

const rpcId = z.union([z.string(), z.number().int()]);
const rpcError = z.strictObject({
  code: z.number().int(),
  message: text,
  data: z.unknown().optional(),
});
const rpcResult = z.looseObject({
  content: z.array(z.looseObject({ type: text })).optional(),
  isError: z.boolean().optional(),
});
const answered = z.strictObject({ jsonrpc: z.literal("2.0"), id: rpcId, result: rpcResult });
const refused = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([rpcId, z.null()]),
  error: rpcError,
});
const metadata = z.looseObject({ resource: z.url(), authorization_servers: z.array(z.url()) });
/** On the way to an answer. */
export const toldSchema = z.strictObject({
  jsonrpc: z.literal("2.0"),
  method: text,
  params: z.looseObject({}).optional(),
});
/** What the document claims to be by its own members. */
export function mcpSchema(document: unknown): z.ZodType {
  if (has(document, "resource")) return metadata;
  return has(document, "error") ? refused : answered;
}

/** Whoever answers says to what: the id was sent, as it stands or as what a JSON text of the connection means. */
export function wrongId(document: unknown, sent: Buffer): string | undefined {
  const { id } = document as { readonly id?: unknown };
  if (id === undefined || id === null || sent.includes(JSON.stringify(id))) return undefined;
  const isSent = sent
    .toString()
    .split("\r\n\r\n")
    .some((part) => idIn(part) === id);
  return isSent ? undefined : `an answer to the id ${JSON.stringify(id)}, which was not sent`;
}

function idIn(part: string): unknown {
  try {
    const message: unknown = JSON.parse(part);
    return has(message, "id") ? (message as { readonly id: unknown }).id : undefined;
  } catch {
    return undefined;
  }
}
