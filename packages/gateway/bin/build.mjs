/**
 * Bundles the sources into `packages/gateway/dist/`, one self-contained file per thread.
 *
 * The bundle exists because Node 20 can not load a `.ts` file in a worker thread, and because the
 * image ships exactly these files. It checks no types: `npm run types` does.
 *
 * Run directly it always builds. `buildIfStale` is for everything that is about to run the bundle.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const distFolder = join(root, "packages/gateway/dist");
const migrationsFolder = join(root, "migrations");
const recordFile = join(distFolder, "build.json");
const catalogDataFile = join(distFolder, "catalogMirror.tar.gz");
const catalogDataOnly = "--catalog-data";

/** Each entry and the file it becomes. Threads are loaded by these names, beside the bundle. */
const entries = [
  { source: "packages/gateway/src/entry/cli.ts", output: "gateway.js" },
  { source: "packages/engines/src/adbc/thread.ts", output: "adbcThread.js" },
  { source: "packages/gateway/src/host/adbcProcess.ts", output: "adbcProcess.js" },
  { source: "packages/access/src/client/static/hashThread.ts", output: "hashThread.js" },
  { source: "packages/gateway/src/control/judgeThread.ts", output: "judgeThread.js" },
  { source: "packages/control/src/store/driver/pgliteThread.ts", output: "pgliteThread.js" },
  {
    source: "packages/frontends/src/postgres/catalog/thread.ts",
    output: "catalogMirrorThread.js",
  },
];

/** Packages with native files or WASM of their own, found in `node_modules` at run time. */
const nativePackages = /^(koffi|@duckdb\/node-bindings.*|@electric-sql\/pglite|esbuild)$/;

/** CommonJS packages inside the bundle ask for built-in modules with `require`, which ESM lacks. */
const banner = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
].join("\n");

/**
 * Makes a native package load when the module that imports it first runs.
 *
 * A plain external import would move to the top of the bundle, so that every command would load
 * native code, and would fail on a host where one engine's library is missing.
 */
const nativeWhenUsed = {
  name: "native when used",
  setup(bundler) {
    bundler.onResolve({ filter: nativePackages }, ({ path, namespace }) =>
      namespace === "native" ? { path, external: true } : { path, namespace: "native" },
    );
    bundler.onLoad({ filter: /./, namespace: "native" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Bundles every entry. Throws an `AggregateError` when one fails; the others are written all the
 * same, and no build is recorded, so that the next call tries again.
 */
export async function build({ catalogData = "now" } = {}) {
  const { build: bundle, stop } = await import("esbuild");
  // Taken before reading, so that a file saved during the build makes the result stale.
  const sources = sourcesNow();
  await mkdir(distFolder, { recursive: true });

  const present = entries.filter(({ source }) => existsSync(join(root, source)));
  const missing = entries.filter((entry) => !present.includes(entry));
  const results = await Promise.allSettled(present.map((entry) => buildEntry(entry, bundle)));
  // It is a process, which would live as long as a gateway that is started by this one.
  await stop();
  const failures = results.filter(({ status }) => status === "rejected");
  if (failures.length > 0) {
    throw new AggregateError(
      failures.map(({ reason }) => reason),
      `${failures.length} of ${present.length} bundles failed`,
    );
  }

  await copyMigrations();
  if (catalogData === "now") await makeCatalogData();
  const outputs = present.map(({ output }) => output);
  await writeWhole(recordFile, `${JSON.stringify({ ...sources, outputs }, null, 2)}\n`);
  return { outputs, missing };
}

/** Builds when a source is newer than the bundle, or the bundle is not there. Answers whether it did. */
export async function buildIfStale(options) {
  if (isFresh()) return false;
  await build(options);
  return true;
}

/**
 * Makes what catalog mirrors begin with, in a process of low priority that nobody waits for: it takes
 * seconds, and the first mirror can do without. Does nothing where it is there.
 */
export function makeCatalogDataLater() {
  const key = catalogDataKey(join(distFolder, "catalogMirrorThread.js"));
  if (key === undefined || isCatalogData(key)) return;
  const maker = spawn(process.execPath, [fileURLToPath(import.meta.url), catalogDataOnly], {
    detached: true,
    stdio: "ignore",
  });
  maker.on("error", () => {});
  maker.unref();
}

async function buildEntry({ source, output }, bundle) {
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: [source],
    outfile: join(distFolder, output),
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: true,
    sourcesContent: false,
    legalComments: "eof",
    // V8 keeps the source as long as the program runs, and with two bytes for each character when a single
    // comment has one beyond Latin-1: 16 MB. Names stay, and lines are short enough for a stack to be read.
    minifyWhitespace: true,
    lineLimit: 200,
    logLevel: "error",
    banner: { js: banner },
    plugins: [nativeWhenUsed],
  });
  await Promise.all(outputFiles.map(({ path, contents }) => writeWhole(path, contents)));
}

/** A gateway brings its database up itself, so the files travel with it. */
async function copyMigrations() {
  const draft = join(distFolder, `.migrations.${process.pid}`);
  const folder = join(distFolder, "migrations");
  await cp(migrationsFolder, draft, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
}

/** The data folder that every catalog mirror begins with; a mirror would need seconds and twice the memory to make it. */
async function makeCatalogData() {
  const program = join(distFolder, "catalogMirrorThread.js");
  const file = catalogDataFile;
  const key = catalogDataKey(program);
  if (key === undefined || isCatalogData(key)) return;
  const worker = new Worker(program, { workerData: { work: { kind: "make", file } } });
  await new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.on("message", (reply) => reply.kind === "made" && resolve());
    worker.once("exit", () => reject(new Error("the data of the catalog mirror was not made")));
  });
  await worker.terminate();
  await writeWhole(`${file}.key`, key);
}

/** Names what the data follows from; undefined where nobody makes it. */
function catalogDataKey(program) {
  if (!existsSync(program)) return undefined;
  const pglite = join(root, "node_modules/@electric-sql/pglite/package.json");
  const hash = createHash("sha256").update(readFileSync(program)).update(readFileSync(pglite));
  return hash.digest("hex");
}

function isCatalogData(key) {
  const keyFile = `${catalogDataFile}.key`;
  return (
    existsSync(catalogDataFile) && existsSync(keyFile) && readFileSync(keyFile, "utf8") === key
  );
}

/** Replaces a file in one step: another process may be loading the old one right now. */
async function writeWhole(path, contents) {
  const draft = join(distFolder, `.${basename(path)}.${process.pid}`);
  await writeFile(draft, contents);
  await rename(draft, path);
}

function isFresh() {
  if (!existsSync(recordFile)) return false;
  const recorded = JSON.parse(readFileSync(recordFile, "utf8"));
  const now = sourcesNow();
  return (
    recorded.newestSourceMs === now.newestSourceMs &&
    recorded.sourceCount === now.sourceCount &&
    recorded.outputs.every((output) => existsSync(join(distFolder, output)))
  );
}

/** What the bundle is made from. The count notices a deleted file, which leaves no newer time behind. */
function sourcesNow() {
  const packagesFolder = join(root, "packages");
  const files = readdirSync(packagesFolder)
    .map((name) => join(packagesFolder, name, "src"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true })
        .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
        .map((path) => join(folder, path)),
    );
  const migrations = readdirSync(migrationsFolder, { recursive: true });
  files.push(...migrations.map((path) => join(migrationsFolder, path)));
  files.push(fileURLToPath(import.meta.url), join(root, "package-lock.json"));
  const times = files.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { newestSourceMs: Math.max(...times), sourceCount: files.length };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const startedMs = performance.now();
  try {
    if (process.argv.includes(catalogDataOnly)) {
      setPriority(constants.priority.PRIORITY_LOW);
      await makeCatalogData();
      process.exit();
    }
    const { outputs, missing } = await build();
    for (const { source, output } of missing) console.log(`skipped ${output}: no ${source}`);
    const took = `${Math.round(performance.now() - startedMs)} ms`;
    console.log(`built ${outputs.join(", ") || "nothing"} in ${took}`);
  } catch (cause) {
    console.error(cause.message);
    process.exitCode = 1;
  }
}
