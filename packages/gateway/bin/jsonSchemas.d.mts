import type { build } from "esbuild";

/** Constants by name, each a JavaScript literal: a JSON Schema, packed. */
export function jsonSchemaTexts(
  bundle: typeof build,
): Promise<Readonly<Record<"fileJsonSchemaPacked" | "rootJsonSchemaPacked", string>>>;
