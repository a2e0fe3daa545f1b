/** Where a session's unqualified names are looked for: the `USE` that goes before its statements. */
import { quotePath } from "./quote.ts";

export interface SessionPlace {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
}

/** The statement that makes a connection stand there, or undefined when it does by itself. */
export function useStatement(
  { catalog, schema }: SessionPlace,
  defaultCatalog: string,
): string | undefined {
  if (catalog === undefined && schema === undefined) return undefined;
  if ((catalog ?? defaultCatalog) === defaultCatalog && (schema ?? "main") === "main") return undefined;
  return `USE ${quotePath([catalog ?? defaultCatalog, schema ?? "main"])}`;
}
