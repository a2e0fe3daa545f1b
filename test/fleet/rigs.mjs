/** What other tests play with, in TypeScript: `path` is from the root. */
import { tsImport } from "tsx/esm/api";

const root = new URL("../../", import.meta.url);

export function rigOf(path) {
  return tsImport(new URL(path, root).href, import.meta.url);
}
