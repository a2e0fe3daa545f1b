/**
 * Makes the npm package: `query-gateway-VERSION.tgz`, with the bundle as it was built here and the native
 * packages of this lock file as its only dependencies. Whoever installs it needs Node and nothing else.
 *
 * `node packages/gateway/bin/package.mjs [FOLDER]` writes it to FOLDER, or beside the bundle; with `--image`
 * FOLDER becomes what the image holds: the same, with the native packages and Node in place (nativeFiles.mjs). Source
 * maps stay out; the bundle keeps its names.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildIfStale } from "./build.mjs";
import { copyNative, copyStripped } from "./nativeFiles.mjs";
import { packStudio } from "./packStudio.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const distFolder = join(root, "packages/gateway/dist");

/** What the bundle loads from `node_modules` (bin/build.mjs); each brings the binary of its platform along. */
export const nativePackages = [
  "@duckdb/node-bindings",
  "@electric-sql/pglite",
  "@polyglot-sql/sdk",
  "koffi",
];

/** What a start reads of `dist` beside the programs that the build names. */
const shippedBeside = /^(?:[A-Za-z]+\.tar\.gz|pythonLauncher\.py|migrations|studio)$/;
/** Drizzle's own notes about a migration, which only its tool reads. */
const unread = /_snapshot\.json$/;

/** Lays the package out in a folder of its own, which it empties first. Answers that folder. */
export async function layOut(folder = join(distFolder, "npm")) {
  await buildIfStale();
  await packStudio();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "bin"), { recursive: true });
  const { outputs } = read("packages/gateway/dist/build.json");
  const beside = readdirSync(distFolder).filter((one) => shippedBeside.test(one));
  for (const name of [...outputs, ...beside]) {
    cpSync(join(distFolder, name), join(folder, "dist", name), {
      recursive: true,
      filter: (path) => !unread.test(path),
    });
  }
  for (const name of ["gateway.mjs", "query-gateway.mjs", "health.mjs"]) {
    cpSync(join(root, "packages/gateway/bin", name), join(folder, "bin", name));
  }
  for (const name of ["README.md", "LICENSE"]) cpSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  return folder;
}

/** Packs it. Answers the tarball's path. */
export async function pack(to = distFolder) {
  const folder = await layOut();
  mkdirSync(to, { recursive: true });
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", resolve(to)];
  const said = execFileSync("npm", args, { cwd: folder, encoding: "utf8" });
  const [{ filename }] = JSON.parse(said);
  return join(resolve(to), filename);
}

/** What the image holds, for the platform and with the Node of this machine. Answers the folder. */
export async function layOutImage(folder) {
  await layOut(folder);
  for (const name of nativePackages.flatMap(withBinary)) {
    copyNative(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  copyStripped(process.execPath, join(folder, "bin/node"));
  cpSync(join(root, "packages/gateway/bin/compileAhead.mjs"), join(folder, "bin/compileAhead.mjs"));
  return folder;
}

/** A package, and that of its optional ones which npm installed for this platform. */
export function withBinary(name) {
  const { optionalDependencies = {} } = read(`node_modules/${name}/package.json`);
  const there = Object.keys(optionalDependencies).filter((one) =>
    existsSync(join(root, "node_modules", one)),
  );
  return [name, ...there];
}

function manifest() {
  const { name, version, description, license, engines } = read("package.json");
  const dependencies = Object.fromEntries(
    nativePackages.map((each) => [each, read(`node_modules/${each}/package.json`).version]),
  );
  return {
    name,
    version,
    description,
    license,
    type: "module",
    engines,
    bin: { [name]: "bin/query-gateway.mjs", gateway: "bin/gateway.mjs" },
    files: ["bin", "dist"],
    dependencies,
  };
}

function read(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [first, second] = process.argv.slice(2);
  console.log(first === "--image" ? await layOutImage(resolve(second)) : await pack(first));
}
