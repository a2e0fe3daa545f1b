/**
 * Bundles what runs as a function into `packages/gateway/dist/lambda/`, one folder per function, as
 * the deployment uploads them: the code with its parts, which are read when they are asked for, and the
 * migrations beside it.
 *
 * Without adapters, listeners and native code: a function never opens a cluster. What imports one of
 * these lazily gets a module that says so. It checks no types: `npm run types` does.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { jsonSchemaTexts, withoutMakers } from "./jsonSchemas.mjs";
import { leanUndici } from "./leanUndici.mjs";
import { leanZod } from "./leanZod.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const lambdaFolder = join(root, "packages/gateway/dist/lambda");

/** Each function and what it is made from. */
const functions = {
  control: "packages/gateway/src/entry/lambda.ts",
  migration: "packages/gateway/src/entry/migration.ts",
  upkeep: "packages/gateway/src/entry/upkeep.ts",
};

/** CommonJS packages inside the bundle ask for built-in modules with `require`, which ESM lacks. */
const banner = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/** Native parts that libraries use when they happen to be there. */
const optionalParts = ["bufferutil", "utf-8-validate", "pg-native"];

/** What opens clusters and ports stays out, whoever mentions it. */
const leftOut = {
  name: "left out of functions",
  setup(bundler) {
    bundler.onResolve({ filter: /\/(?:adapter|listen)\.ts$/ }, ({ path }) => ({
      path,
      namespace: "leftOut",
    }));
    bundler.onLoad({ filter: /./, namespace: "leftOut" }, () => ({
      contents: 'throw new Error("a function opens no cluster and no port");',
    }));
  },
};

/**
 * Builds every function. Answers by name the files that went in, as paths from the root, and the size
 * of the code in bytes.
 */
export async function buildLambda(folder = lambdaFolder) {
  const { build: bundle } = await import("esbuild");
  const define = await jsonSchemaTexts(bundle);
  const built = {};
  for (const [name, source] of Object.entries(functions)) {
    const { outputFiles, metafile } = await bundle({
      absWorkingDir: root,
      define,
      entryPoints: [{ in: source, out: "index" }],
      outdir: join(folder, name),
      outExtension: { ".js": ".mjs" },
      splitting: true,
      write: false,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      // Names stay, so that a stack in the log can be read.
      minifyWhitespace: true,
      minifySyntax: true,
      metafile: true,
      legalComments: "eof",
      logLevel: "error",
      banner: { js: banner },
      external: optionalParts,
      plugins: [leftOut, leanUndici, leanZod, withoutMakers],
    });
    place(join(folder, name), outputFiles);
    const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
    built[name] = { bytes, inputs: Object.keys(metafile.inputs) };
  }
  return built;
}

/** Replaces a function's folder, so that nothing of an older build is uploaded with it. */
function place(folder, files) {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const { path, contents } of files) writeFileSync(join(draft, basename(path)), contents);
  const migrations = join(root, "migrations");
  if (existsSync(migrations)) {
    cpSync(migrations, join(draft, "migrations"), {
      recursive: true,
      filter: (path) => !path.endsWith("_snapshot.json"),
    });
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, { bytes }] of Object.entries(await buildLambda())) {
    console.log(`${name}: ${Math.round(bytes / 1024)} KB`);
  }
}
