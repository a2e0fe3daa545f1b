/**
 * What of zod goes into a bundle: the functions that sources name, in one language. Sources ask for all of it by one
 * name (`z`), which esbuild can only give as an object that holds everything; half of a bundle's zod would be compiled at
 * each start and never called.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const asked = /^import \{ z \} from "zod";$/m;

export const leanZod = {
  name: "lean zod",
  setup(bundler) {
    bundler.onLoad({ filter: /\/packages\/[a-z]+\/src\/.+\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!asked.test(text)) return undefined;
      // On one line as before, so that positions stay true.
      return { contents: text.replace(asked, 'import * as z from "zod";'), loader: "ts" };
    });
    // What describes routes asks for everything as well, when the document of the API is made.
    bundler.onResolve({ filter: /^zod\/v4\/core$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "routeSchemas", namespace: "leanZod" } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: "leanZod" }, () => ({
      contents: 'export { toJSONSchema } from "zod/v4/core";',
      resolveDir: root,
    }));
    // Messages in fifty languages, of which nobody is answered in any but this.
    bundler.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};
