import type { build } from "esbuild";

/** Constants by name, each a JavaScript literal: a text with a JSON Schema in it. */
export function jsonSchemaTexts(
  bundle: typeof build,
): Promise<Readonly<Record<"fileJsonSchemaText" | "rootJsonSchemaText", string>>>;
