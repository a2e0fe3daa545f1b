/** A JSON Schema as a bundle has it: V8 keeps each text of a program twice, 290 KB of them as they are and 40 KB packed. */
import { brotliDecompressSync } from "node:zlib";
import type { JsonSchema } from "./keys.ts";

/** `packed`: base64 of brotli, made by `packages/gateway/bin/jsonSchemas.mjs`. Two milliseconds for the largest. */
export function packedSchema(packed: string): JsonSchema {
  const text = brotliDecompressSync(Buffer.from(packed, "base64")).toString();
  return JSON.parse(text) as JsonSchema;
}
