/**
 * Bundles the sources into `packages/gateway/dist/`: the program, with what only some gateways need in parts that
 * are loaded when they are asked for, and one self-contained file per thread.
 *
 * The bundle exists because Node 20 can not load a `.ts` file in a worker thread, and because the
 * image ships exactly these files. It checks no types: `npm run types` does.
 *
 * Run directly it always builds. `buildIfStale` is for everything that is about to run the bundle.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { buildStudio } from "./buildStudio.mjs";
import { jsonSchemaTexts, withoutMakers } from "./jsonSchemas.mjs";
import { leanPrometheus } from "./leanPrometheus.mjs";
import { leanUndici } from "./leanUndici.mjs";
import { leanZod } from "./leanZod.mjs";
import { packStudio } from "./packStudio.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const distFolder = join(root, "packages/gateway/dist");
const migrationsFolder = join(root, "migrations");
/** Read by a gateway that runs Python scripts, and given to the interpreter as it is. */
const launcherFile = join(root, "packages/gateway/src/host/python/pythonLauncher.py");
const recordFile = join(distFolder, "build.json");
const dataOnly = "--data";
const dataLater = "--data-later";

/** Each entry and the file it becomes. Threads are loaded by these names, beside the bundle. */
const entries = [
  { source: "packages/gateway/src/entry/cli.ts", output: "gateway.js", inParts: true },
  { source: "packages/engines/src/native/thread/thread.ts", output: "adbcThread.js" },
  { source: "packages/gateway/src/host/process/adbcProcess.ts", output: "adbcProcess.js" },
  { source: "packages/gateway/src/host/process/databaseThread.ts", output: "databaseThread.js" },
  { source: "packages/access/src/client/static/hashThread.ts", output: "hashThread.js" },
  { source: "packages/gateway/src/judge/judgeThread.ts", output: "judgeThread.js", inParts: true },
  { source: "packages/sql/src/script/scriptThread.ts", output: "scriptThread.js" },
  { source: "packages/control/src/store/driver/pgliteThread.ts", output: "pgliteThread.js" },
  { source: "packages/sql/src/thread/thread.ts", output: "sqlThread.js" },
  {
    source: "packages/frontends/src/postgres/catalog/thread.ts",
    output: "catalogMirrorThread.js",
  },
];

/** What `gateway.js` and the judge import when they need it. V8 keeps the text of each module that was loaded. */
const partsFolder = join(distFolder, "parts");
/**
 * A part of an earlier build may still be asked for by a gateway that runs from this folder, so a build that a start makes
 * keeps them this long. Whoever asks for a build by name gets a folder with nothing but it and the one before.
 */
const partsKeptMs = 24 * 60 * 60 * 1000;

/** Data folders of PGlite that threads begin with, each made by its thread's program: it would need seconds and much memory each time. */
const dataFolders = [
  { program: "catalogMirrorThread.js", output: "catalogMirror.tar.gz" },
  { program: "pgliteThread.js", output: "pglite.tar.gz" },
];

/** Packages with native files or WASM of their own, found in `node_modules` at run time. */
const nativePackages =
  /^(koffi|@duckdb\/node-bindings.*|@electric-sql\/pglite|@polyglot-sql\/sdk|esbuild)$/;

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
 * same, and no build is recorded, so that the next call tries again. Nothing is written where the config has no schema.
 */
export async function build({ data = "now", clean = false } = {}) {
  const { build: bundle, stop } = await import("esbuild");
  // Taken before reading, so that a file saved during the build makes the result stale.
  const sources = sourcesNow();
  await mkdir(partsFolder, { recursive: true });
  if (clean) await removeParts(outputsBefore(), () => true);

  const present = entries.filter(({ source }) => existsSync(join(root, source)));
  const missing = entries.filter((entry) => !present.includes(entry));
  const alone = present.filter(({ inParts }) => inParts !== true).map((entry) => [entry]);
  const together = present.filter(({ inParts }) => inParts === true);
  const define = await jsonSchemaTexts(bundle);
  const results = await Promise.allSettled(
    [together, ...alone].map((group) => buildGroup(group, { bundle, define })),
  );
  // It is a process, which would live as long as a gateway that is started by this one.
  await stop();
  const failures = results.filter(({ status }) => status === "rejected");
  if (failures.length > 0) {
    throw new AggregateError(
      failures.map(({ reason }) => reason),
      `${failures.length} of ${results.length} bundles failed`,
    );
  }

  await copyMigrations();
  await writeWhole(join(distFolder, basename(launcherFile)), readFileSync(launcherFile));
  await buildStudio();
  await packStudio();
  // What another PGlite made may not open; without data a thread makes its own.
  await Promise.all(dataToMake().map(({ file }) => rm(file, { force: true })));
  if (data === "now") await makeData();
  const outputs = results.flatMap(({ value }) => value);
  if (!clean) await removeParts(outputs, isOld);
  await writeWhole(recordFile, `${JSON.stringify({ ...sources, outputs }, null, 2)}\n`);
  return { outputs, missing };
}

/** Builds when a source is newer than the bundle, or the bundle is not there. Answers whether it did. */
export async function buildIfStale() {
  const stale = !isFresh();
  if (stale) await build();
  // Whoever built last may have left it for later.
  else await makeData();
  return stale;
}

/**
 * The same in a process of its own, and without the data, for a program that runs on: the bundlers would stay in its
 * memory, 290 MB of it.
 */
export async function buildApartIfStale() {
  if (isFresh()) return;
  const builder = spawn(process.execPath, [fileURLToPath(import.meta.url), dataLater], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  builder.stderr.setEncoding("utf8").on("data", (piece) => (said += piece));
  const [code] = await once(builder, "close");
  if (code !== 0) throw new Error(said.trim() || `the bundler ended with ${code}`);
}

/**
 * Makes what threads begin with, in a process of low priority that nobody waits for: it takes seconds,
 * and the first ones can do without. Does nothing where it is there.
 */
export function makeDataLater() {
  if (dataToMake().length === 0) return;
  const maker = spawn(process.execPath, [fileURLToPath(import.meta.url), dataOnly], {
    detached: true,
    stdio: "ignore",
  });
  maker.on("error", () => {});
  maker.unref();
}

/** Bundles entries that share parts, or one alone. Answers the programs that were written, below `dist`. */
async function buildGroup(entriesOfGroup, { bundle, define }) {
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    define,
    entryPoints: entriesOfGroup.map(({ source, output }) => ({
      in: source,
      out: basename(output, ".js"),
    })),
    outdir: distFolder,
    chunkNames: "parts/[name]-[hash]",
    splitting: entriesOfGroup.some(({ inParts }) => inParts),
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
    // Also what a constant of this build decides: the makers of schemas are then not loaded at a start.
    minifySyntax: true,
    lineLimit: 200,
    logLevel: "error",
    banner: { js: banner },
    plugins: [nativeWhenUsed, leanPrometheus, leanUndici, leanZod, withoutMakers],
  });
  // Parts first: who reads the program then finds what it names.
  const [parts, whole] = [outputFiles.filter(isPart), outputFiles.filter((file) => !isPart(file))];
  await Promise.all(parts.map(({ path, contents }) => writeWhole(path, contents)));
  await Promise.all(whole.map(({ path, contents }) => writeWhole(path, contents)));
  const programs = outputFiles.map(({ path }) => path).filter((path) => path.endsWith(".js"));
  return programs.map((path) => relative(distFolder, path));
}

function isPart({ path }) {
  return dirname(path) === partsFolder;
}

/** Of other builds than the one with these outputs. */
async function removeParts(outputs, which) {
  const current = new Set(outputs.flatMap((output) => [output, `${output}.map`]));
  const left = readdirSync(partsFolder).filter((name) => !current.has(join("parts", name)));
  const removed = left.map((name) => join(partsFolder, name)).filter(which);
  await Promise.all(removed.map((path) => rm(path, { force: true })));
}

/** What runs from this folder now, in all likelihood. */
function outputsBefore() {
  return existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")).outputs : [];
}

function isOld(path) {
  const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > partsKeptMs;
}

/** A gateway brings its database up itself, so the files travel with it. */
async function copyMigrations() {
  const draft = join(distFolder, `.migrations.${process.pid}`);
  const folder = join(distFolder, "migrations");
  await cp(migrationsFolder, draft, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
}

async function makeData() {
  for (const { program, file, key } of dataToMake()) {
    const worker = new Worker(program, { workerData: { work: { kind: "make", file } } });
    await new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.on("message", (reply) => reply.kind === "made" && resolve());
      worker.once("exit", () => reject(new Error(`${basename(file)} was not made`)));
    });
    await worker.terminate();
    await writeWhole(`${file}.key`, key);
  }
}

/** The data that is not there, or that another program or another PGlite made. */
function dataToMake() {
  const pglite = join(root, "node_modules/@electric-sql/pglite/package.json");
  return dataFolders.flatMap(({ program: name, output }) => {
    const program = join(distFolder, name);
    const file = join(distFolder, output);
    if (!existsSync(program)) return [];
    // Names what the data follows from.
    const hash = createHash("sha256").update(readFileSync(program)).update(readFileSync(pglite));
    const key = hash.digest("hex");
    const keyFile = `${file}.key`;
    const made = existsSync(file) && existsSync(keyFile) && readFileSync(keyFile, "utf8") === key;
    return made ? [] : [{ program, file, key }];
  });
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
        .filter((path) => /\.(?:tsx?|css|py)$/.test(path) && !path.endsWith(".test.ts"))
        .map((path) => join(folder, path)),
    );
  const migrations = readdirSync(migrationsFolder, { recursive: true });
  files.push(...migrations.map((path) => join(migrationsFolder, path)));
  const beside = ["jsonSchemas.mjs", "leanPrometheus.mjs", "leanUndici.mjs", "leanZod.mjs"].map(
    (name) => fileURLToPath(new URL(name, import.meta.url)),
  );
  files.push(fileURLToPath(import.meta.url), ...beside, join(root, "package-lock.json"));
  const times = files.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { newestSourceMs: Math.max(...times), sourceCount: files.length };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const startedMs = performance.now();
  try {
    if (process.argv.includes(dataOnly)) {
      setPriority(constants.priority.PRIORITY_LOW);
      await makeData();
      process.exit();
    }
    const data = process.argv.includes(dataLater) ? "later" : "now";
    const { outputs, missing } = await build({ data, clean: data === "now" });
    for (const { source, output } of missing) console.log(`skipped ${output}: no ${source}`);
    const took = `${Math.round(performance.now() - startedMs)} ms`;
    const programs = outputs.filter((output) => dirname(output) === ".");
    const parts = `${outputs.length - programs.length} parts`;
    console.log(`built ${programs.join(", ") || "nothing"} and ${parts} in ${took}`);
  } catch (cause) {
    console.error(cause.message);
    process.exitCode = 1;
  }
}
