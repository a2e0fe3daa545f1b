/**
 * The JSON Schema of `fileSchema`: for naming known keys, and for its marks of what is secret.
 *
 * Apart from the shapes themselves, because a bundle has its text: whoever only looks for secrets then makes no shapes.
 */
import { z } from "zod";
import type { JsonSchema } from "./keys.ts";
import { fileSchema } from "./objects.ts";
import { packedSchema } from "./packedSchema.ts";

/** What the function below answers, as a bundle has it: `packages/gateway/bin/jsonSchemas.mjs`. */
declare const fileJsonSchemaPacked: string | undefined;
let jsonSchema: JsonSchema | undefined;

export function fileJsonSchema(): JsonSchema {
  jsonSchema ??=
    typeof fileJsonSchemaPacked === "string"
      ? packedSchema(fileJsonSchemaPacked)
      : (z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as JsonSchema);
  return jsonSchema;
}
