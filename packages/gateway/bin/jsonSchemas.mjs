/**
 * The JSON Schemas of the config file as constants of a bundle: zod takes longer to make one than everything else of a
 * start does with the configuration. Sources that are run as they are make their own.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync } from "node:zlib";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What sources ask for, and who makes it. */
const makers = `
  import { fileJsonSchema } from "./packages/control/src/config/fileJsonSchema.ts";
  import { rootJsonSchema } from "./packages/gateway/src/config/load.ts";
  export const fileJsonSchemaPacked = JSON.stringify(fileJsonSchema());
  export const rootJsonSchemaPacked = JSON.stringify(rootJsonSchema());
`;

/** For `define` of a bundle of this program. `bundle`: esbuild's own function. */
export async function jsonSchemaTexts(bundle) {
  // Below the root, where what is native finds its packages.
  const folder = await mkdtemp(join(root, "node_modules/.json-schemas-"));
  const outfile = join(folder, "schemas.mjs");
  try {
    await bundle({
      absWorkingDir: root,
      stdin: { contents: makers, resolveDir: root, loader: "ts" },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      // Only what workspaces hold is TypeScript.
      plugins: [sourcesOfWorkspaces],
      logLevel: "error",
    });
    const texts = await import(pathToFileURL(outfile).href);
    return Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, JSON.stringify(packed(text))]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As `packages/control/src/config/packedSchema.ts` reads it. */
function packed(text) {
  return brotliCompressSync(text).toString("base64");
}

/** For a bundle with these texts: what would make them is not asked for its shapes, which few starts need. */
export const withoutMakers = {
  name: "texts instead of shapes",
  setup(bundler) {
    bundler.onResolve({ filter: /\/objects\.ts$/ }, ({ path, importer }) =>
      importer.endsWith("/fileJsonSchema.ts") ? { path, namespace: "withoutMakers" } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: "withoutMakers" }, () => ({
      contents: "export const fileSchema = undefined;",
    }));
  },
};

const sourcesOfWorkspaces = {
  name: "sources of workspaces",
  setup(bundler) {
    bundler.onResolve({ filter: /^@gateway\// }, ({ path }) => {
      const [, name, ...rest] = path.split("/");
      return { path: join(root, "packages", name, "src", ...rest) };
    });
  },
};
